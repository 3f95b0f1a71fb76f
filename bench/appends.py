"""Appends: one at a time, a hundred at a time, and eight writers at once."""

from __future__ import annotations

import asyncio
import time

from activities.postgres.journal import Journal
from activities.postgres.pool import Database
from bench.events import session
from bench.floors import INSERT, ONE, bare_rows, columns_of
from bench.measure import Bar, interleaved
from bench.place import Place
from domain.projections.batch import prepare


async def single(place: Place) -> list[Bar]:
    """One event per transaction, idempotent, chained and folded, against a bare one-row transaction.

    Both are given canonical bytes and hashes, as activities make them before they append.
    """
    count = place.size(full=300, quick=60)
    journal = Journal(place.database)

    rounds = range(place.rounds + 1)
    events = [list(session("single", f"r{number}", count)) for number in rounds]
    ready = [[prepare(event) for event in said] for said in events]
    rows = [bare_rows(said, number * count) for number, said in enumerate(events)]

    async def floor(number: int) -> None:
        async with place.database.connection() as connection:
            for row in rows[number]:
                await connection.execute(ONE.encode(), row)

    async def append(number: int) -> None:
        for event, item in zip(events[number], ready[number], strict=True):
            await journal.append("single", [event], [item])

    times = await interleaved(place.rounds, {"floor": floor, "append": append})
    each, bare = times["append"].median / count * 1e3, times["floor"].median / count * 1e3
    cpu = times["append"].cpu_median / count * 1e3
    detail = f"{each:.2f} ms an append, bare {bare:.2f} ms; own cost {each - bare:.2f} ms, of it {cpu:.2f} ms of CPU in the worker"
    return [Bar("Single append", bare / each, least=0.35, aim="0.6", detail=detail)]


async def batches(place: Place) -> list[Bar]:
    """A hundred events per transaction with their folds, against the same rows inserted bare into the events table.

    Both are given canonical bytes and hashes, as activities make them before they append; the detail says what that costs.
    """
    count, size = place.size(full=40, quick=8), 100
    journal = Journal(place.database)

    rounds, steps = range(place.rounds + 1), range(count)
    events = [[list(session("batch", f"r{number}", size, step * size)) for step in steps] for number in rounds]
    started = time.process_time()
    ready = [[[prepare(event) for event in batch] for batch in said] for said in events]
    preparing = (time.process_time() - started) / (len(events) * count * size) * 1e6
    rows = [
        [
            columns_of(bare_rows(list(session("bare-batch", f"r{n}", size, k * size)), (n * count + k) * size + 1))
            for k in steps
        ]
        for n in rounds
    ]

    async def floor(number: int) -> None:
        for columns in rows[number]:
            async with place.database.scoped("bare-batch") as connection:
                await connection.execute(INSERT.format(table="journal.events").encode(), columns)

    async def append(number: int) -> None:
        for batch, items in zip(events[number], ready[number], strict=True):
            await journal.append("batch", batch, items)

    times = await interleaved(place.rounds, {"floor": floor, "append": append})
    each, bare = times["append"].median / count * 1e3, times["floor"].median / count * 1e3
    rate = size / each * 1e3
    cpu = times["append"].cpu_median / count / size * 1e6
    own = f"own cost {(each - bare) / size * 1e3:.0f} us an event, {cpu:.0f} us of CPU in the worker; preparing {preparing:.0f} us"
    detail = f"{each:.1f} ms a batch ({rate:,.0f} events/s), bare {bare:.1f} ms; {own}"
    return [Bar("Batch of 100 with folds", bare / each, least=0.5, aim="0.7", detail=detail)]


async def writers(place: Place) -> list[Bar]:
    """Eight writers on one project through one worker, against the same eight on their own connections, each unmerged."""
    count, number_of = place.size(full=60, quick=15), 8
    shared = Journal(place.database)
    lone = Database(place.endpoint.app_url, max_connections=number_of)
    await lone.open()
    alone = [Journal(lone, merge=False) for _ in range(number_of)]

    async def write(journal: Journal, project: str, run: str) -> None:
        for event in session(project, run, count):
            await journal.append(project, [event])

    async def merged(number: int) -> None:
        await asyncio.gather(*(write(shared, "merged", f"r{number}-{w}") for w in range(number_of)))

    async def unmerged(number: int) -> None:
        await asyncio.gather(*(write(alone[w], "unmerged", f"r{number}-{w}") for w in range(number_of)))

    times = await interleaved(place.rounds, {"unmerged": unmerged, "merged": merged})
    await lone.close()
    total = count * number_of
    rates = {name: total / found.median for name, found in times.items()}
    detail = f"{rates['merged']:,.0f} events/s merged, {rates['unmerged']:,.0f} unmerged"
    return [Bar("8 writers on one project, merged", rates["merged"] / rates["unmerged"], least=3, detail=detail)]
