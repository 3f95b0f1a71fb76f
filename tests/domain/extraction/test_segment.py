"""Messages are cut into sentences without cutting code, numbers or abbreviations."""

from __future__ import annotations

import pytest

from domain.extraction.segment import sentences, split


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two.", ["One.", "Two."]),
        ("Version 1.10 is used, e.g. by `a. B c`. It works.", ["Version 1.10 is used, e.g. by `a. B c`.", "It works."]),
        ("It is called `x.py`. `y.py` is not.", ["It is called `x.py`.", "`y.py` is not."]),
        ("See line 1475.To fix this, wait.", ["See line 1475.", "To fix this, wait."]),
        ("It is slow.A cache helps. Lets go.", ["It is slow.", "A cache helps.", "Lets go."]),
        ("See `open_all()`.`close_all()` is next.", ["See `open_all()`.", "`close_all()` is next."]),
        ("Next is `while (x) {`:In C, `x` is tested.", ["Next is `while (x) {`:", "In C, `x` is tested."]),
        ('He said "No. Never." Then left.', ['He said "No. Never." Then left.']),
        ("Он упал. Потом встал.", ["Он упал.", "Потом встал."]),
        ("shop.rates.Tariff rounds.", ["shop.rates.Tariff rounds."]),
    ],
)
def test_split(text: str, expected: list[str]) -> None:
    assert split(text) == expected


def test_code_tables_and_quotations_say_nothing() -> None:
    text = "Before.\n```python\nx = 1. Foo\n```\n| a | b |\n> quoted words.\n    indented code.\nAfter."
    assert [sentence.text for sentence in sentences(text)] == ["Before.", "After."]


def test_a_wrapped_sentence_is_one_and_labels_stand_over_it() -> None:
    text = "## Findings\n- **Root cause:** totals are\n  short.\n- Second.\n\n**Note:** the end. Really."
    found = [(sentence.text, sentence.label, sentence.heading, sentence.item) for sentence in sentences(text)]
    assert found == [
        ("totals are short.", "Root cause", False, True),
        ("Second.", "Findings", True, True),
        ("the end.", "Note", False, False),
        ("Really.", "Findings", True, False),
    ]


def test_a_line_that_ends_a_sentence_ends_it_whatever_comes_next() -> None:
    assert [sentence.text for sentence in sentences("It waits\nfor time.\npsycopg does not.")] == [
        "It waits for time.",
        "psycopg does not.",
    ]


def test_an_unclosed_fence_reaches_to_the_end() -> None:
    assert [sentence.text for sentence in sentences("Yes.\n```\nNo. Never.")] == ["Yes."]


def test_code_between_fences_on_one_line_ends_a_sentence() -> None:
    text = "It is done like this:```c int x = 1; return x;```Here `x` is read."
    assert [sentence.text for sentence in sentences(text)] == ["It is done like this:", "Here `x` is read."]
