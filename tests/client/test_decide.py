"""A decision gets the outcome of a transaction or an error of its own kind, whenever and however often it comes."""

import uuid
from datetime import UTC, datetime, timedelta

import pytest
from temporalio.client import WorkflowHandle
from temporalio.common import WorkflowIDReusePolicy

from client.asking import Patience
from client.decide import decide
from domain.contracts.approval import ApprovalInput, Decision
from domain.contracts.errors import MalformedId, NoAnswer, NotFound, NotPermitted
from domain.contracts.names import APPROVAL, TASK_QUEUE, approval_workflow_id
from tests.client.conftest import Caller

QUICK = Patience(in_all=15.0, one_attempt=5.0)
DAY = timedelta(days=1)


def decision(verdict: str = "approve", actor: str = "human:example.org:u1") -> Decision:
    return Decision.model_validate({"decision": verdict, "actor": actor, "decision_id": uuid.uuid4().hex})


async def asked(caller: Caller, title: str = "", within: timedelta = DAY) -> tuple[str, WorkflowHandle[object, object]]:
    approval = f"a-{uuid.uuid4().hex[:12]}"
    handle = await caller.client.start_workflow(
        APPROVAL,
        ApprovalInput(project="p", approval=approval, deadline=datetime.now(UTC) + within, title=title),
        id=approval_workflow_id("p", approval),
        task_queue=TASK_QUEUE,
        id_reuse_policy=WorkflowIDReusePolicy.REJECT_DUPLICATE,
    )
    return approval, handle


async def test_a_decision_takes_effect(served: Caller) -> None:
    approval, _ = await asked(served)
    answer = await decide(served.client, "p", approval, decision(), QUICK)
    assert (answer.effective, answer.state, answer.reviewer) == (True, "approved", "human:example.org:u1")


async def test_a_second_decision_learns_of_the_first_from_the_handler(served: Caller) -> None:
    approval, handle = await asked(served, "linger")
    await decide(served.client, "p", approval, decision(), QUICK)
    answer = await decide(served.client, "p", approval, decision("reject"), QUICK)
    assert (answer.effective, answer.state, answer.reason_code) == (False, "approved", "already_decided")
    await handle.terminate()


async def test_a_decision_after_the_approval_closed_learns_who_decided(served: Caller) -> None:
    approval, handle = await asked(served)
    await decide(served.client, "p", approval, decision("reject"), QUICK)
    await handle.result()
    answer = await decide(served.client, "p", approval, decision(), QUICK)
    assert (answer.effective, answer.state, answer.reason_code) == (False, "rejected", "already_decided")
    assert answer.reviewer == "human:example.org:u1"
    assert answer.decided_at is not None
    assert answer.reason == "the approval was rejected before this decision came"


async def test_the_same_decision_sent_again_after_the_approval_closed_gets_its_own_answer(served: Caller) -> None:
    approval, handle = await asked(served)
    mine = decision()
    first = await decide(served.client, "p", approval, mine, QUICK)
    await handle.result()
    assert await decide(served.client, "p", approval, mine, QUICK) == first


async def test_a_decision_after_the_deadline_is_answered_as_expired(served: Caller) -> None:
    approval, handle = await asked(served, within=timedelta(seconds=-1))
    await handle.result()
    answer = await decide(served.client, "p", approval, decision(), QUICK)
    assert (answer.effective, answer.state, answer.reason_code) == (False, "expired", "expired")
    lingering, handle = await asked(served, "linger", within=timedelta(seconds=-1))
    answer = await decide(served.client, "p", lingering, decision(), QUICK)
    assert (answer.effective, answer.state, answer.reason_code) == (False, "expired", "expired")
    await handle.terminate()


async def test_who_may_not_decide_is_told_so(served: Caller) -> None:
    approval, handle = await asked(served)
    with pytest.raises(NotPermitted, match=r"^This actor may not do this: an agent never decides$"):
        await decide(served.client, "p", approval, decision(actor="agent:acme:coder"), QUICK)
    await handle.terminate()


async def test_an_approval_that_does_not_exist_is_not_found(served: Caller) -> None:
    with pytest.raises(NotFound, match=r"approval/p/none; `temporality review` lists what waits"):
        await decide(served.client, "p", "none", decision(), QUICK)


async def test_a_decision_that_no_worker_takes_may_be_asked_again(caller: Caller) -> None:
    approval, handle = await asked(caller)
    with pytest.raises(NoAnswer, match="may still take effect: send the same again"):
        await decide(caller.client, "p", approval, decision(), Patience(in_all=1.0, one_attempt=0.4))
    await handle.terminate()


async def test_an_approval_id_that_cannot_be_one_is_refused(caller: Caller) -> None:
    with pytest.raises(MalformedId):
        await decide(caller.client, "p", "", decision(), QUICK)
