"""Where a secret stands in a text and what a redacted one looks like, shared by all detectors.

A marker that already stands in a text is never a finding and never part of one.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

MARKER = re.compile(r"\[redacted:[a-z][a-z0-9_]{0,39}(?::[0-9a-f]{12})?\]")
MARKER_START = "[redacted:"

_TOKEN = re.compile(r"[A-Za-z0-9+_-]+")
_DIGIT = re.compile(r"[0-9]")
_HEX_OR_NUMBERS = re.compile(r"[0-9a-f+_-]+|[0-9A-F+_-]+")
_AS_TOKEN = bytes(
    ord("a") if chr(code).isascii() and (chr(code).isalnum() or chr(code) in "+_-") else ord(" ") for code in range(256)
)
_RUN = b"a" * 16


class Finding(NamedTuple):
    """Characters `start` to `end` of a text are a secret of a kind, such as `github_token`."""

    start: int
    end: int
    kind: str


@dataclass(frozen=True, slots=True)
class Scanned:
    """A text prepared for searching.

    `plain` and `low` hold one byte for each character (`?` for what Latin-1 lacks), as written and in lower case, so
    that a place in them is a place in the text and a search costs the same in every script. `runs`: where a token may
    be: at least 16 characters of `A-Za-z0-9+_-` among which are letters and digits, but no plain hex or uuid.
    """

    text: str
    plain: bytes
    low: bytes
    runs: tuple[tuple[int, int], ...]

    def places(self, needle: bytes) -> Iterator[int]:
        """Where the needle stands in the text as written."""
        return _places(self.plain, needle)

    def places_in_any_case(self, needle: bytes) -> Iterator[int]:
        """Where the needle, given in lower case, stands in the text."""
        return _places(self.low, needle)


def scan(text: str) -> Scanned:
    """Prepare a text; never raises."""
    plain = text.encode("latin-1", "replace")
    return Scanned(text, plain, plain.lower(), tuple(_runs(text, plain.translate(_AS_TOKEN))))


def _runs(text: str, marked: bytes) -> Iterator[tuple[int, int]]:
    at = marked.find(_RUN)
    while at >= 0:
        run = _TOKEN.match(text, at)
        end = run.end() if run else at + len(_RUN)
        if run is not None and _DIGIT.search(run[0]) and not _HEX_OR_NUMBERS.fullmatch(run[0]):
            yield at, end
        at = marked.find(_RUN, end)


def _places(data: bytes, needle: bytes) -> Iterator[int]:
    at = data.find(needle)
    while at >= 0:
        yield at
        at = data.find(needle, at + len(needle))


def without_overlaps(text: str, findings: list[Finding]) -> list[Finding]:
    """The findings in order of place, overlapping ones joined under the kind that was found first; those that touch
    a marker are dropped."""
    marked = [match.span() for match in MARKER.finditer(text)] if MARKER_START in text else []
    ranked = sorted(enumerate(findings), key=lambda pair: (pair[1].start, pair[0]))
    joined: list[tuple[int, Finding]] = []
    at_mark = 0
    for rank, finding in ranked:
        while at_mark < len(marked) and marked[at_mark][1] <= finding.start:
            at_mark += 1
        if at_mark < len(marked) and marked[at_mark][0] < finding.end:
            continue
        if joined and finding.start < joined[-1][1].end:
            before_rank, before = joined[-1]
            kind = before.kind if before_rank <= rank else finding.kind
            joined[-1] = (min(before_rank, rank), Finding(before.start, max(before.end, finding.end), kind))
        else:
            joined.append((rank, finding))
    return [finding for _, finding in joined]
