"""`Import`: one file's runs land in the journal, and each of them is followed by its extraction (DESIGN section 7).

An extraction that cannot be started is a note in the answer and never a failed import.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from temporalio import workflow
from temporalio.exceptions import ActivityError, FailureError

from domain.contracts.errors import TemporalityError
from domain.contracts.extraction import ExtractionInput
from domain.contracts.imports import CarriedImport, ImportAnswer, ImportedRun, ImportInput
from domain.contracts.names import IMPORT
from domain.contracts.starting import extraction_start, import_start, one_line
from domain.extraction.versions import EXTRACTED
from domain.ports.importing import IMPORT_TRANSCRIPT
from workflows.calls import call
from workflows.children import start_abandoned
from workflows.failures import DOMAIN_ERRORS, failure_of, why
from workflows.visible import quoted, show, show_state, tell

AT_ONCE: Final = 25
"""Extractions started together; their ends come back to this history too while it runs."""
PER_HISTORY: Final = 50
"""Runs after which a new history begins: up to eight events each."""


@workflow.defn(name=IMPORT, failure_exception_types=DOMAIN_ERRORS)
class Import:
    """Read the file, then let every run of it be extracted."""

    @workflow.run
    async def run(self, file: ImportInput) -> ImportAnswer:
        """The row of this file, durable and with its extractions started. Ends failed where reading failed."""
        show(import_start(file).attributes)
        carried = file.carried or CarriedImport(answer=await self._read(file), next=0)
        answer, first = carried.answer, carried.next
        if file.extract and answer.extractor is not None:
            show_state("extracting")
            for begin in range(first, min(first + PER_HISTORY, len(answer.runs)), AT_ONCE):
                tell(
                    f"{quoted(file.file)} is in the journal.", f"{begin} of {len(answer.runs)} extractions are started."
                )
                answer = await self._extract(file, answer, range(begin, min(begin + AT_ONCE, len(answer.runs))))
            if first + PER_HISTORY < len(answer.runs):
                carried = CarriedImport(answer=answer, next=first + PER_HISTORY)
                workflow.continue_as_new(file.model_copy(update={"carried": carried}))
        show_state(answer.status)
        tell(
            f"{quoted(file.file)}: {answer.status}, {len(answer.runs)} runs, {answer.added} new events.", answer.reason
        )
        return answer

    async def _read(self, file: ImportInput) -> ImportAnswer:
        tell(f"Reading {quoted(file.file)} ({file.bytes} bytes) into the journal.")
        try:
            return await call(IMPORT_TRANSCRIPT, file, summary=f"read {file.bytes} bytes into the journal")
        except ActivityError as error:
            show_state("failed")
            tell(f"{quoted(file.file)} could not be imported: {quoted(why(error)[1])}")
            raise failure_of(error) from error

    async def _extract(self, file: ImportInput, answer: ImportAnswer, places: Sequence[int]) -> ImportAnswer:
        """`answer` with the extractions of the runs at `places` started, or a note for each that could not be.

        What an operator cancelled is not extracted.
        """
        runs = list(answer.runs)
        places = [place for place in places if runs[place].outcome in EXTRACTED]
        ends = await asyncio.gather(*(_follow(_extraction(file, answer, runs[place])) for place in places))
        for place, end in zip(places, ends, strict=True):
            runs[place] = runs[place].model_copy(update={"extraction": end.extraction})
        notes = [*answer.notes, *(end.note for end in ends if end.note is not None)]
        return answer.model_copy(update={"runs": runs, "notes": notes})


@dataclass(frozen=True, slots=True)
class _End:
    """What came of one start: the extraction's workflow id, or the reason why there is none."""

    extraction: str | None = None
    note: str | None = None


async def _follow(extraction: ExtractionInput) -> _End:
    """Start one extraction; one that runs or has completed is as good."""
    try:
        start = extraction_start(extraction)
        await start_abandoned(start)
    except (TemporalityError, FailureError) as error:
        return _End(note=f"no extraction of run {one_line(extraction.run, 80)} was started: {error}")
    return _End(extraction=start.id)


def _extraction(file: ImportInput, answer: ImportAnswer, run: ImportedRun) -> ExtractionInput:
    return ExtractionInput(
        project=file.project, run=run.run, trajectory=run.trajectory, extractor=answer.extractor or ""
    )
