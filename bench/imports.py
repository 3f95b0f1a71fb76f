"""Imports through a worker process: against bare activities, against parsing and appending, and what a long transcript leaves."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path

from activities.importers.assemble import AssemblyOptions, SourceFile, assemble
from activities.importers.recognise import NotATranscript, recognise
from activities.importing import BATCH_EVENTS
from activities.postgres.journal import Journal
from activities.sealing import Sealer
from bench.floor_workflows import QUEUE, Sequence
from bench.installation import Installation
from bench.measure import Bar, interleaved
from bench.place import Place
from client.record import RunRecorder
from client.starting import start_options
from domain.contracts.imports import ImportAnswer, ImportInput
from domain.contracts.names import TASK_QUEUE
from domain.contracts.observed_run import ObservedRunInput
from domain.contracts.redaction import Redactor
from domain.contracts.starting import import_start
from domain.journal.event import Event
from domain.runs.transcript import Limits

EXAMPLE = Path(__file__).resolve().parents[1] / "examples" / "ledger-rounding-1.jsonl"
LONG = Path("trajectories") / "claude-code" / "fe5e1c67-53e7-4862-81ae-d0e013e3270b.jsonl"
MAX_HISTORY = 700
_numbers = itertools.count()


async def imported(
    here: Installation, project: str, body: bytes, *, extract: bool, name: str = "bench"
) -> ImportAnswer:
    """One import by workflow, until its events are durable."""
    sha256 = await here.artifacts.put(project, body)
    asked = ImportInput(
        project=project,
        file=name,
        sha256=sha256,
        bytes=len(body),
        requested_at=datetime.now(UTC),
        import_id=f"bench-{next(_numbers)}",
        extract=extract,
    )
    start = import_start(asked)
    answer = await here.client.execute_workflow(
        start.workflow, asked, task_queue=TASK_QUEUE, result_type=ImportAnswer, **start_options(start)
    )
    return ImportAnswer.model_validate(answer)


def grown(events: int) -> bytes:
    """A session of at least so many events: the example again and again; equal records of one run all count."""
    once = EXAMPLE.read_bytes()
    return once * -(-events // 45)


def parsed(body: bytes, project: str) -> list[Event]:
    """The events of a transcript as the importer makes them, before they are redacted."""
    reader = recognise(body[: 64 * 1024])
    if isinstance(reader, NotATranscript):
        raise ValueError(reader.reason)
    options = AssemblyOptions(project, datetime.now(UTC), b"k" * 32, None)
    source = SourceFile("bench", reader.format, reader.version)
    assembled = assemble(source, reader.read(BytesIO(body), Limits()), options)
    return [item for item in assembled if isinstance(item, Event)]


async def against_activities(place: Place, here: Installation) -> list[Bar]:
    """An import of k batches against k bare activities, with its events' own work taken off and with it."""
    batches = place.size(full=20, quick=4)
    body = grown(batches * BATCH_EVENTS)
    journal = Journal(here.database)

    async def floor(number: int) -> None:
        await here.client.execute_workflow(Sequence.run, batches, id=f"sequence-{number}", task_queue=QUEUE)

    async def work(number: int) -> None:
        await appended(journal, body, f"batches-work-{number}", Sealer(Redactor(b"k" * 32), here.artifacts))

    async def whole(number: int) -> None:
        await imported(here, f"batches-{number}", body, extract=False)

    times = await interleaved(place.rounds, {"floor": floor, "work": work, "import": whole})
    bare, worked, took = (times[name].median for name in ("floor", "work", "import"))
    events = len(parsed(body, "count"))
    detail = (
        f"{batches} batches of {BATCH_EVENTS} ({events:,} events): import {took:.2f} s; {batches} bare activities {bare:.2f} s; "
        f"parsing, redacting and appending the same events here {worked:.2f} s; against the bare activities alone {took / bare:.1f}"
    )
    return [
        Bar(
            "Import of k batches, against k bare activities and its own work",
            took / (bare + worked),
            most=1.3,
            detail=detail,
        )
    ]


async def appended(journal: Journal, body: bytes, project: str, sealer: Sealer | None = None) -> None:
    """Parse and append in batches; with a `sealer` also take out secrets and long texts, as an import must."""
    events = parsed(body, project)
    for start in range(0, len(events), BATCH_EVENTS):
        batch = events[start : start + BATCH_EVENTS]
        if sealer is not None:
            batch = [await sealer.seal(event) for event in batch]
        await journal.append(project, batch)


async def long_file(place: Place, here: Installation) -> list[Bar]:
    """The long session of the shared data until its events are durable, against parsing it and appending its events in batches."""
    path = place.shared / LONG
    if not path.is_file():
        return []
    body = path.read_bytes()
    journal = Journal(here.database)

    async def floor(number: int) -> None:
        await appended(journal, body, f"long-floor-{number}")

    async def whole(number: int) -> None:
        await imported(here, f"long-{number}", body, extract=False)

    times = await interleaved(place.rounds, {"floor": floor, "import": whole})
    mine, bare = times["import"].median, times["floor"].median
    events = len(parsed(body, "count"))
    detail = f"{len(body) // 1024} KB, {events} events: {mine:.2f} s by workflow; parsing and appending {bare:.2f} s"
    return [Bar("Import of the 774 KB transcript", mine / bare, most=3, detail=detail)]


async def memory(place: Place, here: Installation) -> list[Bar]:
    """The worker's largest resident size after importing every shared transcript, with its extractions."""
    folder = place.shared / "trajectories"
    if not folder.is_dir():
        return []
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    bodies = {path: path.read_bytes() for path in files}
    events, gate = 0, asyncio.Semaphore(8)

    async def one(path: Path) -> int:
        async with gate:
            return (await imported(here, "memory", bodies[path], extract=True, name=path.name)).events

    for count in await asyncio.gather(*(one(path) for path in files)):
        events += count
    await quiet(here)
    peak = peak_megabytes(here.worker_pid)
    detail = f"{len(files)} files, {events:,} events, extractions included; peak of the worker process"
    return [Bar("Worker's memory after all shared transcripts", peak, most=300, unit=" MB", detail=detail)]


def peak_megabytes(pid: int) -> float:
    """The largest resident size a process ever had."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    return next(int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("VmHWM:"))


async def histories(place: Place, here: Installation) -> list[Bar]:
    """The longest history that a transcript of 5,000 events leaves, imported and recorded."""
    count = place.size(full=5_000, quick=1_000)
    answer = await imported(here, "history", grown(count), extract=True)
    recorder = RunRecorder(here.client, ObservedRunInput(project="history", run="recorded", extract=True))
    said = [
        {"event_id": f"e{number}", "type": "turn.agent", "data": {"text": f"step {number} " * 20}}
        for number in range(count)
    ]
    # a hundred batches, sent as a platform sends them while it works
    for start in range(0, count, 50):
        await recorder.record(said[start : start + 50])
    await recorder.complete()
    await quiet(here)
    longest = 0
    async for length in lengths(here, "history"):
        longest = max(longest, length)
    detail = f"{answer.events:,} events imported with extraction, {count:,} recorded in batches of 50"
    return [
        Bar("Longest history of a transcript of 5,000 events", longest, most=MAX_HISTORY, unit=" events", detail=detail)
    ]


async def lengths(here: Installation, project: str) -> AsyncIterator[int]:
    """Lengths of all histories of a project's workflows."""
    async for found in here.client.list_workflows(f"TemporalityProject = '{project}'"):
        handle = here.client.get_workflow_handle(found.id, run_id=found.run_id)
        yield (await handle.describe()).history_length


async def quiet(here: Installation) -> None:
    """Wait until no extraction runs."""
    for _ in range(600):
        running = "ExecutionStatus = 'Running' AND WorkflowType = 'KnowledgeExtraction'"
        if (await here.client.count_workflows(running)).count == 0:
            return
        await asyncio.sleep(0.5)
