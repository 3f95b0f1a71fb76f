"""Approval: who decides, what counts, and what the deadline does, on a server that skips time."""

import asyncio
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from temporalio.client import WithStartWorkflowOperation, WorkflowHandle, WorkflowUpdateFailedError
from temporalio.common import WorkflowIDConflictPolicy
from temporalio.exceptions import ApplicationError, WorkflowAlreadyStartedError
from temporalio.testing import WorkflowEnvironment

from domain.contracts.approval import CRITICAL_SECONDS, ROUTINE_SECONDS, ApprovalInput, ApprovalView, DecisionAnswer
from domain.contracts.errors import NotFound
from domain.contracts.starting import approval_start
from tests.workflows.world import World, details_of, events_of, eventually

Handle = WorkflowHandle[Any, Any]
ANNA, OLGA, AGENT = "human:example.org:anna", "human:example.org:olga", "agent:example.org:a1"


def decision(
    verdict: str = "approve", actor: str = ANNA, decision_id: str | None = None, **other: Any
) -> dict[str, Any]:
    return {"decision": verdict, "actor": actor, "decision_id": decision_id or uuid.uuid4().hex, **other}


async def open_approval(
    world: World, project: str, seconds: float = ROUTINE_SECONDS, *, known: bool = True, **other: Any
) -> Handle:
    asked = ApprovalInput(
        project=project,
        approval="a1",
        deadline=datetime.now(UTC) + timedelta(seconds=seconds),
        title="the cache is stale",
        proposed_by_run="r1",
        **other,
    )
    if known:
        world.approving.request(asked)
    return await world.start(approval_start(asked))


async def decide(handle: Handle, sent: Any) -> DecisionAnswer:
    return DecisionAnswer.model_validate(await handle.execute_update("decide", sent))


async def ended(handle: Handle) -> DecisionAnswer:
    return DecisionAnswer.model_validate(await handle.result())


async def state(handle: Handle) -> ApprovalView:
    return ApprovalView.model_validate(await handle.query("state"))


def refusals(world: World, project: str) -> list[str]:
    return [refused.reason_code for refused in world.approving.rows[project, "a1"].refused]


@pytest.mark.parametrize(("verdict", "outcome"), [("approve", "approved"), ("reject", "rejected")])
async def test_a_decision_is_answered_with_what_the_transaction_decided(
    world: World, project: str, verdict: str, outcome: str
) -> None:
    handle = await open_approval(world, project)
    assert (await state(handle)).state == "pending"
    answer = await decide(handle, decision(verdict))
    assert answer.effective and answer.state == outcome and answer.reviewer == ANNA
    assert await ended(handle) == answer
    assert (await world.attributes(handle.id))["TemporalityState"] == outcome


async def test_an_edit_approves_with_another_text(world: World, project: str) -> None:
    handle = await open_approval(world, project)
    with pytest.raises(WorkflowUpdateFailedError) as refused:
        await decide(handle, decision("edit"))
    assert "replacement" in str(refused.value.cause)
    assert (await decide(handle, decision("edit", replacement="the cache is cold"))).state == "approved"
    decided = world.approving.rows[project, "a1"].decided
    assert decided is not None and decided.replacement == "the cache is cold"


@pytest.mark.parametrize("seconds", [ROUTINE_SECONDS, CRITICAL_SECONDS])
async def test_it_expires_at_its_deadline_and_not_before(
    env: WorkflowEnvironment, world: World, project: str, seconds: int
) -> None:
    handle = await open_approval(world, project, seconds)
    assert await env.fast_forward(handle, timedelta(seconds=seconds - 60))
    assert (await state(handle)).state == "pending"
    assert not await env.fast_forward(handle, timedelta(seconds=120)), "it ends on the way"
    assert (await ended(handle)).state == "expired"
    assert world.approving.rows[project, "a1"].state == "expired"
    assert (await world.attributes(handle.id))["TemporalityState"] == "expired"


async def test_a_decision_in_the_last_minute_counts(env: WorkflowEnvironment, world: World, project: str) -> None:
    handle = await open_approval(world, project, CRITICAL_SECONDS)
    assert await env.fast_forward(handle, timedelta(seconds=CRITICAL_SECONDS - 60))
    assert (await decide(handle, decision())).effective
    assert (await ended(handle)).state == "approved"


@pytest.mark.parametrize(("how", "seconds"), [("update", 65), ("signal", 61)])
async def test_a_decision_that_is_slightly_late_has_no_effect(
    env: WorkflowEnvironment, project: str, how: str, seconds: int
) -> None:
    """The worker is down across the deadline: 65 s pass against 60, and the decision waits for the worker too."""
    world = World(env)
    handle = await open_approval(world, project, 60)
    async with world.worker(cached=0):
        await state(handle)
    # Without a worker the server's clock goes on; the timer and the decision are delivered together.
    assert await env.fast_forward(handle, timedelta(seconds=seconds))
    late = decision(decision_id="late")
    if how == "update":
        waiting = asyncio.create_task(decide(handle, late))
        await asyncio.sleep(0.5)
        async with world.worker():
            answer = await waiting
            assert not answer.effective and answer.reason_code == "expired" and answer.state == "expired"
            assert (await ended(handle)).state == "expired"
    else:
        await handle.signal("decide", late)
        async with world.worker():
            assert (await ended(handle)).state == "expired"
    assert refusals(world, project) == ["expired"]
    assert world.faults.calls["approval.decide", project] == 0


async def test_the_first_task_after_the_deadline_expires_it(env: WorkflowEnvironment, project: str) -> None:
    world = World(env)
    handle = await open_approval(world, project, -5)
    await handle.signal("decide", decision())
    async with world.worker():
        assert (await ended(handle)).state == "expired"
    assert refusals(world, project) == ["expired"]


async def test_a_decision_before_the_first_task_counts(env: WorkflowEnvironment, project: str) -> None:
    world = World(env)
    handle = await open_approval(world, project)
    await handle.signal("decide", decision("reject"))
    async with world.worker():
        assert (await ended(handle)).state == "rejected"


async def test_an_update_may_come_with_the_start(world: World, project: str) -> None:
    asked = ApprovalInput(project=project, approval="a1", deadline=datetime.now(UTC) + timedelta(days=1))
    world.approving.request(asked)
    start = approval_start(asked)
    operation = WithStartWorkflowOperation(
        start.workflow,
        asked,
        id=start.id,
        task_queue=world.task_queue,
        id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
    )
    with world.env.with_time_skipping_disabled():
        answer = await world.client.execute_update_with_start_workflow(
            "decide", decision(), start_workflow_operation=operation
        )
    assert answer["effective"]


async def test_of_three_racing_decisions_one_wins(world: World, project: str) -> None:
    handle = await open_approval(world, project)
    held = world.faults.hold("approval.decide", project)
    racing = [asyncio.create_task(decide(handle, decision(v, a))) for v, a in _THREE]

    async def deciding() -> bool:
        return (await state(handle)).deciding

    await eventually(deciding)
    held.set()
    answers = await asyncio.gather(*racing)
    assert [answer.effective for answer in answers].count(True) == 1
    winner = next(answer for answer in answers if answer.effective)
    assert {answer.state for answer in answers} == {winner.state}
    assert {answer.reason_code for answer in answers if not answer.effective} == {"already_decided"}
    assert refusals(world, project) == ["already_decided"] * 2
    assert await ended(handle) == winner


_THREE = (("approve", ANNA), ("reject", OLGA), ("approve", "service:example.org:ci"))


async def test_the_same_decision_again_gets_the_original_answer(world: World, project: str) -> None:
    handle = await open_approval(world, project)
    held = world.faults.hold("approval.decide", project)
    same = decision(decision_id="d1")
    racing = [asyncio.create_task(decide(handle, same)) for _ in range(2)]
    await asyncio.sleep(0.3)
    held.set()
    first, second = await asyncio.gather(*racing)
    assert first == second and first.effective
    assert world.faults.calls["approval.decide", project] == 1 and refusals(world, project) == []


async def test_a_decision_in_flight_at_the_deadline_is_judged_by_the_transaction(
    env: WorkflowEnvironment, world: World, project: str
) -> None:
    handle = await open_approval(world, project, 1.5)
    held = world.faults.hold("approval.decide", project)
    taken = asyncio.create_task(decide(handle, decision()))
    await asyncio.sleep(2)
    assert (await state(handle)).state == "pending", "the timer has fired and waits for the transaction"
    held.set()
    assert (await taken).effective
    assert (await ended(handle)).state == "approved"
    assert world.faults.calls["approval.expire", project] == 0


MALFORMED: list[Any] = [
    None,
    "approve",
    ["approve"],
    {"decision": "approve"},
    decision("maybe"),
    decision(actor="x" * 300),
    decision(when="now"),
]


@pytest.mark.parametrize("sent", MALFORMED, ids=lambda sent: str(sent)[:30])
async def test_a_malformed_update_gets_a_sentence(shared: Handle, sent: Any) -> None:
    with pytest.raises(WorkflowUpdateFailedError) as refused:
        await decide(shared, sent)
    assert isinstance(refused.value.cause, ApplicationError) and refused.value.cause.type == "MalformedMessage"
    assert "`decide`" in str(refused.value.cause) and "docs/contracts" in str(refused.value.cause)


@pytest.mark.parametrize("actor", [AGENT, "anna", ""])
async def test_who_may_not_decide_is_told_so(shared: Handle, actor: str) -> None:
    with pytest.raises(WorkflowUpdateFailedError) as refused:
        await decide(shared, decision(actor=actor))
    assert isinstance(refused.value.cause, ApplicationError) and refused.value.cause.type == "NotPermitted"


@pytest.fixture(scope="session")
async def shared(world: World) -> Handle:
    """An approval that nobody decides: what is refused at the door leaves no trace in it."""
    return await open_approval(world, "shared-approval")


async def test_several_arguments_and_none_are_refused(shared: Handle) -> None:
    for arguments in ([], [decision(), decision()]):
        with pytest.raises(WorkflowUpdateFailedError) as refused:
            await shared.execute_update("decide", args=arguments)
        assert "takes one JSON object" in str(refused.value.cause)


async def test_what_a_signal_got_wrong_is_recorded_and_shown(world: World, project: str) -> None:
    handle = await open_approval(world, project)
    for sent in [*MALFORMED, decision(actor=AGENT, decision_id="stolen")]:
        await handle.signal("decide", sent)
    await handle.signal("decide", args=[])
    await handle.signal("decide", args=[decision(), 2])

    async def all_recorded() -> bool:
        return len(refusals(world, project)) == len(MALFORMED) + 3

    await eventually(all_recorded)
    assert sorted(set(refusals(world, project))) == ["malformed", "not_permitted"]
    assert (await state(handle)).refused == len(MALFORMED) + 3
    details = await details_of(handle)
    assert f"{len(MALFORMED) + 3} decisions were refused" in details and "The last refusal" in details
    assert (await decide(handle, decision(decision_id="stolen"))).effective, "and the approval goes on"


async def test_a_decision_that_cannot_be_carried_out_leaves_it_decidable(world: World, project: str) -> None:
    handle = await open_approval(world, project, known=False)
    with pytest.raises(WorkflowUpdateFailedError) as failed:
        await decide(handle, decision(decision_id="d1"))
    assert isinstance(failed.value.cause, ApplicationError) and failed.value.cause.type == "NotFound"
    await handle.signal("decide", decision(decision_id="d2"))

    async def shown() -> bool:
        return "Nothing of this id" in await details_of(handle)

    await eventually(shown)
    world.approving.request(
        ApprovalInput(project=project, approval="a1", deadline=datetime.now(UTC) + timedelta(days=1))
    )
    assert (await decide(handle, decision(decision_id="d1"))).effective


async def test_an_expiry_that_cannot_be_recorded_ends_it_failed(world: World, project: str) -> None:
    world.faults.fail("approval.expire", project, NotFound("a1"))
    handle = await open_approval(world, project, -1)
    with pytest.raises(Exception, match="Workflow execution failed"):
        await handle.result()


async def test_a_cancelled_approval_answers_what_it_had_taken_up(world: World, project: str) -> None:
    handle = await open_approval(world, project)
    held = world.faults.hold("approval.decide", project)
    taken = asyncio.create_task(decide(handle, decision()))
    await asyncio.sleep(0.3)
    await handle.cancel()
    await asyncio.sleep(0.3)
    held.set()
    assert (await taken).effective


async def test_many_refused_signals_move_it_to_a_new_history(world: World, project: str) -> None:
    handle = await open_approval(world, project, history_events=100)
    for _ in range(4):
        await asyncio.gather(*(handle.signal("decide", None) for _ in range(10)))

    async def all_recorded() -> bool:
        return len(refusals(world, project)) == 40

    await eventually(all_recorded)
    assert (await state(handle)).refused == 40
    first = world.client.get_workflow_handle(handle.id, run_id=handle.first_execution_run_id)
    events = await events_of(first)
    assert events["WORKFLOW_EXECUTION_CONTINUED_AS_NEW"] == 1 and events.total() < 250
    assert (await decide(handle, decision())).effective


async def test_a_decided_approval_never_starts_again(world: World, project: str) -> None:
    handle = await open_approval(world, project)
    await decide(handle, decision())
    await ended(handle)
    with pytest.raises(WorkflowAlreadyStartedError):
        await open_approval(world, project)
