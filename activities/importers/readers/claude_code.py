"""Claude Code session transcripts: JSONL, one record a line, several sessions in a file, a tree of parents.

Every record is kept: known types as what happened, others whole as `source.unknown`; a line that is no JSON is
refused alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO

from activities.importers.parse import Line, lines
from activities.importers.peek import peek
from activities.importers.readers.claude_code_blocks import Record
from activities.importers.readers.claude_code_session import Session, prompt_of
from activities.importers.shapes import mapping, word
from activities.importers.texts import title_of
from domain.runs.transcript import Item, Limits, Refused, RunFound

_MAX_HELD = 32
_MAX_HELD_BYTES = 1 << 20


class ClaudeCode:
    """Reader of Claude Code session files (`~/.claude/projects/*/*.jsonl`, also a subagent's own file)."""

    format = "claude-code"
    version = "1"

    def sniff(self, head: bytes) -> bool:
        return any(_is_record(record) for record in peek(head).records)

    def read(self, stream: BinaryIO, limits: Limits) -> Iterator[Item]:
        return _Reading(limits).read(stream)


def _is_record(record: Mapping[str, Any]) -> bool:
    kind = record.get("type")
    if isinstance(record.get("sessionId"), str) and (isinstance(kind, str) or "uuid" in record):
        return True
    if kind == "summary":
        return "leafUuid" in record
    message = record.get("message")
    role = mapping(message).get("role")
    return (
        kind in ("user", "assistant")
        and role == kind
        and ("uuid" in record or "parentUuid" in record or "timestamp" in record)
    )


class _Reading:
    """One pass over a file: which session a record belongs to, and the sessions' own states."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._sessions: dict[str | None, Session] = {}
        self._current: Session | None = None
        self._per_agent: bool | None = None

    def read(self, stream: BinaryIO) -> Iterator[Item]:
        held: list[Line] = []
        held_bytes = 0
        for line in lines(stream, self._limits):
            if isinstance(line, Refused):
                yield line
                continue
            if self._current is None and self._session_id(line.value) is None:
                # lines before the first that names its session belong to that session
                held.append(line)
                held_bytes += len(line.raw)
                if len(held) < _MAX_HELD and held_bytes < _MAX_HELD_BYTES:
                    continue
                yield from self._enter(None, held[0].value)
                yield from self._records(held)
                held = []
                continue
            yield from self._enter(self._session_id(line.value), line.value)
            yield from self._records([*held, line])
            held = []
        if held:
            yield from self._enter(None, held[0].value)
            yield from self._records(held)
        for session in self._sessions.values():
            yield RunFound(session.native)
            yield from session.close()

    def _records(self, held: list[Line]) -> Iterator[Item]:
        assert self._current is not None
        for line in held:
            yield from self._current.record(line)

    def _session_id(self, value: Any) -> str | None:
        if not isinstance(value, Mapping):
            return None
        record = value
        session = record.get("sessionId")
        if not isinstance(session, str) or not session:
            return None
        agent = record.get("agentId")
        if self._per_agent is None:
            # a subagent's own file is a run of its own; in a session's file its records are a frame
            self._per_agent = record.get("isSidechain") is True and isinstance(agent, str) and "uuid" in record
        return f"{session}/{agent}" if self._per_agent and isinstance(agent, str) else session

    def _enter(self, native: str | None, value: Any) -> Iterator[Item]:
        """Makes the session the current one; a record that names none stays in the current one."""
        if native is None and self._current is not None:
            return
        if native in self._sessions:
            if self._current is not self._sessions[native]:
                self._current = self._sessions[native]
                yield RunFound(native)
            return
        self._current = self._sessions[native] = Session(native)
        yield _found(native, value, bool(self._per_agent))


def _found(native: str | None, value: Any, per_agent: bool) -> RunFound:
    """The run as its first record shows it: nothing a longer copy could tell otherwise."""
    record = mapping(value)
    asked = prompt_of(Record(record, b"")) or word(record.get("content")) or ""
    return RunFound(
        native=native,
        title=title_of(asked),
        agent="claude-code",
        workspace=word(record.get("cwd")),
        parent_run=native.rpartition("/")[0] if native and per_agent else None,
        details={key: told for key in ("version", "gitBranch") if (told := word(record.get(key)))},
    )
