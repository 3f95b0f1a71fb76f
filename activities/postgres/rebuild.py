"""Rebuild: fold the journal again beside the projections and apply only the difference (law 1).

The journal is read at a snapshot without holding anybody up; the tail that arrived meanwhile is folded under the project's lock.
A healthy project's difference is empty.
"""

from __future__ import annotations

import hashlib
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from typing import Any

import orjson

from activities.postgres import row_codec
from activities.postgres.pool import Connection, Database
from domain.contracts.errors import StaleFold
from domain.journal.event import Event
from domain.journal.rows import Table, WorkingSet
from domain.projections.catalogue import CATALOGUE
from domain.projections.fold import FOLD_VERSION, TABLES, fold

PAGE = 2_000
_WRITE_ROWS = 5_000


@dataclass(frozen=True, slots=True)
class TableDigest:
    """A table of one project: its rows, and sha256 over the ordered text of every column."""

    table: str
    rows: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """What a rebuild found: events folded, and per table how many rows differed (all 0 when healthy) before it mended them."""

    project: str
    events: int
    differing: dict[str, int]
    digests: tuple[TableDigest, ...]

    @property
    def identical(self) -> bool:
        return not any(self.differing.values())


async def rebuild(database: Database, project: str, progress: Callable[[int, int], None] | None = None) -> Rebuilt:
    """Fold the whole journal of `project` again and mend what differs. `progress(done, total)` is called per page of events.

    Raises `StaleFold` where a newer version folded it: this one would undo what that one knows.
    """
    rows = WorkingSet(closed=True)
    async with database.scoped(project, repeatable=True) as connection:
        await _refuse_newer(connection, project)
        seen = await _head(connection, project)
        folded = await _fold_range(connection, project, rows, 0, seen, progress)
    async with database.scoped(project) as connection:
        locked = await connection.execute("SELECT FROM journal.projects WHERE project_id = %s FOR UPDATE", (project,))
        if locked.rowcount == 0:
            # nothing to lock, so somebody may be appending the first event: what is there now is theirs
            return Rebuilt(project, 0, {table.name: 0 for table in TABLES}, ())
        await _refuse_newer(connection, project)
        head = await _head(connection, project)
        folded += await _fold_range(connection, project, rows, seen, head, progress)
        differing = await _apply(connection, project, rows)
        await connection.execute(
            "UPDATE journal.projects SET fold_version = %s WHERE project_id = %s AND fold_version < %s",
            (FOLD_VERSION, project, FOLD_VERSION),
        )
        found = tuple([await digest(connection, project, table) for table in TABLES])
    return Rebuilt(project, folded, differing, found)


async def digest(connection: Connection, project: str, table: Table, schema: str = "projection") -> TableDigest:
    """sha256 over the ordered text of every column of the project's rows in `schema`."""
    sha, count = hashlib.sha256(), 0
    order = ", ".join(f"t.{column}" for column in table.key)
    cursor = connection.cursor(name=f"digest_{table.name}")
    cursor.itersize = PAGE
    query = f"SELECT t::text FROM {schema}.{table.name} t WHERE t.project_id = %s ORDER BY {order}"
    await cursor.execute(query.encode(), (project,))
    async for (text,) in cursor:
        sha.update(text.encode())
        sha.update(b"\n")
        count += 1
    await cursor.close()
    return TableDigest(table.name, count, sha.hexdigest())


async def events_between(
    connection: Connection, project: str, after: int, upto: int
) -> AsyncGenerator[tuple[int, Event, bytes]]:
    """The project's events with after < seq <= upto in order: seq, the event as the current version reads it, its content hash."""
    async for records in _pages(connection, project, after, upto):
        for seq, body, content in records:
            yield seq, read_event(body), content


async def _pages(
    connection: Connection, project: str, after: int, upto: int
) -> AsyncGenerator[list[tuple[int, bytes, bytes]]]:
    while after < upto:
        cursor = await connection.execute(_PAGE, (project, after, upto, PAGE), binary=True)
        records = [(int(seq), body, content) for seq, body, content in await cursor.fetchall()]
        if not records:
            return
        yield records
        after = records[-1][0]


def read_event(body: bytes) -> Event:
    """The event of stored bytes, upcast to the version this code knows."""
    return CATALOGUE.current(Event.from_document(orjson.loads(body)))


_PAGE = "SELECT seq, body, content_hash FROM journal.events WHERE project_id = %s AND seq > %s AND seq <= %s ORDER BY seq LIMIT %s"


async def _head(connection: Connection, project: str) -> int:
    cursor = await connection.execute("SELECT head_seq FROM journal.projects WHERE project_id = %s", (project,))
    record = await cursor.fetchone()
    return int(record[0]) if record else 0


async def _refuse_newer(connection: Connection, project: str) -> None:
    cursor = await connection.execute("SELECT fold_version FROM journal.projects WHERE project_id = %s", (project,))
    record = await cursor.fetchone()
    if record and record[0] > FOLD_VERSION:
        raise StaleFold(f"It is at fold {record[0]}, this version at {FOLD_VERSION}.")


async def _fold_range(
    connection: Connection,
    project: str,
    rows: WorkingSet,
    after: int,
    upto: int,
    progress: Callable[[int, int], None] | None,
) -> int:
    count = 0
    async for records in _pages(connection, project, after, upto):
        for seq, body, content in records:
            fold(rows, read_event(body), content, seq)
        rows.catch_up()
        count += len(records)
        if progress:
            progress(after + count, upto)
    if progress:
        progress(upto, upto)
    return count


async def _apply(connection: Connection, project: str, rows: WorkingSet) -> dict[str, int]:
    by_table: dict[Table, list[Any]] = {table: [] for table in TABLES}
    for table, row in rows.rows():
        by_table[table].append(row)
    return {table.name: await _apply_table(connection, project, table, by_table[table]) for table in TABLES}


async def _apply_table(connection: Connection, project: str, table: Table, rows: list[Any]) -> int:
    """Put the rows aside in a temporary table, delete what should not be there, write what is missing or other; the number of both."""
    name, aside = f"projection.{table.name}", f"aside_{table.name}"
    columns = ", ".join(table.columns)
    keys = ", ".join(("project_id", *table.key))
    await connection.execute(f"CREATE TEMP TABLE {aside} (LIKE {name}) ON COMMIT DROP".encode())
    fill = f"INSERT INTO {aside} SELECT {columns} FROM jsonb_populate_recordset(NULL::{name}, (%s::jsonb) -> %s)"
    for start in range(0, len(rows), _WRITE_ROWS):
        text = row_codec.encode((table, row) for row in rows[start : start + _WRITE_ROWS])
        await connection.execute(fill.encode(), (text, table.name))
    same = " AND ".join(f"a.{key} = t.{key}" for key in table.key)
    delete = f"DELETE FROM {name} t WHERE t.project_id = %s AND NOT EXISTS (SELECT FROM {aside} a WHERE {same})"
    gone = await connection.execute(delete.encode(), (project,))
    kept = ("project_id", *table.key)
    sets = ", ".join(f"{column} = excluded.{column}" for column in table.columns if column not in kept)
    other = f"(SELECT * FROM {aside} EXCEPT SELECT * FROM {name} WHERE project_id = %s)"
    upsert = f"INSERT INTO {name} ({columns}) SELECT {columns} FROM {other} d ON CONFLICT ({keys}) DO UPDATE SET {sets}"
    mended = await connection.execute(upsert.encode(), (project,))
    return gone.rowcount + mended.rowcount
