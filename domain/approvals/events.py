"""Approval events: asked, decided, refused, expired, applied (spec/4 "APPROVAL QUEUE", DESIGN section 8)."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import AwareDatetime, Field

from domain.journal.catalogue import EventType, Payload

Criticality = Literal["routine", "critical"]


class ProposedAction(Payload):
    """What is asked for: an action kind with an applier, its target, and arguments whose hash is what gets approved."""

    kind: str
    target: str
    arguments: dict[str, Any] = Field(default_factory=dict)


class Requested(Payload):
    """A decision is asked for until `deadline`, an absolute instant."""

    approval: str
    proposed_action: ProposedAction
    origin_finding: str | None = None
    criticality: Criticality = "routine"
    deadline: AwareDatetime
    proposed_by_run: str | None = None


class Decided(Payload):
    """Approved or rejected by `reviewer` at `decided_at` (the workflow's clock when the decision was taken up)."""

    approval: str
    decision_id: str
    reviewer: str
    decided_at: AwareDatetime
    rationale: str | None = None
    # for an edit: the text that replaces the proposed one
    replacement: str | None = None


class Expired(Payload):
    """The deadline passed without a decision."""

    approval: str
    deadline: AwareDatetime


class DecisionRefused(Payload):
    """A decision that has no effect, kept: why, by whom, and what it would have been."""

    approval: str
    decision_id: str
    reason_code: str
    reason: str
    reviewer: str | None = None
    decision: str | None = None


class Applied(Payload):
    """The approved action was carried out, in the transaction of its decision or a later one; `events` are what it wrote."""

    approval: str
    events: list[str] = Field(default_factory=list)


class ApplyFailed(Payload):
    """The approved action was not carried out; nothing of it was written."""

    approval: str
    reason_code: str
    reason: str


EVENTS = (
    EventType("approval.requested", Requested),
    EventType("approval.approved", Decided),
    EventType("approval.rejected", Decided),
    EventType("approval.expired", Expired),
    EventType("approval.decision_refused", DecisionRefused),
    EventType("approval.applied", Applied),
    EventType("approval.apply_failed", ApplyFailed),
)
