"""Codex rollouts: JSONL, in an envelope (`timestamp`, `type`, `payload`) or flat (response items without one).

A file is one run, named by its first session line; a session line further on is the history of the thread it was
forked from. Flat files tell one time, that of their first line.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO

from activities.importers.parse import Line, lines, with_head
from activities.importers.peek import HEAD_BYTES, peek
from activities.importers.readers.codex_items import asked_in
from activities.importers.readers.codex_session import ENVELOPES, ITEMS, Session
from activities.importers.shapes import mapping, moment, word
from activities.importers.texts import title_of
from domain.runs.transcript import Item, Limits, Refused, RunFound


class Codex:
    """Reader of the rollout files of the Codex command (`~/.codex/sessions/**/rollout-*.jsonl`)."""

    format = "codex"
    version = "1"

    def sniff(self, head: bytes) -> bool:
        return any(_is_envelope(record) or _is_flat(record) for record in peek(head).records)

    def read(self, stream: BinaryIO, limits: Limits) -> Iterator[Item]:
        head, stream = with_head(stream, HEAD_BYTES)
        records = peek(head).records
        session: Session | None = None
        for line in lines(stream, limits):
            if isinstance(line, Refused):
                yield line
                continue
            if session is None:
                found = _found(line, records)
                session = Session(found.model)
                yield found
            yield from session.line(line)
        if session is not None:
            yield from session.close()


def _is_envelope(record: Mapping[str, Any]) -> bool:
    kind = word(record.get("type"))
    return kind in ENVELOPES and isinstance(record.get("payload"), Mapping) and "timestamp" in record


def _is_flat(record: Mapping[str, Any]) -> bool:
    """A line of a flat file that no other format has: its first, a state line, or a call in Codex's words."""
    if "record_type" in record:
        return True
    kind = word(record.get("type"))
    if kind is None:
        return _is_meta(record)
    return (
        kind in ITEMS and kind != "message" and ("call_id" in record or kind == "reasoning") and "message" not in record
    )


def _is_meta(record: Mapping[str, Any]) -> bool:
    named = isinstance(record.get("id"), str) and isinstance(record.get("timestamp"), str)
    return named and bool({"instructions", "git"} & record.keys()) and "payload" not in record


def _meta(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a session line says of its session; empty for every other line."""
    if record.get("type") == "session_meta":
        return mapping(record.get("payload"))
    return record if "type" not in record and _is_meta(record) else {}


def _found(first: Line, records: tuple[dict[str, Any], ...]) -> RunFound:
    """The run, as its session line says it, and the first prompt and model near the beginning of the file."""
    record = mapping(first.value)
    told = _meta(record)
    payloads = [mapping(r.get("payload")) if "payload" in r else r for r in records]
    title = next((text for payload in payloads if (text := asked_in(payload))), None)
    contexts = (mapping(r.get("payload")) for r in records if r.get("type") == "turn_context")
    kept = ("cli_version", "originator", "forked_from_id")
    details: dict[str, Any] = {key: held for key in kept if (held := word(told.get(key)))}
    if isinstance(told.get("git"), Mapping):
        details["git"] = told["git"]
    return RunFound(
        native=word(told.get("id")) or word(told.get("session_id")),
        title=title_of(title) if title else None,
        agent="codex",
        model=next((model for context in contexts if (model := word(context.get("model")))), None),
        workspace=word(told.get("cwd")),
        parent_run=_parent(told),
        at=moment(told.get("timestamp")),
        details=details,
    )


def _parent(told: Mapping[str, Any]) -> str | None:
    """The thread that started this one, where it is another."""
    spawned = mapping(mapping(mapping(told.get("source")).get("subagent")).get("thread_spawn"))
    parent = word(told.get("parent_thread_id")) or word(spawned.get("parent_thread_id"))
    return None if parent in (told.get("id"), told.get("session_id")) else parent
