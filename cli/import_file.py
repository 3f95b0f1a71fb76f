"""One file from disk to its row: recognised by its content, kept by its hash, imported by a workflow, extracted from.

What is no transcript is never kept: its first bytes say so. A failed workflow is a row with its reason, and the other files go on.
"""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from temporalio.client import Client, WorkflowFailureError
from temporalio.common import Priority, WorkflowIDConflictPolicy, WorkflowIDReusePolicy
from temporalio.exceptions import ApplicationError
from temporalio.service import RPCError, RPCStatusCode
from uuid_utils import uuid7

from activities.importers.peek import HEAD_BYTES
from activities.importers.recognise import NotATranscript, recognise
from activities.postgres.reading.views import proposed_by
from cli.files import Found
from cli.outcome import StackUnreachable
from cli.session import Session
from cli.temporal_words import typed
from domain.contracts.errors import ArtifactsUnavailable
from domain.contracts.extraction import ExtractionAnswer
from domain.contracts.imports import ImportAnswer, ImportedRun, ImportInput
from domain.contracts.names import TASK_QUEUE
from domain.contracts.starting import import_start

CHUNK_BYTES = 1024 * 1024
EXTRACTIONS_AT_ONCE = 16
_MOMENTARY = (RPCStatusCode.UNAVAILABLE, RPCStatusCode.DEADLINE_EXCEEDED, RPCStatusCode.CANCELLED)


@dataclass(frozen=True, slots=True)
class Row:
    """What became of one file."""

    file: Found
    answer: ImportAnswer


@dataclass(slots=True)
class Importer:
    """Imports the files of one command."""

    session: Session
    client: Client
    run: str | None
    wait: bool
    # by sha256: the name these bytes were first seen under in this command
    seen: dict[str, str] = field(default_factory=dict[str, str])

    async def import_file(self, file: Found) -> Row:
        """The file's row. Raises `StackUnreachable` when a server stops answering."""
        return Row(file, await self._answer(file))

    async def _answer(self, file: Found) -> ImportAnswer:
        if file.refused is not None:
            return self._row(file, "refused", file.refused)
        try:
            reader = recognise(await asyncio.to_thread(_head, file.path))
            if isinstance(reader, NotATranscript):
                return self._row(file, reader.verdict, reader.reason)
            kept = await self.session.stores.incoming.put_stream(self.session.project, _chunks(file.path))
        except OSError as error:
            return self._row(file, "refused", f"the file cannot be read ({error.strerror})")
        except ArtifactsUnavailable as error:
            raise StackUnreachable(str(error)) from None
        first = self.seen.setdefault(kept.sha256, file.name)
        if first != file.name:
            return self._row(file, "copy", f"these bytes are {first}'s")
        asked = ImportInput(
            project=self.session.project, file=Path(file.name).name, sha256=kept.sha256, bytes=kept.bytes,
            requested_at=datetime.now(UTC), import_id=str(uuid7()), run=self.run,
        )  # fmt: skip
        answer = await self._import(file, asked)
        return (await self._extracted(answer) if self.wait else answer).model_copy(update={"file": file.name})

    async def _import(self, file: Found, asked: ImportInput) -> ImportAnswer:
        start = import_start(asked)
        try:
            handle = await self.client.start_workflow(
                start.workflow,
                start.input,
                id=start.id,
                task_queue=TASK_QUEUE,
                id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE,
                id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
                static_summary=start.summary,
                search_attributes=typed(start.attributes),
                priority=Priority(fairness_key=start.fairness_key),
                result_type=ImportAnswer,
            )
            return ImportAnswer.model_validate(await handle.result())
        except WorkflowFailureError as error:
            return self._row(file, "refused", _reason(error))
        except RPCError as error:
            raise StackUnreachable(
                f"Temporal does not answer any more ({error}); import again, nothing is lost."
            ) from None

    async def _extracted(self, answer: ImportAnswer) -> ImportAnswer:
        """The answer with the candidates of each run, when its extractions have ended."""
        gate = asyncio.Semaphore(EXTRACTIONS_AT_ONCE)
        notes: list[str] = []

        async def one(run: ImportedRun) -> ImportedRun:
            async with gate:
                count, note = await self._candidates(run)
            if note:
                notes.append(note)
            return run.model_copy(update={"candidates": count})

        runs = list(await asyncio.gather(*(one(run) for run in answer.runs)))
        counted = [run.candidates for run in runs if run.candidates is not None]
        total = sum(counted) if counted or not runs else None
        return answer.model_copy(update={"runs": runs, "candidates": total, "notes": [*answer.notes, *sorted(notes)]})

    async def _candidates(self, run: ImportedRun) -> tuple[int | None, str | None]:
        """How many candidates the run's extraction proposed; a note where it failed. A run without extraction has none."""
        if run.extraction is None:
            return await proposed_by(self.session.database, self.session.project, run.trajectory) or 0, None
        handle = self.client.get_workflow_handle(run.extraction, result_type=ExtractionAnswer)
        try:
            return (await handle.result()).proposed, None
        except WorkflowFailureError as error:
            return None, f"the extraction of run {run.run} failed ({_reason(error)}); it can be run again"
        except RPCError as error:
            if error.status in _MOMENTARY:
                raise StackUnreachable(f"Temporal does not answer any more ({error}); the import is durable.") from None
            # retention has passed: the journal remembers
            return await proposed_by(self.session.database, self.session.project, run.trajectory), None

    def _row(self, file: Found, status: str, reason: str) -> ImportAnswer:
        told = {"file": file.name, "status": status, "format": None, "project": self.session.project, "reason": reason}
        return ImportAnswer.model_validate(told)


def _head(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(HEAD_BYTES)


def _chunks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while chunk := file.read(CHUNK_BYTES):
            yield chunk


def _reason(error: WorkflowFailureError) -> str:
    """What the innermost failure says."""
    cause: BaseException = error
    while cause.__cause__ is not None:
        cause = cause.__cause__
    return cause.message if isinstance(cause, ApplicationError) else str(cause)
