"""`Approval`: one human decision with an absolute deadline (DESIGN section 8 "Approvals", spec/4)."""

from __future__ import annotations

from datetime import datetime
from typing import Literal, Self

from pydantic import AwareDatetime, Field, model_validator

from domain.contracts.messages import HISTORY_EVENTS, Message

ROUTINE_SECONDS = 7 * 86400
CRITICAL_SECONDS = 86400

Verdict = Literal["approve", "reject", "edit"]
State = Literal["pending", "approved", "rejected", "expired"]
Application = Literal["none", "applied", "apply_failed", "conflict"]


class ApprovalInput(Message):
    """Start of an approval. `deadline` is an absolute instant; deciding at or after it has no effect.

    `node` is the knowledge node it is about. `history_events` is where it moves to a new history; `refused_before` is
    the system's own: refusals in earlier histories.
    """

    project: str
    approval: str
    deadline: AwareDatetime
    criticality: Literal["routine", "critical"] = "routine"
    title: str = ""
    proposed_by_run: str | None = None
    node: str | None = None
    history_events: int = Field(default=HISTORY_EVENTS, ge=20, le=HISTORY_EVENTS)
    refused_before: int = 0


class Decision(Message):
    """Update or signal `decide`. `actor` is who decides; the same `decision_id` again gets the original answer.

    `edit` approves with `replacement` as the text instead of the proposed one.
    """

    decision: Verdict
    actor: str = Field(max_length=256)
    decision_id: str = Field(min_length=1, max_length=256)
    rationale: str | None = Field(default=None, max_length=4000)
    replacement: str | None = Field(default=None, min_length=1, max_length=2000)

    @model_validator(mode="after")
    def _replaces_when_it_edits(self) -> Self:
        if (self.decision == "edit") != (self.replacement is not None):
            raise ValueError("`replacement` belongs to the decision `edit`, and an `edit` needs one")
        return self


class DecisionAnswer(Message):
    """What the transaction decided: never "queued". `effective` says whether this very decision took effect.

    `reason_code` of a decision without effect: expired, already_decided, not_permitted, apply_failed, conflict, ...
    """

    approval: str
    effective: bool
    state: State
    application: Application
    reason_code: str | None = None
    reason: str | None = None
    reviewer: str | None = None
    decided_at: datetime | None = None
    knowledge: list[str] = Field(default_factory=list)


class ApprovalView(Message):
    """Query `state`."""

    approval: str
    state: State
    deciding: bool
    deadline: datetime
    application: Application = "none"
    reviewer: str | None = None
    decided_at: datetime | None = None
    refused: int = 0
