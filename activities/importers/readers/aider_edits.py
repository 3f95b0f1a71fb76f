"""SEARCH/REPLACE blocks: the edits a reply asks for, and which of them Aider says it applied or could not match."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

_SEARCH = re.compile(r"<{5,9} SEARCH>?\s*\Z")
_DIVIDER = re.compile(r"={5,9}\s*\Z")
_REPLACE = re.compile(r">{5,9} REPLACE\s*\Z")
_FENCE = re.compile(r"\s*(?:```|<source>|<code>)")
FAILED = re.compile(r"## SearchReplace\w+: This SEARCH block failed to exactly match lines in (?P<path>.+)")
OTHERS_APPLIED = re.compile(r"# The other \d+ SEARCH/REPLACE blocks? (?:was|were) applied successfully\.")
MAX_EDITS = 1000


@dataclass(frozen=True, slots=True)
class Edit:
    """A block of a reply; `path` is None where none stands above it."""

    path: str | None
    search: str
    replace: str


@dataclass(frozen=True, slots=True)
class Mismatch:
    """A block that Aider could not match: the file, the block's search text, and what Aider said about it."""

    path: str
    search: str
    said: str


def edits(lines: Sequence[str]) -> Iterator[Edit]:
    """The whole blocks of a reply, in order; one without a path of its own is about the file of the block before."""
    path: str | None = None
    place, found = 0, 0
    while place < len(lines) and found < MAX_EDITS:
        if not _SEARCH.match(lines[place]):
            place += 1
            continue
        divider = _next(lines, place + 1, _DIVIDER)
        stop = _next(lines, divider + 1, _REPLACE)
        if stop >= len(lines):
            return
        path = _path(lines, place) or path
        yield Edit(path, "\n".join(lines[place + 1 : divider]), "\n".join(lines[divider + 1 : stop]))
        place, found = stop + 1, found + 1


def mismatches(texts: Sequence[str]) -> Iterator[Mismatch]:
    """The blocks that a report of Aider's names, each with its part of the report."""
    starts = [place for place, text in enumerate(texts) if FAILED.fullmatch(text)]
    for start, stop in pairwise([*starts, len(texts)]):
        match = FAILED.fullmatch(texts[start])
        part = texts[start:stop]
        quoted = next(edits(part[1:]), None)
        if match is not None:
            said = "\n".join(part).strip()
            yield Mismatch(match.group("path").strip(), quoted.search if quoted else "", said)


def same(told: str, quoted: str) -> bool:
    """Whether a block's search text is the quoted one; Aider's report drops spaces at the ends of lines."""
    return [line.rstrip() for line in told.splitlines()] == [line.rstrip() for line in quoted.splitlines()]


def _next(lines: Sequence[str], start: int, mark: re.Pattern[str]) -> int:
    return next((place for place in range(start, len(lines)) if mark.match(lines[place])), len(lines))


def _path(lines: Sequence[str], search: int) -> str | None:
    """The path line above a block: before its fence, or right above it."""
    place = search - 1
    if place >= 0 and _FENCE.match(lines[place]):
        place -= 1
    told = lines[place].strip().strip("`*#: ") if place >= 0 else ""
    plain = told and not _REPLACE.match(told) and " " not in told and not told.startswith(("<", "```"))
    return told if plain else None
