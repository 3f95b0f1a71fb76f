"""`evolve(approval, event) -> approval`: pending to approved, rejected or expired, once; application beside it."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from domain.approvals.state import Approval
from domain.journal.event import Event


def evolve(approval: Approval | None, event: Event, at: int) -> Approval | None:
    """The approval after `event`; None only where none was requested."""
    data = event.data
    if approval is None:
        return _request(event, at) if event.type == "approval.requested" else None
    approval = replace(approval, version=at)
    match event.type:
        case "approval.approved" | "approval.rejected" if approval.state == "pending":
            return replace(
                approval, state=event.type.removeprefix("approval."), decision_id=data["decision_id"], reviewer=data["reviewer"],
                decided_at=datetime.fromisoformat(data["decided_at"]), rationale=data.get("rationale"),
                replacement=data.get("replacement"),
            )  # fmt: skip
        case "approval.expired" if approval.state == "pending":
            return replace(approval, state="expired", reason="the deadline passed without a decision")
        case "approval.decision_refused":
            return replace(approval, refused_decisions=approval.refused_decisions + 1)
        case "approval.applied":
            return replace(approval, application="applied", reason=None)
        case "approval.apply_failed":
            application = "conflict" if data["reason_code"] == "conflict" else "apply_failed"
            return replace(approval, application=application, reason=data["reason"])
        case _:
            return approval


def _request(event: Event, at: int) -> Approval:
    data = event.data
    action = data["proposed_action"]
    return Approval(
        project_id=event.project, approval_id=data["approval"], version=at, state="pending", application="none",
        action_kind=action["kind"], target=action["target"], proposed_action=dict(action),
        origin_finding=data.get("origin_finding"), criticality=data.get("criticality", "routine"),
        requested_at=event.occurred_at, deadline=datetime.fromisoformat(data["deadline"]),
        proposed_by_run=data.get("proposed_by_run"), requested_event=event.event_id, decision_id=None, reviewer=None,
        decided_at=None, rationale=None, replacement=None, reason=None, refused_decisions=0,
    )  # fmt: skip
