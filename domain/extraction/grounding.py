"""Check that what a proposition names stands in the evidence it cites, word for word and on whole words.

A number is found by its value as written, never inside a longer one: `10` is not in `2010`, `10.5` or `10,000`.
Thousands separators make no difference (`10,000` is `10000`, and never `10` and `000`), units may stick to a number
(`10ms`), and a sign belongs to it. A path may be the tail of a longer path. A version is found with or without its
`v`. An acronym is found in any case; everything else keeps its case. Source: spec/2 section 9.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from domain.extraction.anchors import Anchor, AnchorKind, anchors

__all__ = ["Anchor", "AnchorKind", "Span", "anchors", "locate", "ungrounded"]

_NUMBER = re.compile(r"(?P<sign>[-−]?)(?P<whole>\d+(?:[,_\u00a0\u202f]\d{3})*)(?:\.(?P<part>\d+))?")
_SEPARATORS = ",_\u00a0\u202f\u2009 "
_QUOTES: Mapping[str, str] = {quote: form for form in ('["“”„«»]', "['‘’]") for quote in form[1:-1]}
_TIGHT = frozenset({AnchorKind.FLAG, AnchorKind.HOST})
_CLOSED = frozenset({AnchorKind.PATH, AnchorKind.HOST, AnchorKind.DATE})


class Span(NamedTuple):
    """Characters `start` to `end` of a text."""

    start: int
    end: int


def ungrounded(proposition: str, evidence_texts: Sequence[str]) -> tuple[Anchor, ...]:
    """The anchors of a proposition that occur in none of the texts; empty when it is grounded. Never raises."""
    return tuple(
        anchor
        for anchor in anchors(proposition)
        if not any(locate(anchor, text) is not None for text in evidence_texts)
    )


def locate(anchor: Anchor | str, evidence_text: str) -> Span | None:
    """Where an anchor, or a text taken as a quotation, first occurs in the evidence: character offsets, or None."""
    wanted = Anchor(AnchorKind.QUOTED, anchor) if isinstance(anchor, str) else anchor
    if not wanted.text:
        return None
    for start, end in _occurrences(wanted, evidence_text):
        if _stands_alone(wanted, evidence_text, start, end):
            return Span(start, end)
    return None


def _occurrences(anchor: Anchor, text: str) -> Iterator[tuple[int, int]]:
    if anchor.kind is AnchorKind.NUMBER:
        form = re.compile(_number_form(anchor.text))
    elif anchor.kind is AnchorKind.ACRONYM:
        form = re.compile(re.escape(anchor.text), re.IGNORECASE)
    elif anchor.kind is AnchorKind.VERSION:
        form = re.compile("v?" + re.escape(anchor.text.removeprefix("v")))
    else:
        form = re.compile(_verbatim_form(anchor.text))
    at = 0
    while (found := form.search(text, at)) is not None:
        yield found.span()
        at = found.start() + 1


def _verbatim_form(text: str) -> str:
    """The text with any whitespace for its whitespace, either spelling of its quotes, composed or not."""
    spellings = dict.fromkeys((text, unicodedata.normalize("NFC", text), unicodedata.normalize("NFD", text)))
    return "|".join(
        "".join(
            r"\s+" if piece.isspace() else _QUOTES.get(piece) or re.escape(piece)
            for piece in re.findall(r"\s+|[\"“”„«»'‘’]|[^\s\"“”„«»'‘’]+", spelling)
        )
        for spelling in spellings
    )


def _number_form(text: str) -> str:
    number = _NUMBER.fullmatch(text)
    if number is None:
        return re.escape(text)
    digits = re.sub(r"\D", "", number["whole"])
    first = len(digits) % 3 or 3
    groups = [digits[:first], *(digits[at : at + 3] for at in range(first, len(digits), 3))]
    part = rf"[.,]{number['part']}" if number["part"] else ""
    return ("[-−]" if number["sign"] else "") + rf"[{_SEPARATORS}]?".join(groups) + part


def _stands_alone(anchor: Anchor, text: str, start: int, end: int) -> bool:
    before, after = text[max(0, start - 2) : start], text[end : end + 6]
    if anchor.kind is AnchorKind.NUMBER:
        return _number_stands_alone(text[start:end], before, after)
    if _is_word(text[start]) and before and _is_word(before[-1]):
        return False
    is_dated = anchor.kind is AnchorKind.DATE and re.match(r"T\d", after) is not None
    if _is_word(text[end - 1]) and after and _is_word(after[0]) and not is_dated:
        return False
    is_tight = anchor.kind in _TIGHT or (anchor.kind is AnchorKind.IDENTIFIER and "-" in anchor.text)
    if is_tight and (before.endswith("-") or re.match(r"-\w", after)):
        return False
    if anchor.kind is AnchorKind.VERSION:
        return not re.match(r"\.\d|[-+][A-Za-z0-9]", after) and not before.endswith(".")
    if anchor.kind is AnchorKind.HOST and re.search(r"[\w-]\.$", before):
        return False
    return not (anchor.kind in _CLOSED and re.match(r"\.\w|-\w", after))


def _is_word(char: str) -> bool:
    return char == "_" or char.isalnum()


def _number_stands_alone(found: str, before: str, after: str) -> bool:
    if before and (_is_word(before[-1]) or re.search(r"\d\.$", before)):
        return False
    if not found.startswith(("-", "−")) and re.search(r"(?:^|[^\w)\]])[-−]$", before):
        return False
    leading = re.match(r"\d+", found.lstrip("-−"))
    if before.endswith((",", "_")) and before[:-1].isdigit() and leading and len(leading[0]) == 3:
        return False
    if re.match(r"\d|\.\d|[,_\u00a0\u202f]\d{3}(?!\d)", after):
        return False
    return re.match(r"[^\W\d_]{0,4}(?!\w)", after) is not None
