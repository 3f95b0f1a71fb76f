"""`import.transcript`: one file becomes runs in the journal, in batches, each run closed at its end.

The file's events are their own idempotency keys, so an attempt that died is simply begun again; the answer is kept as an event and
given again when it is asked for again.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import islice
from typing import BinaryIO

from activities import runs
from activities.implements import implements, tell_progress
from activities.importers.assemble import Assembled, AssemblyOptions, FileEnd, RunClosing, SourceFile, assemble
from activities.importers.counts import Counts
from activities.importers.recognise import NotATranscript, recognise
from activities.postgres import events as stored
from activities.postgres import states
from activities.postgres.journal import Journal
from activities.postgres.pool import Database
from activities.sealing import Clean, Sealer
from domain.contracts.errors import MalformedMessage
from domain.contracts.ids import digest_id
from domain.contracts.imports import ImportAnswer, ImportedRun, ImportInput, RefusedRecord
from domain.extraction.versions import EXTRACTED, EXTRACTOR
from domain.journal.canonical import NotAdmitted
from domain.journal.event import Event
from domain.ports.artifact_store import ArtifactStore, IncomingStore
from domain.ports.importing import IMPORT_TRANSCRIPT
from domain.projections.batch import Prepared, prepare
from domain.runs.state import RUNS, Run
from domain.runs.transcript import Limits, Refused

HEAD_BYTES = 64 * 1024
BATCH_EVENTS = 250
MAX_LISTED = 100
SOURCE = "temporality/import"


@dataclass(slots=True)
class _Import:
    """One attempt: what was read so far."""

    request: ImportInput
    # names of these bytes when they first came: run ids of formats without session ids hang on it
    file: str
    since: int
    read: int = 0
    refused: list[RefusedRecord] = field(default_factory=list[RefusedRecord])
    refused_more: int = 0
    runs: list[ImportedRun] = field(default_factory=list[ImportedRun])
    known: dict[str, Run | None] = field(default_factory=dict[str, Run | None])
    counts: Counts | None = None

    def refuse(self, where: str, reason: str) -> None:
        if len(self.refused) < MAX_LISTED:
            self.refused.append(RefusedRecord(where=where, reason=reason))
        else:
            self.refused_more += 1


@dataclass(frozen=True, slots=True)
class Files:
    """Where handed-in files are: in `incoming` until they were read, or in the artifact store where a platform keeps its own."""

    artifacts: ArtifactStore
    incoming: IncomingStore | None = None

    @asynccontextmanager
    async def open(self, project: str, sha256: str) -> AsyncGenerator[BinaryIO]:
        """The file's bytes. Raises `ArtifactMissing` when it is in neither."""
        incoming = self.incoming is not None and await self.incoming.exists(project, sha256)
        store = self.incoming if incoming and self.incoming is not None else self.artifacts
        async with store.open_stream(project, sha256) as stream:
            yield stream

    async def discard(self, project: str, sha256: str) -> None:
        """The file was read: what it held stands in the journal, redacted."""
        if self.incoming is not None:
            await self.incoming.discard(project, sha256)


class Importing:
    """The import activity, with what it needs injected."""

    def __init__(
        self,
        journal: Journal,
        database: Database,
        files: Files,
        sealer: Sealer,
        limits: Limits,
        *,
        origin_key: bytes,
    ) -> None:
        self._journal = journal
        self._database = database
        self._files = files
        self._sealer = sealer
        self._limits = limits
        self._key = origin_key

    @implements(IMPORT_TRANSCRIPT)
    async def import_transcript(self, request: ImportInput) -> ImportAnswer:
        """Read the whole file and let go of it. Raises `ArtifactMissing` when its body is gone."""
        answer = await self._import(request)
        await self._files.discard(request.project, request.sha256)
        return answer

    async def _import(self, request: ImportInput) -> ImportAnswer:
        done = await stored.find(
            self._database, request.project, SOURCE, digest_id("import.completed", request.import_id)
        )
        if done is not None:
            return ImportAnswer.model_validate(done.event.data["answer"])
        async with self._files.open(request.project, request.sha256) as stream:
            head = await asyncio.to_thread(stream.read, HEAD_BYTES)
            stream.seek(0)
            reader = recognise(head)
            if isinstance(reader, NotATranscript):
                return ImportAnswer(
                    file=request.file, status=reader.verdict, format=None, project=request.project, reason=reader.reason
                )
            work = await self._begin(request)
            source = SourceFile(work.file, reader.format, reader.version)
            options = AssemblyOptions(request.project, request.requested_at, self._key, request.run)
            await self._take_all(work, assemble(source, reader.read(stream, self._limits), options))
        return await self._finish(work, reader.format)

    async def _begin(self, request: ImportInput) -> _Import:
        told = {"file": request.file, "sha256": request.sha256, "bytes": request.bytes}
        seen = _say(request, "ingest.file_seen", digest_id("file", request.sha256), told)
        begun = _say(
            request,
            "ingest.import_started",
            digest_id("import.started", request.import_id),
            {"import_id": request.import_id, **told},
        )
        receipt = await self._journal.append(request.project, (seen, begun))
        first = request.file
        if receipt.written[0].status != "recorded":
            known = await stored.find(self._database, request.project, SOURCE, seen.event_id)
            first = known.event.data["file"] if known else first
        return _Import(request, first, receipt.written[1].seq)

    async def _take_all(self, work: _Import, assembled: Iterator[Assembled]) -> None:
        """Read in a thread, append here: the file is parsed and redacted while the batch before it becomes durable."""
        reading = asyncio.create_task(asyncio.to_thread(_next_batch, assembled, self._sealer))
        try:
            while batch := await reading:
                reading = asyncio.create_task(asyncio.to_thread(_next_batch, assembled, self._sealer))
                await self._take(work, batch)
                tell_progress({"events": work.read, "runs": len(work.runs), "refused": len(work.refused)})
        finally:
            # a thread cannot be stopped: the file may be closed only after it has let go of it
            await asyncio.wait([reading])

    async def _take(self, work: _Import, batch: list[_Read]) -> None:
        await self._sealer.keep(
            work.request.project, (b for item in batch if isinstance(item, Clean) for b in item.bodies)
        )
        pending: list[Event] = []
        for item in batch:
            if isinstance(item, Clean):
                pending.append(await self._timed(work, item.event))
            elif isinstance(item, Refused):
                work.refuse(item.where, item.reason)
            elif isinstance(item, FileEnd):
                work.counts = item.counts
            else:
                await self._append(work, pending)
                pending = []
                await self._close(work, item)
        await self._append(work, pending)

    async def _timed(self, work: _Import, event: Event) -> Event:
        run = event.run or ""
        if run not in work.known:
            found = await states.load(self._database, event.project, RUNS, (run,))
            work.known[run] = found.get((run,))
        return runs.at_first_time(event, work.known[run], work.request.requested_at)

    async def _append(self, work: _Import, events: list[Event]) -> None:
        if not events:
            return
        ready: list[Prepared] = []
        for event in events:
            try:
                ready.append(prepare(event))
            except NotAdmitted as error:
                work.refuse(f"event {event.sequence} of run {event.run}", str(error))
        receipt = await self._journal.append(work.request.project, [item.event for item in ready], ready)
        work.read += len(events)
        for item in receipt.written:
            if item.status == "conflict":
                work.refuse(
                    f"event {item.event.sequence} of run {item.event.run}",
                    f"it is recorded as {item.seq} with other content; the recorded one stays",
                )

    async def _close(self, work: _Import, ending: RunClosing) -> None:
        result = await self._sealer.seal(
            Event(
                work.request.project,
                SOURCE,
                "-",
                "run.closed",
                ending.last_at,
                {"reason": ending.reason, "result": ending.result},
            )
        )
        closed = await runs.close(
            self._journal,
            runs.Closing(
                work.request.project,
                ending.run,
                ending.last_at,
                ending.outcome,
                result.data["reason"],
                result.data["result"],
                ending.time_basis,
            ),
        )
        work.runs = [run for run in work.runs if run.run != ending.run]
        work.runs.append(
            ImportedRun(
                run=ending.run,
                trajectory=closed.trajectory,
                events=ending.counts.events,
                added=0,
                tool_calls=ending.counts.tool_calls,
                outcome=closed.outcome,
            )
        )

    async def _finish(self, work: _Import, form: str) -> ImportAnswer:
        request, counts = work.request, work.counts or Counts()
        added = await stored.added_since(self._database, request.project, [run.run for run in work.runs], work.since)
        ended = [run.model_copy(update={"added": added.get(run.run, 0)}) for run in work.runs]
        copy = work.file != request.file
        status = "copy" if copy else ("imported" if ended else "refused")
        answer = ImportAnswer(
            file=request.file,
            status=status,
            format=form,
            project=request.project,
            runs=ended,
            events=counts.events,
            added=sum(added.values()),
            tool_calls=counts.tool_calls,
            tool_results=counts.tool_results,
            errors=counts.errors,
            unknown=counts.unknown,
            anomalies=sum(counts.anomalies.values()),
            refused=work.refused,
            refused_more=work.refused_more,
            first_at=counts.first,
            last_at=counts.last,
            reason=f"the same bytes came before as {work.file}"
            if copy
            else (None if ended else "no record of it could be read"),
            notes=[f"{name.replace('_', ' ')}: {count}" for name, count in sorted(counts.anomalies.items())],
            extractor=EXTRACTOR if request.extract and any(run.outcome in EXTRACTED for run in ended) else None,
        )
        told = {
            "import_id": request.import_id, "file": request.file, "sha256": request.sha256, "status": answer.status,
            "answer": answer.model_dump(mode="json"),
        }  # fmt: skip
        ending = _say(request, "ingest.import_completed", digest_id("import.completed", request.import_id), told)
        await self._journal.append(request.project, (ending,))
        return answer


def _say(request: ImportInput, kind: str, event_id: str, data: dict[str, object]) -> Event:
    return Event(request.project, SOURCE, event_id, kind, request.requested_at, data)


_Read = Clean | RunClosing | Refused | FileEnd


def _next_batch(assembled: Iterator[Assembled], sealer: Sealer) -> list[_Read]:
    return [_clean(item, sealer) if isinstance(item, Event) else item for item in islice(assembled, BATCH_EVENTS)]


def _clean(event: Event, sealer: Sealer) -> Clean | Refused:
    try:
        return sealer.clean(event)
    except MalformedMessage as error:
        return Refused(f"event {event.sequence} of run {event.run}", str(error))
