"""pi sessions: JSONL, one entry a line, with two clocks, aborted calls and commands that the user ran.

The entry's own time counts; the message's clock is kept in the data. What was aborted stays without a result and is
marked; newer sessions are a tree of entries, whose abandoned branches are found.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO

from activities.importers.parse import Line, lines, with_head
from activities.importers.peek import HEAD_BYTES, peek
from activities.importers.readers.pi_session import Session, text_of
from activities.importers.shapes import mapping, word
from activities.importers.texts import title_of
from domain.runs.transcript import Item, Limits, Refused, RunFound

_ROLES = frozenset({"user", "assistant", "toolResult", "bashExecution"})
_CHANGES = frozenset({"model_change", "thinking_level_change"})
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


class Pi:
    """Reader of session files of the pi coding agent (`~/.pi/agent/sessions/*/*.jsonl`)."""

    format = "pi"
    version = "1"

    def sniff(self, head: bytes) -> bool:
        return any(_is_entry(record) for record in peek(head).records)

    def read(self, stream: BinaryIO, limits: Limits) -> Iterator[Item]:
        head, stream = with_head(stream, HEAD_BYTES)
        title = _title(peek(head).records)
        sessions: dict[str | None, Session] = {}
        current: Session | None = None
        for line in lines(stream, limits):
            if isinstance(line, Refused):
                yield line
                continue
            native = _session_id(line.value)
            if current is None or (native is not None and native != current.native):
                current = sessions.get(native)
                if current is None:
                    current = sessions[native] = Session(native)
                    yield _found(native, line, None if len(sessions) > 1 else title)
                else:
                    yield RunFound(native)
            yield from current.entry(line)
        for session in sessions.values():
            if session is not current:
                yield RunFound(session.native)
            yield from session.close()


def _is_entry(record: Mapping[str, Any]) -> bool:
    kind = word(record.get("type"))
    if "payload" in record or "sessionId" in record or "uuid" in record:
        return False
    if kind == "session":
        return isinstance(record.get("id"), str) and isinstance(record.get("cwd"), str)
    if kind in _CHANGES:
        return "modelId" in record or "thinkingLevel" in record
    return kind == "message" and word(mapping(record.get("message")).get("role")) in _ROLES


def _session_id(value: Any) -> str | None:
    shape = mapping(value)
    return word(shape.get("id")) if shape.get("type") == "session" else None


def _title(records: tuple[dict[str, Any], ...]) -> str | None:
    """The first prompt near the beginning that is no command to pi itself."""
    asked = (mapping(record.get("message")) for record in records if record.get("type") == "message")
    texts = (text_of(message.get("content")) for message in asked if message.get("role") == "user")
    return next((title_of(text) for text in texts if text.strip() and not text.startswith("/")), None)


def _found(native: str | None, line: Line, title: str | None) -> RunFound:
    told = mapping(line.value) if native is not None else {}
    branched = word(told.get("branchedFrom")) or word(told.get("parentSession"))
    parents = _UUID.findall(branched) if branched else []
    return RunFound(
        native=native,
        title=title,
        agent="pi",
        model=word(told.get("modelId")),
        workspace=word(told.get("cwd")),
        parent_run=parents[-1] if parents else None,
        details={"branched_from": branched} if branched else {},
    )
