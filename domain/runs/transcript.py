"""What a transcript reader says: facts in the order of the file, each with the raw record it came from.

Readers know a format and nothing else: ids, sameness, times, redaction and claim-checks are decided once, after them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Protocol

HINT_OPEN = "<temporality-hints>"
HINT_CLOSE = "</temporality-hints>"
"""Marks around hints placed in a run's context: what stands between them is never extracted again."""


@dataclass(frozen=True, slots=True)
class RunFound:
    """A run of the file, said before its first fact, and again whenever the file comes back to it.

    `native` is the format's own session id (or task and trial); None where the format has none. Everything else is
    taken from the run's first record only, so that a longer copy of the transcript opens the run with the same words.
    """

    native: str | None
    title: str | None = None
    agent: str | None = None
    model: str | None = None
    workspace: str | None = None
    task: str | None = None
    parent_run: str | None = None
    # a time the transcript tells for the whole run, for records that have none of their own
    at: str | float | None = None
    details: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class Opening:
    """A frame that begins with its fact.

    `operation` is the call that delegated the work, `parent` the key of the frame around it.
    """

    key: str
    kind: str = "turn"
    title: str | None = None
    parent: str | None = None
    operation: str | None = None


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing that happened, as found.

    `raw` is the whole raw record; `part` names this fact within it (one record may hold several). `at` is the time as
    written, None where there is none. `native_id`, `parent` and `operation` are the format's own ids, kept in the
    data, never event ids; an operation that starts with `#` was numbered by the reader and counts within the run
    only. `closing` marks what only the end of the copy shows (dangling parents, abandoned branches): it has no place
    in the order of events.
    """

    type: str
    data: Mapping[str, Any]
    raw: bytes
    part: str = ""
    at: str | float | None = None
    native_id: str | None = None
    parent: str | None = None
    operation: str | None = None
    # the key of the frame this belongs to; None stays in the one last named
    frame: str | None = None
    opens: Opening | None = None
    workspace: str | None = None
    actor: str | None = None
    sidechain: bool = False
    closing: bool = False
    # what was odd about the record, counted by name
    anomaly: str | None = None


@dataclass(frozen=True, slots=True)
class RunEnded:
    """The run's end as the transcript tells it; None where it does not say (then it completed as far as is known)."""

    outcome: str | None = None
    reason: str | None = None
    result: str | None = None


@dataclass(frozen=True, slots=True)
class Refused:
    """A record that could not be read: where it stands, and why in one sentence. The rest of the file goes on."""

    where: str
    reason: str


Item = RunFound | Fact | RunEnded | Refused


class TranscriptReader(Protocol):
    """One format. `sniff` sees the first bytes (at most 64 KB); names never decide."""

    @property
    def format(self) -> str: ...

    @property
    def version(self) -> str: ...

    def sniff(self, head: bytes) -> bool: ...

    def read(self, stream: BinaryIO, limits: Limits) -> Iterator[Item]: ...


@dataclass(frozen=True, slots=True)
class Limits:
    """What a reader may hold in memory at once, in bytes."""

    max_document_bytes: int = 16 * 1024 * 1024
    max_record_bytes: int = 8 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of a text: `hint` when it stands between the hint marks."""

    text: str
    hint: bool = False


def split_hints(text: str) -> tuple[Span, ...]:
    """`text` cut at the hint marks, marks included in their piece; an opening mark without its closing one marks all
    that follows.

    Pieces of white space alone are dropped beside a hint; a text without marks is one piece, unchanged.
    """
    if HINT_OPEN not in text:
        return (Span(text),)
    spans: list[Span] = []
    rest = text
    while rest:
        start = rest.find(HINT_OPEN)
        before = rest if start < 0 else rest[:start]
        if before.strip():
            spans.append(Span(before))
        if start < 0:
            break
        end = rest.find(HINT_CLOSE, start)
        stop = len(rest) if end < 0 else end + len(HINT_CLOSE)
        spans.append(Span(rest[start:stop], hint=True))
        rest = rest[stop:]
    return tuple(spans)
