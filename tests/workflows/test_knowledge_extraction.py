"""KnowledgeExtraction: three steps, one approval for each candidate, and failures that can be run again."""

from datetime import timedelta

import pytest
from temporalio.client import WorkflowExecutionStatus, WorkflowFailureError
from temporalio.exceptions import ApplicationError, CancelledError, WorkflowAlreadyStartedError

from domain.contracts.errors import ExtractionRefused, JournalUnavailable
from domain.contracts.extraction import ExtractionAnswer, ExtractionInput
from domain.contracts.names import approval_workflow_id
from domain.contracts.starting import extraction_start
from tests.workflows.fakes.extracting import key_of
from tests.workflows.world import World, events_of, eventually

RUNNING = WorkflowExecutionStatus.RUNNING


def asked(project: str, n: int = 1) -> ExtractionInput:
    return ExtractionInput(project=project, run="r1", trajectory="ab" * 32, extractor="rules/1", n=n)


async def result(handle: object) -> ExtractionAnswer:
    return ExtractionAnswer.model_validate(await handle.result())  # pyright: ignore[reportAttributeAccessIssue]


async def test_each_candidate_gets_an_approval_that_outlives_the_extraction(world: World, project: str) -> None:
    world.extracting.plan[project] = 3
    handle = await world.start(extraction_start(asked(project)))
    answer = await result(handle)
    assert answer.proposed == 3 and len(answer.approvals) == 3
    described = await handle.describe()
    deadlines = []
    for approval in answer.approvals:
        child = approval_workflow_id(project, approval)
        assert await world.status(child) is RUNNING
        attributes = await world.attributes(child)
        assert attributes["TemporalityKind"] == "approval" and attributes["TemporalityState"] == "pending"
        assert attributes["TemporalityRun"] == "r1" and attributes["TemporalityNode"].startswith("claim/v1/")
        deadlines.append(attributes["TemporalityDeadline"])
        await world.client.get_workflow_handle(child).terminate()
    assert len(set(deadlines)) == 1
    assert timedelta(days=7) <= deadlines[0] - described.start_time <= timedelta(days=7, minutes=1)
    assert (await world.attributes(handle.id))["TemporalityState"] == "completed"
    assert sum((await events_of(handle)).values()) < 50


async def test_an_extraction_that_proposes_nothing_starts_nothing(world: World, project: str) -> None:
    handle = await world.start(extraction_start(asked(project)))
    assert (await result(handle)).candidates_count == 0
    assert (await events_of(handle))["START_CHILD_WORKFLOW_EXECUTION_INITIATED"] == 0


async def test_a_completed_extraction_does_not_start_again(world: World, project: str) -> None:
    await (await world.start(extraction_start(asked(project)))).result()
    with pytest.raises(WorkflowAlreadyStartedError):
        await world.start(extraction_start(asked(project)))


async def test_what_completed_before_answers_the_same_and_its_approvals_are_started(world: World, project: str) -> None:
    world.extracting.plan[project] = 2
    first = await world.start(extraction_start(asked(project)))
    answer = await result(first)
    children = [approval_workflow_id(project, approval) for approval in answer.approvals]
    await world.client.get_workflow_handle(children[0]).terminate()
    again = await world.client.start_workflow(
        "KnowledgeExtraction", asked(project), id=f"{first.id}/asked-again", task_queue=world.task_queue
    )
    assert await result(again) == answer
    assert world.faults.calls["extraction.admit", project] == 1
    assert await world.status(children[1]) is RUNNING
    await world.client.get_workflow_handle(children[1]).terminate()


@pytest.mark.parametrize("step", ["start", "propose", "admit"])
async def test_a_failure_is_recorded_and_the_next_one_may_run(world: World, project: str, step: str) -> None:
    world.faults.fail(f"extraction.{step}", project, ExtractionRefused("the context is empty"))
    handle = await world.start(extraction_start(asked(project)))
    with pytest.raises(WorkflowFailureError) as failure:
        await handle.result()
    assert isinstance(failure.value.cause, ApplicationError)
    assert failure.value.cause.type == "ExtractionRefused" and "the context is empty" in str(failure.value.cause)
    recorded = world.extracting.failed[key_of(asked(project))]
    assert recorded.reason_code == "ExtractionRefused" and "the context is empty" in recorded.reason
    assert (recorded.extraction_id is None) == (step == "start")
    assert (await world.attributes(handle.id))["TemporalityState"] == "failed"

    world.extracting.failed.clear()
    again = await world.start(extraction_start(asked(project)))
    assert (await result(again)).run == "r1", "an id that ended failed may start again"
    assert again.result_run_id != handle.result_run_id


async def test_a_failure_that_cannot_be_recorded_says_both_reasons(world: World, project: str) -> None:
    world.faults.fail("extraction.propose", project, ExtractionRefused("no provider"))
    world.faults.fail("extraction.fail", project, ExtractionRefused("no such trajectory"))
    handle = await world.start(extraction_start(asked(project)))
    with pytest.raises(WorkflowFailureError) as failure:
        await handle.result()
    assert "no provider" in str(failure.value.cause) and "no such trajectory" in str(failure.value.cause)


async def test_what_may_pass_is_tried_again(world: World, project: str) -> None:
    world.faults.fail("extraction.admit", project, JournalUnavailable())
    handle = await world.start(extraction_start(asked(project)))
    assert (await result(handle)).run == "r1"
    assert world.faults.calls["extraction.admit", project] == 2


async def test_a_cancelled_extraction_is_recorded_as_failed_and_may_start_again(world: World, project: str) -> None:
    held = world.faults.hold("extraction.propose", project)
    handle = await world.start(extraction_start(asked(project)))

    async def proposing() -> bool:
        return world.faults.calls["extraction.propose", project] == 1

    await eventually(proposing)
    await handle.cancel()
    with pytest.raises(WorkflowFailureError) as failure:
        await handle.result()
    held.set()
    assert isinstance(failure.value.cause, CancelledError)
    assert world.extracting.failed[key_of(asked(project))].reason_code == "cancelled"
    again = await world.start(extraction_start(asked(project, n=2)))
    assert (await result(again)).n == 2 and again.id == f"{handle.id}/2"
