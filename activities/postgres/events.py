"""Reading single events and whole runs from the journal, as the current version of the code reads them."""

from __future__ import annotations

from dataclasses import dataclass

from activities.postgres.pool import Connection, Database
from activities.postgres.rebuild import read_event
from domain.journal.event import Event


@dataclass(frozen=True, slots=True)
class Stored:
    """An event at its place in the journal."""

    seq: int
    event: Event


async def find(database: Database, project: str, source: str, event_id: str) -> Stored | None:
    """The event of this identity, or None."""
    async with database.scoped(project) as connection:
        cursor = await connection.execute(
            "SELECT seq, body FROM journal.events WHERE project_id = %s AND event_id = %s AND source_id = %s",
            (project, event_id, source),
            binary=True,
        )
        record = await cursor.fetchone()
    return Stored(record[0], read_event(record[1])) if record else None


async def of_run(database: Database, project: str, run: str, trajectory: str | None = None) -> list[Event]:
    """What happened in a run, in order; with `trajectory`, up to the close that says it."""
    async with database.scoped(project) as connection:
        events = await _of_run(connection, project, run)
    if trajectory is None:
        return events
    end = next(
        (i for i, e in enumerate(events) if e.type == "run.closed" and e.data.get("trajectory") == trajectory), None
    )
    return events if end is None else events[: end + 1]


async def added_since(database: Database, project: str, runs: list[str], seq: int) -> dict[str, int]:
    """How many events of each run came after place `seq`, its closing not counted."""
    async with database.scoped(project) as connection:
        cursor = await connection.execute(
            "SELECT run_id, count(*) FROM journal.events WHERE project_id = %s AND run_id = ANY(%s) AND seq > %s "
            "AND type <> 'run.closed' AND NOT starts_with(source_id, 'temporality/') GROUP BY run_id",
            (project, runs, seq),
        )
        return dict(await cursor.fetchall())


async def _of_run(connection: Connection, project: str, run: str) -> list[Event]:
    cursor = await connection.execute(
        "SELECT body FROM journal.events WHERE project_id = %s AND run_id = %s ORDER BY seq",
        (project, run),
        binary=True,
    )
    events = [read_event(body) async for (body,) in cursor]
    return [event for event in events if event.type == "run.closed" or not event.source.startswith("temporality/")]
