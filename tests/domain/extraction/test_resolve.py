"""What a sentence says once what stands near it is taken in, and what is never made up for it."""

from __future__ import annotations

import pytest

from domain.extraction.resolve import Setting, failure, joined, place, resolved
from domain.extraction.segment import Sentence
from domain.extraction.statements import Refused, Statement, state


@pytest.mark.parametrize(
    ("first", "second", "together"),
    [
        (
            "`read_rows` opens the file in text mode.",
            "So a carriage return in `memo` splits a row.",
            "`read_rows` opens the file in text mode, so a carriage return in `memo` splits a row.",
        ),
        (
            "`retry_all` never stops.",
            "This is because `MAX_TRIES` is read as text.",
            "`retry_all` never stops because `MAX_TRIES` is read as text.",
        ),
        (
            "The `Pool` class keeps one connection per thread!",
            "This causes `TooManyClients` under load.",
            "The `Pool` class keeps one connection per thread, which causes `TooManyClients` under load.",
        ),
        ("`a_b` is None.", "That's because `CACHE_KEY` changed.", "`a_b` is None because `CACHE_KEY` changed."),
        ("`a_b` is empty.", "Therefore, `c_d` is skipped.", "`a_b` is empty, so `c_d` is skipped."),
    ],
)
def test_a_sentence_and_its_consequence_or_reason_are_one(first: str, second: str, together: str) -> None:
    found = joined(Sentence(first), Sentence(second))
    assert found is not None and found.text == together


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("`a_b` is None.", "The cache is cold."),
        ("`a_b` is None:", "So `c_d` is skipped."),
        ("Is `a_b` None?", "So `c_d` is skipped."),
        ("`a_b` is None.", "This is the third attempt."),
        ("`a_b` is None. " + "x" * 400, "So `c_d` is skipped."),
    ],
)
def test_what_only_stands_side_by_side_stays_apart(first: str, second: str) -> None:
    assert joined(Sentence(first), Sentence(second)) is None


def test_two_items_of_a_list_are_never_one() -> None:
    assert joined(Sentence("`a_b` is None.", item=True), Sentence("So `c_d` is skipped.", item=True)) is None


@pytest.mark.parametrize(
    ("text", "setting", "named"),
    [
        ("It drops blanks.", Setting("The `trim_all` helper is short."), "The `trim_all` helper drops blanks."),
        (
            "It compares ids.",
            Setting("The `Row` class's equality test is:"),
            "The `Row` class's equality test compares ids.",
        ),
        (
            "The current implementation ignores case.",
            Setting(place="`match.py` (`glob_all`)"),
            "The implementation in `match.py` (`glob_all`) ignores case.",
        ),
        (
            "The bug is indeed caused by a shared `Clock`.",
            Setting(failure="The `KeyError` in `tick.py`"),
            "The `KeyError` in `tick.py` is caused by a shared `Clock`.",
        ),
        ("The function in `b.py` ignores case.", Setting(place="`a.py`"), "The function in `b.py` ignores case."),
        ("The code ignores case.", Setting(), "The code ignores case."),
        ("The issue is caused by `x_y`.", Setting(place="`a.py`"), "The issue is caused by `x_y`."),
        ("It drops blanks.", Setting("That was short."), "It drops blanks."),
    ],
)
def test_first_words_are_named_only_by_what_stands_near(text: str, setting: Setting, named: str) -> None:
    assert resolved(text, setting) == named


@pytest.mark.parametrize(
    ("said", "found"),
    [
        (["We look at `match.py` where `glob_all` is defined."], "`match.py` (`glob_all`)"),
        (["First `match.py`.", "Then the rest."], "`match.py`"),
        (["First `match.py`.", "Then `walk.py` and `tree.py`."], ""),
        (["Nothing is named.", "Not here, e.g. either."], ""),
    ],
)
def test_the_place_is_the_one_file_named_last(said: list[str], found: str) -> None:
    assert place(said) == found


def test_a_failure_has_its_place_or_is_none() -> None:
    assert failure(["The `ValueError` in `load.py` is strange.", "We go on."]) == "The `ValueError` in `load.py`"
    assert failure(["The `ValueError` is strange.", "`load_all` in `load.py` is long."]) == ""


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (
            "`parse_date` ignores the time zone, which might explain the shift.",
            "`parse_date` ignores the time zone.",
        ),
        (
            "The `parse_date` helper silently truncates microseconds and could break sorting.",
            "The `parse_date` helper silently truncates microseconds.",
        ),
        (
            "`sync_all` fails on Windows because `os.link` is refused, suggesting that copies would be better.",
            "`sync_all` fails on Windows because `os.link` is refused.",
        ),
    ],
)
def test_a_guess_at_the_end_is_cut_off(text: str, kept: str) -> None:
    found = state(Sentence(text))
    assert isinstance(found, Statement) and found.proposition == kept


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("`parse_date` might ignore the zone, which breaks `sort_all`.", "hedged"),
        ("`parse_date` ignores the zone, or maybe `sort_all` does.", "hedged"),
        ("I will change `parse_date`, which ignores the zone.", "plan"),
        ("The code ignores the zone in `parse_date`.", "no_subject"),
    ],
)
def test_a_guess_that_carries_the_sentence_is_refused(text: str, reason: str) -> None:
    assert state(Sentence(text)) == Refused(reason)
