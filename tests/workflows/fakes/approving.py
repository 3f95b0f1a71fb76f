"""The fake of `domain.ports.approving`: it judges as the transaction does, by state and the workflow's time."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from activities.implements import implements
from domain.contracts.approval import ApprovalInput, Decision, DecisionAnswer, State
from domain.contracts.errors import NotFound
from domain.ports.approving import DECIDE, EXPIRE, REFUSE_DECISION, Decide, Expire, RefuseDecision
from tests.workflows.fakes.faults import Faults

Key = tuple[str, str]


@dataclass
class Row:
    """One approval as the fake journal tells it."""

    deadline: datetime
    state: State = "pending"
    application: Literal["none", "applied"] = "none"
    decided: Decision | None = None
    decided_at: datetime | None = None
    answers: dict[str, DecisionAnswer] = field(default_factory=dict)
    refused: list[RefuseDecision] = field(default_factory=list)


class Approving:
    """Approvals by (project, approval); ask for one with `request` before its workflow starts, or it is not found."""

    def __init__(self, faults: Faults) -> None:
        self._faults = faults
        self.rows: dict[Key, Row] = {}

    def request(self, asked: ApprovalInput) -> Row:
        return self.rows.setdefault((asked.project, asked.approval), Row(asked.deadline))

    @implements(DECIDE)
    async def decide(self, asked: Decide) -> DecisionAnswer:
        await self._faults.meet(asked.project)
        row, decision = self._row(asked.project, asked.approval), asked.decision
        if before := row.answers.get(decision.decision_id):
            return before
        if row.state == "pending" and asked.decided_at < row.deadline:
            row.state = "rejected" if decision.decision == "reject" else "approved"
            row.application = "none" if decision.decision == "reject" else "applied"
            row.decided, row.decided_at = decision, asked.decided_at
            answer = self._answer(asked.approval, row, effective=True)
        else:
            code = "expired" if row.state in ("pending", "expired") else "already_decided"
            answer = self._answer(asked.approval, row, effective=False, code=code)
        return row.answers.setdefault(decision.decision_id, answer)

    @implements(EXPIRE)
    async def expire(self, asked: Expire) -> DecisionAnswer:
        await self._faults.meet(asked.project)
        row = self._row(asked.project, asked.approval)
        if row.state == "pending":
            row.state = "expired"
        return self._answer(asked.approval, row, effective=False, code="expired")

    @implements(REFUSE_DECISION)
    async def refuse(self, asked: RefuseDecision) -> DecisionAnswer:
        await self._faults.meet(asked.project)
        row = self._row(asked.project, asked.approval)
        if before := row.answers.get(asked.decision_id):
            return before
        row.refused.append(asked)
        answer = self._answer(asked.approval, row, effective=False, code=asked.reason_code, reason=asked.reason)
        return row.answers.setdefault(asked.decision_id, answer)

    def _row(self, project: str, approval: str) -> Row:
        if (row := self.rows.get((project, approval))) is None:
            raise NotFound(f"approval {approval}")
        return row

    def _answer(
        self, approval: str, row: Row, *, effective: bool, code: str | None = None, reason: str | None = None
    ) -> DecisionAnswer:
        return DecisionAnswer(
            approval=approval,
            effective=effective,
            state=row.state,
            application=row.application,
            reason_code=code,
            reason=reason or code,
            reviewer=row.decided.actor if row.decided else None,
            decided_at=row.decided_at,
        )
