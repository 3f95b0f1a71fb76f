"""An approval as the journal tells it: the six fields of spec/4, its deadline, and what came of applying it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from domain.journal.rows import Table


@dataclass(frozen=True, slots=True)
class Approval:
    """`state`: pending, approved, rejected, expired. `application`: none, applied, apply_failed, conflict."""

    project_id: str
    approval_id: str
    version: int
    state: str
    application: str
    action_kind: str
    target: str
    proposed_action: dict[str, object]
    origin_finding: str | None
    criticality: str
    requested_at: datetime
    deadline: datetime
    proposed_by_run: str | None
    requested_event: str
    decision_id: str | None
    reviewer: str | None
    decided_at: datetime | None
    rationale: str | None
    replacement: str | None
    reason: str | None
    refused_decisions: int


APPROVALS = Table("approvals", Approval, ("approval_id",))
