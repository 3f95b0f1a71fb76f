"""ObservedRun: batches in, one close, and the extraction that follows."""

import asyncio
import gc
from typing import Any

import pytest
from temporalio.client import WorkflowExecutionStatus, WorkflowFailureError, WorkflowUpdateFailedError
from temporalio.exceptions import ApplicationError, CancelledError, WorkflowAlreadyStartedError

from domain.contracts.errors import EventConflict, ExtractionRefused, JournalUnavailable
from domain.contracts.names import extraction_workflow_id
from tests.workflows.runs import Handle, batch, complete, event, open_run, progress, record
from tests.workflows.world import World, details_of, eventually


async def refused(waiting: Any) -> ApplicationError:
    with pytest.raises(WorkflowUpdateFailedError) as failure:
        await waiting
    assert isinstance(failure.value.cause, ApplicationError)
    return failure.value.cause


async def test_a_run_is_recorded_closed_and_extracted(world: World, project: str) -> None:
    handle = await open_run(world, project)
    answer = await record(handle, batch(0, 3))
    assert (answer.recorded, answer.duplicates, answer.refused) == (3, 0, 0)
    assert [one.seq for one in answer.events] == [1, 2, 3]
    closed = await complete(handle, {"outcome": "failed", "reason": "the tests are red"})
    assert closed.outcome == "failed"
    assert closed.extraction == extraction_workflow_id(project, closed.trajectory, "fake/1")
    assert await handle.result() == closed.model_dump(mode="json")
    extracted = await world.client.get_workflow_handle(str(closed.extraction)).result()
    assert extracted["trajectory"] == closed.trajectory
    assert await world.attributes(handle.id) == {
        "TemporalityProject": project,
        "TemporalityKind": "run",
        "TemporalityRun": "r1",
        "TemporalityState": "failed",
    }


async def test_each_event_is_answered_and_the_rest_recorded(world: World, project: str) -> None:
    handle = await open_run(world, project)
    sent = {"events": [event(0), None, "tool.started", [event(1)], {"event_id": 7}, event(0), event(2)]}
    answer = await record(handle, sent)
    assert [one.status for one in answer.events] == [
        "recorded", "refused", "refused", "refused", "refused", "duplicate", "recorded"
    ]  # fmt: skip
    assert [one.index for one in answer.events if one.reason] == [1, 2, 3, 4]
    assert (await record(handle, sent)).duplicates == 3, "the same batch again"
    assert (await progress(handle)).last_refusal


@pytest.fixture(scope="session")
async def shared(world: World) -> Handle:
    """A run that what is refused at the door leaves untouched."""
    return await open_run(world, "shared-run")


@pytest.mark.parametrize(
    "sent", [None, "events", [event(0)], {"event": []}, {"events": "e"}, {"events": None}, 3], ids=str
)
async def test_what_is_no_batch_gets_a_sentence(shared: Handle, sent: Any) -> None:
    error = await refused(record(shared, sent))
    assert error.type == "MalformedMessage" and "`record`" in error.message and "RecordBatch.json" in error.message


async def test_what_is_over_the_limit_gets_a_sentence_that_names_the_client(shared: Handle) -> None:
    for sent in ({"events": [event(0, text="x" * 50_000)]}, {"events": [{}] * 501}, "x" * 60_000):
        error = await refused(record(shared, sent))
        assert error.type == "PayloadTooLarge" and "temporality-client" in error.message


async def test_no_argument_and_two_get_a_sentence(shared: Handle) -> None:
    for name in ("record", "complete"):
        for arguments in ([], [batch(0, 1), 2]):
            error = await refused(shared.execute_update(name, args=arguments))
            assert "takes one JSON object" in error.message


@pytest.mark.parametrize("sent", [None, "completed", {"outcome": "won"}, {"result": 3}], ids=str)
async def test_a_malformed_completion_gets_a_sentence_and_closes_nothing(shared: Handle, sent: Any) -> None:
    error = await refused(complete(shared, sent))
    assert error.type == "MalformedMessage" and "`complete`" in error.message
    assert (await progress(shared)).state == "open"


async def test_signals_record_and_what_is_wrong_with_them_is_kept(world: World, project: str) -> None:
    handle = await open_run(world, project)
    wrong = [None, "x", [1, 2], {"events": "e"}, {"events": [event(0, text="y" * 60_000)]}]
    for sent in wrong:
        await handle.signal("record", sent)
    await handle.signal("record", args=[])
    await handle.signal("record", args=[batch(0, 1), batch(1, 2)])
    await handle.signal("record", b"\x00\xff")
    await handle.signal("complete", "done")
    await handle.signal("record", batch(0, 2))
    events = world.recording.run(project, "r1").events

    async def all_there() -> bool:
        return len(events) == 2 + len(wrong) + 4

    await eventually(all_there)
    kept = [one for one in events.values() if one["type"] == "source.unknown"]
    assert [one["data"]["native_type"] for one in kept].count("signal record") == len(wrong) + 3
    assert all(one["data"]["reason"] for one in kept)
    assert [None] in [one["data"]["record"] for one in kept]
    assert len(str(kept[4]["data"]["record"])) < 10_000, "kept short: histories stay small"
    details = await details_of(handle)
    assert f"{len(wrong) + 4} refused" in details and "The last refusal" in details
    assert (await progress(handle)).state == "open"
    assert (await complete(handle)).outcome == "completed"


async def test_signals_alone_drive_a_run(world: World, project: str) -> None:
    handle = await open_run(world, project)
    for number in range(5):
        await handle.signal("record", batch(number, number + 1))
    await handle.signal("complete", {"outcome": "completed"})
    await handle.result()
    assert list(world.recording.run(project, "r1").events) == [f"e{n}" for n in range(5)], "in the order they came"


async def test_completing_twice_gives_the_same_answer(world: World, project: str) -> None:
    handle = await open_run(world, project)
    held = world.faults.hold("journal.close_run", project)
    racing = [asyncio.create_task(complete(handle, {"outcome": o})) for o in ("completed", "failed", "completed")]

    async def closing() -> bool:
        return world.faults.calls["journal.close_run", project] > 0

    await eventually(closing)
    assert (await progress(handle)).state == "closing"
    held.set()
    first, *others = await asyncio.gather(*racing)
    assert others == [first, first]
    assert len(world.recording.run(project, "r1").closes) == 1


async def test_a_late_batch_is_refused_and_what_was_under_way_is_not(world: World, project: str) -> None:
    handle = await open_run(world, project)
    record_held, close_held = (world.faults.hold(n, project) for n in ("journal.record", "journal.close_run"))
    early = asyncio.create_task(record(handle, batch(0, 1)))

    async def recording() -> bool:
        return world.faults.calls["journal.record", project] > 0

    await eventually(recording)
    completing = asyncio.create_task(complete(handle))

    async def closing() -> bool:
        return (await progress(handle)).state == "closing"

    await eventually(closing)
    error = await refused(record(handle, batch(1, 2)))
    assert error.type == "RunClosed" and "r1" in error.message
    await handle.signal("record", batch(2, 3))
    assert world.faults.calls["journal.close_run", project] == 0, "it closes after what was taken in"
    record_held.set()
    assert (await early).recorded == 1
    close_held.set()
    await completing
    assert list(world.recording.run(project, "r1").events) == ["e0"]


@pytest.mark.filterwarnings("ignore:coroutine .*run_workflow.* was never awaited:RuntimeWarning")
async def test_a_run_never_starts_twice_and_only_under_its_id(world: World, project: str) -> None:
    handle = await open_run(world, project)
    with pytest.raises(WorkflowAlreadyStartedError):
        await open_run(world, project)
    await complete(handle)
    with pytest.raises(WorkflowAlreadyStartedError):
        await open_run(world, project)
    for workflow_id, sent in ((f"mine/{project}", {"project": project, "run": "r1"}), (f"run/{project}/x", {"run": 1})):
        other = await world.client.start_workflow("ObservedRun", sent, id=workflow_id, task_queue=world.task_queue)
        with pytest.raises(WorkflowFailureError) as failure:
            await other.result()
        assert isinstance(failure.value.cause, ApplicationError) and failure.value.cause.type == "MalformedMessage"
    gc.collect()  # the SDK drops a workflow that its input never let begin, and says so


async def test_an_operator_may_cancel_it(world: World, project: str) -> None:
    handle = await open_run(world, project)
    await record(handle, batch(0, 1))
    await handle.cancel()
    with pytest.raises(WorkflowFailureError) as failure:
        await handle.result()
    assert isinstance(failure.value.cause, CancelledError)
    closed = world.recording.run(project, "r1").closed
    assert closed is not None and closed.outcome == "cancelled"
    assert await world.status(extraction_workflow_id(project, closed.trajectory, "fake/1")) is None


async def test_a_cancellation_during_the_close_comes_too_late(world: World, project: str) -> None:
    handle = await open_run(world, project)
    held = world.faults.hold("journal.close_run", project)
    completing = asyncio.create_task(complete(handle))

    async def closing() -> bool:
        return world.faults.calls["journal.close_run", project] > 0

    await eventually(closing)
    await handle.cancel()
    await asyncio.sleep(0.2)
    held.set()
    closed = await completing
    assert closed.outcome == "completed" and closed.extraction is not None
    assert await world.status(closed.extraction) is not None
    assert (await handle.result())["outcome"] == "completed"


async def test_many_runs_each_leave_an_extraction_that_started(world: World, project: str) -> None:
    world.extracting.all_known.add(project)
    handles = [await open_run(world, project, f"r{number}") for number in range(25)]
    closed = await asyncio.gather(*(complete(handle) for handle in handles))
    await asyncio.gather(*(handle.result() for handle in handles))
    started = [await world.status(str(one.extraction)) for one in closed]
    assert len({one.extraction for one in closed}) == 25
    assert all(status in (WorkflowExecutionStatus.RUNNING, WorkflowExecutionStatus.COMPLETED) for status in started)


async def test_what_the_journal_refuses_reaches_the_caller_and_the_run_goes_on(world: World, project: str) -> None:
    handle = await open_run(world, project)
    world.faults.fail("journal.record", project, EventConflict("e0"))
    assert (await refused(record(handle, batch(0, 1)))).type == "EventConflict"
    world.faults.fail("journal.close_run", project, EventConflict("e1"))
    assert (await refused(complete(handle))).type == "EventConflict"
    assert (await progress(handle)).state == "open"
    assert "could not be closed" in await details_of(handle)
    world.faults.fail("journal.record", project, JournalUnavailable())
    assert (await record(handle, batch(0, 1))).recorded == 1
    assert (await complete(handle)).outcome == "completed"


async def test_a_failed_extraction_leaves_the_run_completed(world: World, project: str) -> None:
    world.faults.fail("extraction.propose", project, ExtractionRefused("no provider"))
    handle = await open_run(world, project)
    closed = await complete(handle)
    with pytest.raises(WorkflowFailureError):
        await world.client.get_workflow_handle(str(closed.extraction)).result()
    assert (await handle.describe()).status is WorkflowExecutionStatus.COMPLETED
    assert (await world.attributes(str(closed.extraction)))["TemporalityState"] == "failed"


async def test_no_extraction_where_none_is_wanted(world: World, project: str) -> None:
    handle = await open_run(world, project, extract=False)
    assert (await complete(handle)).extraction is None
