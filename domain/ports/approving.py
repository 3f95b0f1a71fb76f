"""What an approval asks of the world."""

from __future__ import annotations

from typing import Any

from pydantic import AwareDatetime

from domain.contracts.approval import Decision, DecisionAnswer
from domain.contracts.messages import Message
from domain.ports.activity_ref import ActivityRef


class Decide(Message):
    """Decide and apply in one transaction. `decided_at` is the workflow's time when the decision was taken up."""

    project: str
    approval: str
    decision: Decision
    decided_at: AwareDatetime


class Expire(Message):
    """Record that the deadline passed."""

    project: str
    approval: str
    at: AwareDatetime


class RefuseDecision(Message):
    """Record a decision that could not be understood or is not permitted (signals leave no other trace)."""

    project: str
    approval: str
    decision_id: str
    reason_code: str
    reason: str
    at: AwareDatetime
    actor: str | None = None
    raw: Any = None


DECIDE = ActivityRef("approval.decide", takes=Decide, gives=DecisionAnswer)
EXPIRE = ActivityRef("approval.expire", takes=Expire, gives=DecisionAnswer)
REFUSE_DECISION = ActivityRef("approval.refuse", takes=RefuseDecision, gives=DecisionAnswer)
