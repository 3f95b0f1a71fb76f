"""Hints are cut out of texts without losing a word of either."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from domain.runs.transcript import HINT_CLOSE, HINT_OPEN, Span, split_hints

BLOCK = f"{HINT_OPEN}\nuse the cache\n{HINT_CLOSE}"
pieces = st.lists(st.sampled_from([HINT_OPEN, HINT_CLOSE, "a", " ", "\n", "some words", "<temporality"]), max_size=12)


def test_a_text_without_marks_is_one_piece() -> None:
    assert split_hints("plain") == (Span("plain"),)
    assert split_hints("") == (Span(""),)
    assert split_hints(f"only a closing {HINT_CLOSE}") == (Span(f"only a closing {HINT_CLOSE}"),)


def test_text_around_hints_stays_apart() -> None:
    assert split_hints(f"before {BLOCK} between {BLOCK}after") == (
        Span("before "),
        Span(BLOCK, hint=True),
        Span(" between "),
        Span(BLOCK, hint=True),
        Span("after"),
    )
    assert split_hints(f"  {BLOCK}\n") == (Span(BLOCK, hint=True),)


def test_an_open_mark_marks_all_that_follows() -> None:
    assert split_hints(f"a {HINT_OPEN} b {HINT_OPEN} c") == (
        Span("a "),
        Span(f"{HINT_OPEN} b {HINT_OPEN} c", hint=True),
    )


@given(pieces)
def test_only_white_space_is_dropped_and_no_mark_escapes(parts: list[str]) -> None:
    text = "".join(parts)
    spans = split_hints(text)
    assert "".join("".join(span.text for span in spans).split()) == "".join(text.split())
    assert all(HINT_OPEN not in span.text for span in spans if not span.hint)
    assert all(span.text.startswith(HINT_OPEN) for span in spans if span.hint)
