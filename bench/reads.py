"""Rebuild against a batched upsert and against itself at other sizes; verify against a sequential read."""

from __future__ import annotations

import statistics
import time

import orjson

from activities.postgres.arrays import Texts
from activities.postgres.journal import Journal
from activities.postgres.rebuild import rebuild
from activities.postgres.verify import verify
from bench.events import session
from bench.floors import UPSERT
from bench.measure import Bar, interleaved
from bench.place import Place

BATCH = 1_000
PAGES = "SELECT seq, body FROM journal.events WHERE project_id = %s AND seq > %s ORDER BY seq LIMIT %s"
PAGE = 5_000


async def fill(place: Place, project: str, count: int) -> int:
    """A project of `count` events in runs of 600; how many events it has with those of the kernel."""
    journal = Journal(place.database)
    head = 0
    for start in range(0, count, 600):
        run = f"run-{start // 600}"
        head = (await journal.append(project, list(session(project, run, min(600, count - start))))).head
    return head


async def rebuilding(place: Place) -> list[Bar]:
    """Rebuild a healthy project, against reading its events, decoding them and upserting a row for each.

    The floor's rows have the columns and indexes of the widest table the fold writes for what happened, and go a thousand at a time.
    """
    count = place.size(full=10_000, quick=2_000)
    events = await fill(place, "rebuild-small", count)

    async def floor(number: int) -> None:
        after = 0
        async with place.database.scoped("rebuild-small") as connection:
            while True:
                cursor = await connection.execute(PAGES.encode(), ("rebuild-small", after, BATCH), binary=True)
                records = await cursor.fetchall()
                if not records:
                    return
                said = [orjson.loads(body) for _, body in records]
                rows = {
                    "project": f"floor-{number}",
                    "run": Texts(document["context"]["run"] for document in said),
                    "event": Texts(document["event_id"] for document in said),
                    "version": [seq for seq, _ in records],
                    "frame": Texts(document["context"].get("frame") for document in said),
                    "type": Texts(document["type"] for document in said),
                    "words": Texts(document["data"].get("command") for document in said),
                    "workspace": Texts(document["context"].get("workspace") for document in said),
                }
                await connection.execute(UPSERT.encode(), rows)
                after = records[-1][0]

    async def again(number: int) -> None:
        assert (await rebuild(place.database, "rebuild-small")).identical

    times = await interleaved(place.rounds, {"floor": floor, "rebuild": again})
    mine, bare = events / times["rebuild"].median, events / times["floor"].median
    bar = Bar(
        "Rebuild against a batched upsert", mine / bare, least=0.5, aim="0.7",
        detail=f"{mine:,.0f} events/s over {events:,} events, bare {bare:,.0f} events/s",
    )  # fmt: skip
    return [bar, await _flat(place, events)]


async def _flat(place: Place, events: int) -> Bar:
    sizes = {events: "rebuild-small"}
    for size in (place.size(full=100_000, quick=6_000), place.size(full=300_000, quick=12_000)):
        sizes[await fill(place, f"rebuild-{size}", size)] = f"rebuild-{size}"
    each: dict[int, list[float]] = {size: [] for size in sizes}
    for _ in range(place.size(full=3, quick=2)):
        for size, project in sizes.items():
            # the smaller ones several times, so that each figure is of as many events
            for _ in range(max(1, min(5, max(sizes) // size))):
                started = time.perf_counter()
                await rebuild(place.database, project)
                each[size].append((time.perf_counter() - started) / size)
    medians = {size: statistics.median(values) * 1e6 for size, values in each.items()}
    detail = ", ".join(f"{cost:.0f} us an event at {size:,}" for size, cost in medians.items())
    first, last = medians[min(medians)], medians[max(medians)]
    return Bar(
        f"Rebuild, cost of an event from {min(sizes):,} to {max(sizes):,}", last / first, most=1.3, detail=detail
    )


async def verifying(place: Place) -> list[Bar]:
    """Verify a project's chain, against reading the same rows in order into Python."""
    count = place.size(full=20_000, quick=4_000)
    events = await fill(place, "verify", count)

    async def floor(number: int) -> None:
        seq = 0
        async with place.database.scoped("verify", repeatable=True) as connection:
            while True:
                cursor = await connection.execute(
                    "SELECT seq, source_id, event_id, type, occurred_at, received_at, content_hash, prev_hash, hash, body, run_id,"
                    " operation_id FROM journal.events WHERE project_id = %s AND seq > %s ORDER BY seq LIMIT %s",
                    ("verify", seq, PAGE),
                    binary=True,
                )
                names = [column.name for column in cursor.description or ()]
                rows = [dict(zip(names, record, strict=True)) for record in await cursor.fetchall()]
                if not rows:
                    return
                seq = rows[-1]["seq"]

    async def check(number: int) -> None:
        found = await verify(place.database, "verify")
        assert found.ok

    times = await interleaved(place.rounds, {"floor": floor, "verify": check})
    mine, bare = events / times["verify"].median, events / times["floor"].median
    detail = f"{mine:,.0f} events/s over {events:,}, read {bare:,.0f} rows/s"
    return [Bar("Verify against a sequential read", mine / bare, least=0.3, detail=detail)]
