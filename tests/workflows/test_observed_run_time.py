"""ObservedRun over time: idle runs, workers that are down, and histories that start anew under load."""

import asyncio
import itertools
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from temporalio.client import WorkflowUpdateFailedError
from temporalio.exceptions import ApplicationError
from temporalio.service import RPCError, RPCStatusCode
from temporalio.testing import WorkflowEnvironment

from domain.contracts.observed_run import Carried, RecordAnswer
from tests.workflows.runs import Handle, batch, complete, open_run, progress, record
from tests.workflows.world import World, events_of, eventually, histories_of

HOUR = 3600
AGAIN = ("RollingOver", "AcceptedUpdateCompletedWorkflow")


async def deliver(handle: Handle, sent: Any, update_id: str) -> RecordAnswer:
    """Send as `temporality-client` does: the same batch with the same update id until it is acknowledged."""
    for _ in range(200):
        try:
            return RecordAnswer.model_validate(await handle.execute_update("record", sent, id=update_id))
        except WorkflowUpdateFailedError as error:
            if not isinstance(error.cause, ApplicationError) or error.cause.type not in AGAIN:
                raise
        except RPCError as error:
            if error.status not in (RPCStatusCode.NOT_FOUND, RPCStatusCode.FAILED_PRECONDITION):
                raise
        await asyncio.sleep(0.05)
    raise AssertionError(f"{update_id} was never acknowledged")


async def test_an_idle_run_is_abandoned_and_still_extracted(
    env: WorkflowEnvironment, world: World, project: str
) -> None:
    handle = await open_run(world, project, idle_seconds=HOUR)
    await record(handle, batch(0, 2))
    assert await env.fast_forward(handle, timedelta(seconds=HOUR - 60))
    await record(handle, batch(2, 3))
    assert await env.fast_forward(handle, timedelta(seconds=HOUR - 60)), "a batch makes the period start anew"
    assert (await progress(handle)).state == "open"
    assert not await env.fast_forward(handle, timedelta(seconds=120))
    answer = await handle.result()
    assert answer["outcome"] == "abandoned" and answer["extraction"]
    assert (await world.attributes(handle.id))["TemporalityState"] == "abandoned"


async def test_the_idle_period_goes_on_through_a_new_history(
    env: WorkflowEnvironment, world: World, project: str
) -> None:
    last = datetime.now(UTC) - timedelta(seconds=HOUR - 600)
    carried = Carried(batches=7, recorded=70, opened_at=last, last_activity_at=last)
    handle = await open_run(world, project, idle_seconds=HOUR, carried=carried)
    assert (await progress(handle)).recorded == 70
    assert await env.fast_forward(handle, timedelta(seconds=500))
    assert (await progress(handle)).state == "open"
    assert not await env.fast_forward(handle, timedelta(seconds=200))
    assert (await handle.result())["outcome"] == "abandoned"
    assert world.recording.run(project, "r1").closes[0].opening.at == last


async def test_a_worker_that_is_down_does_not_prolong_an_idle_run(env: WorkflowEnvironment, project: str) -> None:
    world = World(env)
    silent = await open_run(world, project, "silent", idle_seconds=HOUR)
    spoken = await open_run(world, project, "spoken", idle_seconds=HOUR)
    async with world.worker(cached=0):
        for handle in (silent, spoken):
            assert (await progress(handle)).state == "open"
    for handle in (silent, spoken):
        assert await env.fast_forward(handle, timedelta(seconds=HOUR + 0.5))
    await spoken.signal("record", batch(0, 1))
    async with world.worker():
        assert (await silent.result())["outcome"] == "abandoned"
        assert (await progress(spoken)).recorded == 1, "what came while the worker was down is no silence"
        assert (await progress(spoken)).state == "open"
        await complete(spoken)


async def test_a_first_task_that_comes_late_finds_the_run_abandoned(env: WorkflowEnvironment, project: str) -> None:
    world = World(env)
    silent = await open_run(world, project, "silent", idle_seconds=1)
    spoken = await open_run(world, project, "spoken", idle_seconds=1)
    await spoken.signal("record", batch(0, 1))
    await asyncio.sleep(1.5)
    async with world.worker():
        assert (await silent.result())["outcome"] == "abandoned"
        await spoken.result()
    closes = world.recording.run(project, "silent").closes
    assert closes[0].opening.at < closes[0].at - timedelta(seconds=1), "opened when it was started"
    assert list(world.recording.run(project, "spoken").events) == ["e0"]


async def test_a_new_history_takes_everything_along(world: World, project: str) -> None:
    handle = await open_run(world, project, history_events=20)
    for number in range(6):
        await deliver(handle, batch(number, number + 1), f"u{number}")
    await handle.signal("record", None)
    closed = await complete(handle, {"outcome": "budget_exhausted"})
    assert closed.outcome == "budget_exhausted"
    seen = await progress(handle)
    assert (seen.batches, seen.recorded, seen.refused) == (7, 7, 1) and seen.last_refusal
    chain = await histories_of(world.client, handle.id)
    assert len(chain) >= 3
    journal = world.recording.run(project, "r1")
    assert len({opening.at for opening in journal.openings}) == 1, "the run was opened once"
    assert (await world.attributes(handle.id))["TemporalityState"] == "budget_exhausted"


async def test_signals_that_come_during_a_roll_over_are_recorded_once(world: World, project: str) -> None:
    handle = await open_run(world, project, history_events=20)
    for number in range(30):
        await handle.signal("record", batch(number, number + 1))
    await handle.signal("complete", {})
    await handle.result()
    assert list(world.recording.run(project, "r1").events) == [f"e{n}" for n in range(30)]
    assert (await progress(handle)).recorded == 30
    assert len(await histories_of(world.client, handle.id)) >= 2


async def test_a_completion_during_a_roll_over_closes_the_run(world: World, project: str) -> None:
    handle = await open_run(world, project, history_events=20)
    held = world.faults.hold("journal.record", project)
    waiting = [asyncio.create_task(deliver(handle, batch(n, n + 1), f"u{n}")) for n in range(8)]

    async def rolling_over() -> bool:
        await handle.signal("record", {"events": []})  # a task, in which the history's length is seen
        return (await progress(handle)).state == "rolling_over"

    await eventually(rolling_over)
    with pytest.raises(WorkflowUpdateFailedError) as refused:
        await record(handle, batch(9, 10))
    assert isinstance(refused.value.cause, ApplicationError) and refused.value.cause.type == "RollingOver"
    completing = asyncio.create_task(complete(handle))
    await asyncio.sleep(0.2)
    held.set()
    assert (await completing).outcome == "completed"
    await asyncio.gather(*waiting)
    assert len(world.recording.run(project, "r1").events) == 8
    assert len(await histories_of(world.client, handle.id)) == 1


@pytest.mark.slow
async def test_five_thousand_events_under_steady_load_leave_small_histories(world: World, project: str) -> None:
    handle = await open_run(world, project)
    numbers = itertools.count()
    answers: list[RecordAnswer] = []

    async def feed() -> None:
        while (number := next(numbers)) < 250:
            sent = batch(number * 20, number * 20 + 20, text="x" * 100)
            answers.append(await deliver(handle, sent, f"u{number}"))

    await asyncio.gather(*(feed() for _ in range(8)))
    await complete(handle)
    events = world.recording.run(project, "r1").events
    assert len(events) == 5_000 and sum(answer.recorded for answer in answers) == 5_000
    assert (await progress(handle)).recorded == 5_000
    sizes = [(await events_of(one)).total() for one in await histories_of(world.client, handle.id)]
    print(f"5,000 events in 250 batches: histories of {sizes} events")
    assert len(sizes) >= 2 and max(sizes) < 700


async def test_large_batches_leave_no_history_over_a_megabyte(world: World, project: str) -> None:
    handle = await open_run(world, project)
    sent = [batch(n * 10, n * 10 + 10, text="x" * 4_800) for n in range(16)]
    await asyncio.gather(*(deliver(handle, one, f"u{n}") for n, one in enumerate(sent)))
    assert (await complete(handle)).outcome == "completed"
    assert len(world.recording.run(project, "r1").events) == 160
    described = [await one.describe() for one in await histories_of(world.client, handle.id)]
    sizes = [one.raw_description.workflow_execution_info.history_size_bytes for one in described]
    assert len(sizes) >= 2 and max(sizes) <= 1_000_000
