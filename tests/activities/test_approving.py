"""A decision is judged, recorded and applied in one transaction, by the later of two clocks, and answered with what that decided."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import pytest_asyncio
from temporalio.exceptions import ApplicationError

from activities.postgres import states
from domain.contracts.approval import Decision, DecisionAnswer
from domain.journal.canonical import NotAdmitted
from domain.journal.event import Event, stamp
from domain.knowledge.normalise import claim_identity
from domain.knowledge.state import NODES, Node
from domain.ports.approving import DECIDE, EXPIRE, REFUSE_DECISION, Decide, Expire, RefuseDecision
from tests.support.events import happened, knows, proposed
from tests.support.installation import Installation

WORDS = "The flaky test needs a fixed port."
OPERATOR = "human:example.org:u42"


def now() -> datetime:
    return datetime.now(UTC)


@dataclass
class Asked:
    """A candidate of run `r1` with one citation, and the approval asked for on it."""

    installation: Installation
    project: str
    deadline: datetime
    approval: str = "node_00000000000000000000000001"
    target: str = field(init=False)

    def __post_init__(self) -> None:
        self.target = claim_identity(self.project, WORDS, 0)

    def requested(self, **changed: Any) -> Event:
        action = {"kind": "knowledge.confirm", "target": self.target, "arguments": {"proposition": WORDS}}
        data = {
            "approval": self.approval,
            "proposed_action": action,
            "deadline": stamp(self.deadline),
            "proposed_by_run": "r1",
        }
        return Event(
            self.project, "temporality/test", "requested", "approval.requested", now(), data | changed, run="r1",
            actor="system:test:kernel", caused_by=("cause",),
        )  # fmt: skip

    async def decide(self, decision: str = "approve", key: str = "d1", **fields: Any) -> DecisionAnswer:
        at = fields.pop("decided_at", None) or now()
        said = Decision.model_validate({"decision": decision, "actor": OPERATOR, "decision_id": key, **fields})
        request = Decide(project=self.project, approval=self.approval, decision=said, decided_at=at)
        return await self.installation.call(DECIDE, request)

    async def node(self, knowledge: str | None = None) -> Node:
        key = (knowledge or self.target,)
        return (await states.load(self.installation.database, self.project, NODES, key))[key]

    def types(self) -> list[str]:
        found = self.installation.rows(
            "SELECT type FROM journal.events WHERE project_id = %s AND seq > 3 ORDER BY seq", self.project
        )
        return [kind for (kind,) in found]


@pytest_asyncio.fixture(loop_scope="session")
async def asked(installation: Installation, project: str) -> AsyncIterator[Asked]:
    yield await ask(Asked(installation, project, now() + timedelta(days=7)))


async def ask(asked: Asked) -> Asked:
    cited = {"ref": "said", "type": "user_statement", "content_hash": "c1", "run": "r1"}
    events = (
        happened(asked.project, "said"),
        proposed(asked.project, asked.target, evidence=(cited,)),
        asked.requested(),
    )
    await asked.installation.journal.append(asked.project, events)
    return asked


async def test_approving_confirms_in_the_same_transaction(asked: Asked) -> None:
    answer = await asked.decide(rationale="seen it twice")
    assert (answer.effective, answer.state, answer.application) == (True, "approved", "applied")
    assert (answer.reviewer, answer.knowledge, answer.reason_code) == (OPERATOR, [asked.target], None)
    node = await asked.node()
    assert (node.state, node.confirmations) == ("confirmed", 1)
    assert asked.types() == ["approval.approved", "knowledge.confirmed", "approval.applied"]
    assert asked.installation.rows("SELECT count(DISTINCT received_at) FROM journal.events WHERE project_id = %s AND seq > 3",
                                   asked.project) == [(1,)]  # fmt: skip


async def test_rejecting_ends_the_candidate(asked: Asked) -> None:
    answer = await asked.decide("reject", rationale="it was the network")
    assert (answer.effective, answer.state, answer.application) == (True, "rejected", "applied")
    node = await asked.node()
    assert (node.state, node.reason_code, node.reason) == ("invalidated", "rejected", "it was the network")


async def test_editing_corrects_the_candidate_and_confirms_the_text(asked: Asked) -> None:
    answer = await asked.decide("edit", replacement="The flaky test needs port 5433.")
    assert (answer.effective, answer.state, answer.application) == (True, "approved", "applied")
    old, new = await asked.node(), await asked.node(answer.knowledge[1])
    assert (old.state, old.replaced_by) == ("corrected", new.knowledge_id)
    assert (new.state, new.proposition, new.cited) == ("confirmed", "The flaky test needs port 5433.", ("c1",))
    refs = asked.installation.rows("SELECT type FROM projection.evidence WHERE project_id = %s AND knowledge_id = %s ORDER BY 1",
                                   asked.project, new.knowledge_id)  # fmt: skip
    assert refs == [("operator_decision",), ("user_statement",)]
    links = asked.installation.rows(
        "SELECT from_id, relation, to_id FROM projection.relationships WHERE project_id = %s", asked.project
    )
    assert links == [(new.knowledge_id, "supersedes", old.knowledge_id)]


async def test_editing_to_the_same_claim_is_refused_and_stays_open(asked: Asked) -> None:
    refused = await asked.decide("edit", replacement=WORDS.upper())
    assert (refused.effective, refused.state, refused.reason_code) == (False, "pending", "same_text")
    assert (await asked.decide("approve", "d2")).effective


async def test_the_databases_clock_judges_although_the_workflow_was_early(
    installation: Installation, project: str
) -> None:
    asked = await ask(Asked(installation, project, now() - timedelta(seconds=1)))
    answer = await asked.decide(decided_at=now() - timedelta(days=1))
    assert (answer.effective, answer.state, answer.application, answer.reason_code) == (
        False,
        "expired",
        "none",
        "expired",
    )
    assert (await asked.node()).state == "proposed"
    assert asked.types() == ["approval.expired", "approval.decision_refused"]


async def test_the_workflows_time_judges_although_the_database_is_early(asked: Asked) -> None:
    answer = await asked.decide(decided_at=asked.deadline)
    assert (answer.effective, answer.state, answer.reason_code) == (False, "expired", "expired")
    assert (await asked.node()).state == "proposed"


async def test_a_moment_before_the_deadline_is_in_time(asked: Asked) -> None:
    assert (await asked.decide(decided_at=asked.deadline - timedelta(microseconds=1))).effective


async def test_of_many_decisions_at_once_one_applies_once(asked: Asked) -> None:
    kinds = ["approve", "reject", "approve", "reject", "approve", "reject"]
    answers = await asyncio.gather(*(asked.decide(kind, f"d{i}") for i, kind in enumerate(kinds)))
    assert sum(answer.effective for answer in answers) == 1
    assert {answer.reason_code for answer in answers if not answer.effective} == {"already_decided"}
    types = asked.types()
    assert types.count("approval.applied") == 1
    assert types.count("approval.decision_refused") == 5
    node = await asked.node()
    assert node.confirmations + (node.state == "invalidated") == 1


async def test_the_same_decision_many_times_at_once_is_one_decision(asked: Asked) -> None:
    answers = await asyncio.gather(*(asked.decide() for _ in range(8)))
    assert all(answer == answers[0] for answer in answers)
    assert answers[0].effective
    assert asked.types() == ["approval.approved", "knowledge.confirmed", "approval.applied"]


async def test_the_same_decision_after_the_deadline_gets_its_first_answer(asked: Asked) -> None:
    first = await asked.decide()
    assert await asked.decide(decided_at=asked.deadline + timedelta(days=1)) == first


async def test_a_node_that_ended_meanwhile_is_a_conflict_and_nothing_is_written_to_it(asked: Asked) -> None:
    over = knows(asked.project, "superseded", asked.target, "1", data={"reason_code": "newer"})
    await asked.installation.journal.append(asked.project, [over])
    answer = await asked.decide()
    assert (answer.effective, answer.state, answer.application, answer.reason_code) == (
        True,
        "approved",
        "conflict",
        "conflict",
    )
    assert answer.reason == "the node ended as superseded and ended nodes never return"
    assert (await asked.node()).state == "superseded"
    assert asked.types()[1:] == ["approval.approved", "approval.apply_failed"]
    assert await asked.decide() == answer


@pytest.mark.parametrize(
    ("actor", "says"),
    [
        ("agent:example.org:a1", "agents never decide"),
        ("somebody", "is no actor"),
        ("service:example.org:r1", "the run that proposed"),
    ],
)
async def test_who_may_not_decide_is_refused_and_uses_nothing_up(asked: Asked, actor: str, says: str) -> None:
    refused = await asked.decide(actor=actor)
    assert (refused.effective, refused.state, refused.reason_code) == (False, "pending", "not_permitted")
    assert says in (refused.reason or "")
    assert (await asked.decide(key="d2")).effective


async def test_what_nothing_here_applies_is_decided_and_not_applied(installation: Installation, project: str) -> None:
    asked = Asked(installation, project, now() + timedelta(days=1))
    action = {"kind": "never.heard.of", "target": asked.target, "arguments": {}}
    await installation.journal.append(project, (happened(project, "said"), asked.requested(proposed_action=action)))
    answer = await asked.decide()
    assert (answer.state, answer.application, answer.reason_code) == ("approved", "apply_failed", "apply_failed")


async def test_expiry_is_recorded_once_and_never_over_a_decision(installation: Installation, project: str) -> None:
    asked = await ask(Asked(installation, project, now() + timedelta(days=1)))
    expiry = Expire(project=project, approval=asked.approval, at=asked.deadline)
    early = await installation.call(EXPIRE, expiry.model_copy(update={"at": now()}))
    assert early.state == "pending"
    assert [(await installation.call(EXPIRE, expiry)).state for _ in range(2)] == ["expired", "expired"]
    assert asked.types() == ["approval.expired"]
    assert (await asked.decide()).reason_code == "expired"


async def test_an_expiry_after_the_decision_changes_nothing(asked: Asked) -> None:
    await asked.decide()
    expiry = Expire(project=asked.project, approval=asked.approval, at=asked.deadline)
    answer = await asked.installation.call(EXPIRE, expiry)
    assert (answer.state, answer.application) == ("approved", "applied")


async def test_a_refused_signal_is_recorded_and_counted(asked: Asked) -> None:
    request = RefuseDecision(project=asked.project, approval=asked.approval, decision_id="signal-1", reason_code="malformed",
                             reason="`decide`: actor: Field required", at=now(), raw=["x"])  # fmt: skip
    await asked.installation.call(REFUSE_DECISION, request)
    answer = await asked.installation.call(REFUSE_DECISION, request)
    assert (answer.effective, answer.state, answer.reason_code) == (False, "pending", "malformed")
    assert answer.reason == "`decide`: actor: Field required"
    assert asked.types() == ["approval.decision_refused"]
    assert asked.installation.rows(
        "SELECT refused_decisions FROM projection.approvals WHERE project_id = %s", asked.project
    ) == [(1,)]  # fmt: skip


async def test_an_unknown_approval_is_not_found(installation: Installation, project: str) -> None:
    asked = Asked(installation, project, now())
    with pytest.raises(ApplicationError) as caught:
        await asked.decide()
    assert (caught.value.type, caught.value.non_retryable) == ("NotFound", True)


@pytest.mark.parametrize("deadline", ["", "soon", "2026-03-01T12:00:00", None])
async def test_a_malformed_deadline_is_refused_at_the_door(
    installation: Installation, project: str, deadline: Any
) -> None:
    asked = Asked(installation, project, now())
    with pytest.raises(NotAdmitted, match="deadline"):
        await installation.journal.append(project, [asked.requested(deadline=deadline)])
