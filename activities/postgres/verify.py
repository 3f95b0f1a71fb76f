"""Verify: re-hash every stored body and link, and re-derive the extracted columns (1 % of the rows, or all of them).

An edited body, a deleted, inserted or swapped row and a cut tail are found; `full` also finds an edited column. Checkpoints exported
earlier find a tail that was cut together with the head.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import orjson

from activities.postgres.pool import Connection, Database
from domain.journal.chain import GENESIS, link
from domain.journal.event import Event
from domain.journal.personal import PERSONAL, Sealed, fields_in

PAGE = 5_000
_SAMPLE = 100
MAX_PROBLEMS = 50
_MARK = f'"{PERSONAL}"'.encode()


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The head of a project at one time, to be kept outside the database. `hash` in hex."""

    project: str
    seq: int
    hash: str


@dataclass(slots=True)
class Verified:
    """What was checked and what is wrong; `erased` are events whose personal fields' keys were destroyed, which is no fault."""

    project: str
    events: int = 0
    columns_checked: int = 0
    erased: int = 0
    head: Checkpoint | None = None
    problems: list[str] = field(default_factory=list[str])

    @property
    def ok(self) -> bool:
        return not self.problems

    def problem(self, sentence: str) -> None:
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(sentence)


@dataclass(slots=True)
class _Walk:
    """Where the chain stands between two rows."""

    seq: int = 0
    hash: bytes = GENESIS
    received_at: datetime | None = None


async def verify(
    database: Database,
    project: str,
    *,
    full: bool = False,
    checkpoints: tuple[Checkpoint, ...] = (),
    progress: Callable[[int, int], None] | None = None,
) -> Verified:
    """Walk the project's whole chain at one snapshot. Nothing is written."""
    found, walk = Verified(project), _Walk()
    due = {item.seq: item for item in checkpoints if item.project == project}
    async with database.scoped(project, repeatable=True) as connection:
        cursor = await connection.execute(
            "SELECT head_seq, head_hash FROM journal.projects WHERE project_id = %s", (project,)
        )
        head = await cursor.fetchone()
        destroyed = await _destroyed_keys(connection, project)
        while records := await _page(connection, project, walk.seq):
            for record in records:
                _check(found, walk, record, full)
                if (expected := due.pop(walk.seq, None)) and walk.hash.hex() != expected.hash:
                    found.problem(f"event {walk.seq} does not have the hash its checkpoint says: history was rewritten")
                if destroyed and _MARK in record[9]:
                    found.erased += any(item.key in destroyed for item in _personal(record[9]))
            if progress and head:
                progress(found.events, int(head[0]))
    if head is not None:
        found.head = Checkpoint(project, int(head[0]), bytes(head[1]).hex())
        if (walk.seq, walk.hash) != (int(head[0]), bytes(head[1])):
            found.problem(
                f"the chain ends at event {walk.seq}, the project's head says {head[0]}: the tail was cut or changed"
            )
    elif found.events:
        found.problem("the project's head is missing, and events are there: it was deleted")
    for seq in sorted(due):
        found.problem(f"a checkpoint names event {seq}, and the journal ends at {walk.seq}: the tail was cut")
    return found


def _check(found: Verified, walk: _Walk, record: tuple[Any, ...], full: bool) -> None:
    seq, received_at, content, prev_hash, stored_hash, body = (
        record[0],
        record[5],
        record[6],
        record[7],
        record[8],
        record[9],
    )
    found.events += 1
    if seq != walk.seq + 1:
        missing = (
            f"event {walk.seq + 1} is missing"
            if seq == walk.seq + 2
            else f"events {walk.seq + 1} to {seq - 1} are missing"
        )
        found.problem(missing)
    if hashlib.sha256(body).digest() != content:
        found.problem(f"event {seq}: its body does not have the hash recorded for it")
    if prev_hash != walk.hash:
        found.problem(f"event {seq}: it does not follow the event before it")
    if link(prev_hash, seq, received_at, content) != stored_hash:
        found.problem(f"event {seq}: its place, time of receipt or content is not what its hash covers")
    if walk.received_at is not None and received_at < walk.received_at:
        found.problem(f"event {seq}: it was received before the event in front of it")
    if full or seq % _SAMPLE == 1:
        found.columns_checked += 1
        _check_columns(found, record)
    walk.seq, walk.hash, walk.received_at = seq, stored_hash, received_at


def _check_columns(found: Verified, record: tuple[Any, ...]) -> None:
    seq, source, event_id, kind, occurred = record[:5]
    try:
        event = Event.from_document(orjson.loads(record[9]))
    except (ValueError, KeyError, TypeError):
        found.problem(f"event {seq}: its body is no event")
        return
    said: Mapping[str, tuple[object, object]] = {
        "project_id": (found.project, event.project),
        "source_id": (source, event.source),
        "event_id": (event_id, event.event_id),
        "type": (kind, event.type),
        "occurred_at": (occurred, event.occurred_at),
        "run_id": (record[10], event.run),
        "operation_id": (record[11], event.operation_id),
    }
    for column, (stored, derived) in said.items():
        if stored != derived:
            found.problem(f"event {seq}: the column {column} says {stored!r}, its body says {derived!r}")


async def _page(connection: Connection, project: str, after: int) -> list[tuple[Any, ...]]:
    cursor = await connection.execute(_PAGE, (project, after, PAGE), binary=True)
    return await cursor.fetchall()


def _personal(body: bytes) -> Iterable[Sealed]:
    try:
        return fields_in(orjson.loads(body))
    except ValueError:
        # not even JSON: its hash says so already
        return ()


async def _destroyed_keys(connection: Connection, project: str) -> frozenset[str]:
    cursor = await connection.execute(
        "SELECT key_id FROM journal.subject_keys WHERE project_id = %s AND key IS NULL", (project,)
    )
    return frozenset(key_id for (key_id,) in await cursor.fetchall())


_PAGE = """
SELECT seq, source_id, event_id, type, occurred_at, received_at, content_hash, prev_hash, hash, body, run_id, operation_id
FROM journal.events WHERE project_id = %s AND seq > %s ORDER BY seq LIMIT %s
"""
