"""`decide(approval, decision)`: first processed wins, the deadline is absolute, and every refusal is kept.

Deciding at or after the deadline has no effect whatever the order of messages; a decision of the same id again changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from domain.access.scope import decider_refusal
from domain.approvals.appliers import APPLIERS, Applier, Verdict
from domain.approvals.state import APPROVALS, Approval
from domain.contracts.errors import NotFound
from domain.contracts.ids import digest_id
from domain.journal.event import Event, stamp
from domain.journal.rows import WorkingSet
from domain.knowledge.decide import Refusal

SOURCE = "temporality/approval"
_CORRECTABLE = frozenset({"same_text"})
"""Refusals of an applier that the decider can mend: the decision is refused and the approval stays open."""
_SYSTEM = "system:temporality:approvals"


@dataclass(frozen=True, slots=True)
class Command:
    """A decision on an approval. `decided_at` is the workflow's time; `evidence` the target's citations so far."""

    project: str
    approval: str
    decision_id: str
    decision: str
    actor: str
    decided_at: datetime
    rationale: str | None = None
    replacement: str | None = None
    evidence: tuple[Mapping[str, Any], ...] = ()


def decide(
    rows: WorkingSet, command: Command, late: bool, appliers: Mapping[str, Applier] = APPLIERS
) -> Sequence[Event]:
    """The events of a decision: decided and applied, or refused. Raises `NotFound` when no such approval was requested."""
    approval = rows.get(APPROVALS, Approval, command.approval)
    if approval is None:
        raise NotFound(f"approval {command.approval}")
    if approval.decision_id == command.decision_id:
        return ()
    not_permitted = decider_refusal(command.actor) or _own_proposal(approval, command.actor)
    if not_permitted is not None:
        return (refused(command, approval, "not_permitted", not_permitted),)
    if approval.state != "pending":
        by = f" by {approval.reviewer}" if approval.reviewer else ""
        return (
            refused(
                command, approval, _settled(approval.state), f"it was {approval.state}{by} before this decision came"
            ),
        )
    if late or command.decided_at >= approval.deadline:
        sentence = f"the deadline {stamp(approval.deadline)} had passed"
        return (expired(approval, command.decided_at), refused(command, approval, "expired", sentence))
    return _decided(rows, approval, command, appliers)


def _decided(
    rows: WorkingSet, approval: Approval, command: Command, appliers: Mapping[str, Applier]
) -> Sequence[Event]:
    kind = "approval.rejected" if command.decision == "reject" else "approval.approved"
    told = {"rationale": command.rationale, "replacement": command.replacement}
    decided = _say(
        approval,
        _Word(kind, command.decision_id, command.decided_at, command.actor, (approval.requested_event,)),
        {
            "decision_id": command.decision_id,
            "reviewer": command.actor,
            "decided_at": stamp(command.decided_at),
            **{key: value for key, value in told.items() if value is not None},
        },
    )
    effects = _applied(rows, approval, command, decided.event_id, appliers)
    if isinstance(effects, Refusal) and effects.code in _CORRECTABLE:
        return (refused(command, approval, effects.code, effects.sentence),)
    by_system = (command.decision_id, command.decided_at, _SYSTEM, (decided.event_id,))
    if isinstance(effects, Refusal):
        code = "conflict" if effects.code in ("conflict", "terminal") else effects.code
        failed = _say(
            approval, _Word("approval.apply_failed", *by_system), {"reason_code": code, "reason": effects.sentence}
        )
        return (decided, failed)
    applied = _say(approval, _Word("approval.applied", *by_system), {"events": [event.event_id for event in effects]})
    return (decided, *effects, applied)


def _applied(
    rows: WorkingSet, approval: Approval, command: Command, decision: str, appliers: Mapping[str, Applier]
) -> Sequence[Event] | Refusal:
    applier = appliers.get(approval.action_kind)
    if applier is None:
        return Refusal("apply_failed", f"nothing here applies `{approval.action_kind}`")
    verdict = Verdict(
        decision=command.decision,
        actor=command.actor,
        at=command.decided_at,
        decision_event=decision,
        rationale=command.rationale,
        replacement=command.replacement,
        evidence=command.evidence,
    )
    return applier(rows, approval, verdict)


def expire(rows: WorkingSet, project: str, name: str, at: datetime) -> Sequence[Event]:
    """The deadline passed without a decision. Raises `NotFound`; nothing where it was decided in time."""
    approval = rows.get(APPROVALS, Approval, name)
    if approval is None:
        raise NotFound(f"approval {name}")
    return (expired(approval, at),) if approval.state == "pending" and at >= approval.deadline else ()


def expired(approval: Approval, at: datetime) -> Event:
    """Nobody decided in time."""
    word = _Word("approval.expired", "deadline", at, _SYSTEM, (approval.requested_event,))
    return _say(approval, word, {"deadline": stamp(approval.deadline)})


def refused(command: Command, approval: Approval, code: str, sentence: str) -> Event:
    """A decision without effect, kept with its reason."""
    requested = (approval.requested_event,)
    word = _Word("approval.decision_refused", command.decision_id, command.decided_at, _SYSTEM, requested)
    said = {
        "decision_id": command.decision_id,
        "reason_code": code,
        "reason": sentence,
        "reviewer": command.actor,
        "decision": command.decision,
    }
    return _say(approval, word, said)


def _own_proposal(approval: Approval, actor: str) -> str | None:
    own = approval.proposed_by_run is not None and actor.split(":", 2)[-1] == approval.proposed_by_run
    return "the run that proposed it never decides it; a person or another service does" if own else None


def event_id(approval: str, kind: str, key: str) -> str:
    """The id of an approval's event: the same decision saying the same is the same event."""
    return digest_id("approval/1", approval, kind, key)


def _settled(state: str) -> str:
    return "expired" if state == "expired" else "already_decided"


@dataclass(frozen=True, slots=True)
class _Word:
    """What is said of an approval, by whom, on whose word; `key` makes the event's id."""

    kind: str
    key: str
    at: datetime
    actor: str
    caused_by: tuple[str, ...]


def _say(approval: Approval, word: _Word, data: Mapping[str, Any]) -> Event:
    return Event(
        project=approval.project_id,
        source=SOURCE,
        event_id=event_id(approval.approval_id, word.kind, word.key),
        type=word.kind,
        occurred_at=word.at,
        data={"approval": approval.approval_id, **data},
        run=approval.proposed_by_run,
        actor=word.actor,
        caused_by=word.caused_by,
    )
