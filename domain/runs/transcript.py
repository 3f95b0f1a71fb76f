"""What a transcript reader says: facts in the order of the file, each with the raw record it came from.

Readers know a format and nothing else: ids, sameness, times, redaction and claim-checks are decided once, after them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Protocol


@dataclass(frozen=True, slots=True)
class RunFound:
    """A run of the file, said before its first fact.

    `native` is the format's own session id (or task and trial); None where the format has none. `title` is the task as far as known.
    """

    native: str | None
    title: str | None = None
    agent: str | None = None
    model: str | None = None
    workspace: str | None = None
    task: str | None = None
    parent_run: str | None = None
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing that happened, as found.

    `raw` is the whole raw record; `part` names this fact within it (one record may hold several). `at` is the time as written, None
    where there is none. `native_id`, `parent` and `operation` are the format's own ids, kept in the data, never event ids.
    """

    type: str
    data: Mapping[str, Any]
    raw: bytes
    part: str = ""
    at: str | float | None = None
    native_id: str | None = None
    parent: str | None = None
    operation: str | None = None
    # opens or continues the frame of this key; None stays in the current one
    frame: str | None = None
    parent_frame: str | None = None
    workspace: str | None = None
    actor: str | None = None
    sidechain: bool = False


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
    """One format. `sniff` sees the first bytes (at most 64 KB) and the file's size; names never decide."""

    format: str
    version: str

    def sniff(self, head: bytes) -> bool: ...

    def read(self, stream: BinaryIO, limits: Limits) -> Iterator[Item]: ...


@dataclass(frozen=True, slots=True)
class Limits:
    """What a reader may hold in memory at once, in bytes."""

    max_document_bytes: int = 16 * 1024 * 1024
    max_record_bytes: int = 8 * 1024 * 1024
