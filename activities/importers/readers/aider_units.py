"""What Aider itself said, cut into the things it tells: each is a record of its own, so that a longer copy repeats it.

A test's or a linter's output belongs to one unit with the question that follows it, because only that question says
that the check failed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

UnitKind = Literal["usage", "applied", "limit", "asked", "test", "lint", "mismatch", "plain"]
USAGE = re.compile(
    r"(?P<sent>[\d.,]+[kM]?) prompt tokens, (?P<got>[\d.,]+[kM]?) completion tokens(?:, \$(?P<cost>[\d.]+) cost)?"
    r"|Tokens: (?P<sent2>[\d.,]+[kM]?) sent(?:, [\d.,]+[kM]? cache \w+)*, (?P<got2>[\d.,]+[kM]?) received\."
    r"(?: Cost: \$(?P<cost2>[\d.]+) (?:message|request).*)?"
)
APPLIED = re.compile(r"Applied edit to (?P<path>.+)")
ASKED = re.compile(
    r"(?P<question>.+?\?)(?: \(.*?\[[^\]]*\]:?)? (?P<answer>yes|no|y|n|all|a|skip all|s|don't ask again|d)",
    re.IGNORECASE,
)
TEST = re.compile(r"Test Script: (?P<command>.+)")
LINT = re.compile(r"## Running: (?P<command>.+)")
FIX_TESTS = re.compile(r"Attempt to fix test errors\?|Fix test errors\?", re.IGNORECASE)
FIX_LINT = re.compile(r"Attempt to fix lint errors\?|Fix lint errors\?", re.IGNORECASE)
_LIMIT = re.compile(r"Only \d+ reflections allowed, stopping\.")
_LINT_BEFORE = "# Fix any errors below, if possible."
_MISMATCH = re.compile(r"The LLM did not conform to the edit format\.|# \d+ SEARCH/REPLACE blocks? failed to match!")
MODEL = re.compile(r"(?:Main m|M)odels?: (?P<model>\S+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Unit:
    """One thing Aider told: the texts of its lines, and which lines of the block they are (start, stop)."""

    kind: UnitKind
    texts: tuple[str, ...]
    start: int
    stop: int


def units(texts: Sequence[str]) -> Iterator[Unit]:
    """The units of a block, in order; together they hold each of its lines once."""
    place = plain = 0
    while place < len(texts):
        kind = _begins(texts, place)
        if kind is None:
            place += 1
            continue
        stop = _stop(texts, place, kind)
        # a question is about the lines before it: the files it names
        first = plain if kind == "asked" else place
        if first > plain:
            yield Unit("plain", tuple(texts[plain:first]), plain, first)
        yield Unit(kind, tuple(texts[first:stop]), first, stop)
        place = plain = stop
    if plain < len(texts):
        yield Unit("plain", tuple(texts[plain:]), plain, len(texts))


def _begins(texts: Sequence[str], place: int) -> UnitKind | None:
    text = texts[place]
    if USAGE.fullmatch(text):
        return "usage"
    if APPLIED.fullmatch(text):
        return "applied"
    if _LIMIT.fullmatch(text):
        return "limit"
    if TEST.fullmatch(text):
        return "test"
    if LINT.fullmatch(text) or (text == _LINT_BEFORE and any(LINT.fullmatch(t) for t in texts[place : place + 4])):
        return "lint"
    if _MISMATCH.fullmatch(text):
        return "mismatch"
    return "asked" if ASKED.fullmatch(text) else None


def _stop(texts: Sequence[str], place: int, kind: UnitKind) -> int:
    """Where the unit ends: its own question included, the next thing Aider tells not."""
    if kind not in ("test", "lint", "mismatch"):
        return place + 1
    own = {"test": FIX_TESTS, "lint": FIX_LINT}.get(kind)
    for stop in range(place + 1, len(texts)):
        text = texts[stop]
        if own is not None and own.match(text):
            return stop + 1
        if USAGE.fullmatch(text) or _LIMIT.fullmatch(text):
            return stop
        if kind == "lint" and (TEST.fullmatch(text) or APPLIED.fullmatch(text)):
            return stop
    return len(texts)
