"""Import: the file's row, one extraction for each run, and small histories also for files of many runs."""

from datetime import UTC, datetime
from typing import Any

import pytest
from temporalio.client import WorkflowExecutionStatus, WorkflowFailureError, WorkflowHandle
from temporalio.exceptions import ApplicationError

from domain.contracts.errors import JournalUnavailable, UnreadableTranscript
from domain.contracts.ids import digest_id
from domain.contracts.imports import ImportAnswer, ImportInput
from domain.contracts.starting import import_start
from tests.workflows.world import World, events_of, eventually, histories_of

COMPLETED = WorkflowExecutionStatus.COMPLETED
AT = datetime(2026, 1, 2, tzinfo=UTC)


def asked(project: str, *, extract: bool = True, import_id: str = "i1") -> ImportInput:
    sha256 = digest_id(project, size=64)
    return ImportInput(
        project=project,
        file="session.jsonl",
        sha256=sha256,
        bytes=1000,
        requested_at=AT,
        import_id=import_id,
        extract=extract,
    )


async def result(handle: WorkflowHandle[Any, Any]) -> ImportAnswer:
    return ImportAnswer.model_validate(await handle.result())


async def test_every_run_of_a_file_is_extracted_though_the_import_has_ended(world: World, project: str) -> None:
    world.importing.plan[project] = 3
    handle = await world.start(import_start(asked(project)))
    answer = await result(handle)
    assert [run.extraction is not None for run in answer.runs] == [True] * 3 and answer.notes == []
    for run in answer.runs:
        extraction = world.client.get_workflow_handle(str(run.extraction))
        assert (await extraction.result())["trajectory"] == run.trajectory
        attributes = await world.attributes(extraction.id)
        assert attributes["TemporalityKind"] == "extraction" and attributes["TemporalityRun"] == run.run
    assert (await world.attributes(handle.id))["TemporalityState"] == "imported"


async def test_an_import_without_extraction_starts_none(world: World, project: str) -> None:
    handle = await world.start(import_start(asked(project, extract=False)))
    assert [run.extraction for run in (await result(handle)).runs] == [None]
    assert (await events_of(handle))["START_CHILD_WORKFLOW_EXECUTION_INITIATED"] == 0


async def test_the_same_file_again_finds_its_extractions_done(world: World, project: str) -> None:
    first = await result(await world.start(import_start(asked(project))))
    await world.client.get_workflow_handle(str(first.runs[0].extraction)).result()
    again = await result(await world.start(import_start(asked(project, import_id="i2"))))
    assert again.runs[0].extraction == first.runs[0].extraction and again.notes == []
    assert world.faults.calls["extraction.start", project] == 1


async def test_a_run_whose_extraction_cannot_start_is_a_note_and_no_failure(world: World, project: str) -> None:
    world.importing.plan[project] = 3
    world.importing.broken.add(project)
    answer = await result(await world.start(import_start(asked(project))))
    assert [run.extraction is not None for run in answer.runs] == [True, False, True]
    assert len(answer.notes) == 1 and "cannot be used" in answer.notes[0]


async def test_a_cancelled_run_is_not_extracted(world: World, project: str) -> None:
    world.importing.plan[project] = 3
    world.importing.cancelled.add(project)
    answer = await result(await world.start(import_start(asked(project))))
    assert [run.extraction is not None for run in answer.runs] == [True, False, True] and answer.notes == []


async def test_a_file_that_cannot_be_read_fails_the_import_with_the_reason(world: World, project: str) -> None:
    world.faults.fail("import.transcript", project, JournalUnavailable(), UnreadableTranscript("line 3 is cut"))
    handle = await world.start(import_start(asked(project)))
    with pytest.raises(WorkflowFailureError) as failure:
        await handle.result()
    assert isinstance(failure.value.cause, ApplicationError)
    assert failure.value.cause.type == "UnreadableTranscript" and "line 3 is cut" in str(failure.value.cause)
    assert (await world.attributes(handle.id))["TemporalityState"] == "failed"
    assert world.faults.calls["import.transcript", project] == 2


@pytest.mark.slow
async def test_more_than_a_hundred_runs_in_one_file_leave_no_large_history(world: World, project: str) -> None:
    world.importing.plan[project] = 110
    world.extracting.all_known.add(project)
    start = import_start(asked(project))
    handle = await world.start(start)
    answer = await result(handle)
    assert len({run.extraction for run in answer.runs}) == 110 and answer.notes == []
    sizes = [(await events_of(one)).total() for one in await histories_of(world.client, start.id)]
    assert len(sizes) == 3 and max(sizes) < 700
    print(f"110 runs in one file: histories of {sizes} events")
    assert world.faults.calls["import.transcript", project] == 1

    async def all_done() -> bool:
        done = f"TemporalityProject = '{project}' AND TemporalityKind = 'extraction' AND TemporalityState = 'completed'"
        return (await world.client.count_workflows(done)).count == 110

    await eventually(all_done, seconds=60)
