"""`approval.*`: decide and apply in one transaction, record expiries and refusals; every answer is what the transaction decided."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from activities.implements import implements
from activities.postgres import events as stored
from activities.postgres import states
from activities.postgres.journal import Journal
from activities.postgres.pool import Database
from domain.approvals import decide as approvals
from domain.approvals.state import APPROVALS, Approval
from domain.contracts.approval import DecisionAnswer
from domain.contracts.errors import NotFound
from domain.contracts.payloads import is_object
from domain.journal.event import Event
from domain.journal.rows import WorkingSet
from domain.knowledge.state import NODES, Node
from domain.ports.approving import DECIDE, EXPIRE, REFUSE_DECISION, Decide, Expire, RefuseDecision
from domain.projections.batch import Guard


class Approving:
    """The approval activities."""

    def __init__(self, journal: Journal, database: Database) -> None:
        self._journal = journal
        self._database = database

    @implements(DECIDE)
    async def decide(self, request: Decide) -> DecisionAnswer:
        """Judge, record and apply a decision under the project's lock. Raises `NotFound`."""
        approval, decision = await self._load(request.project, request.approval), request.decision
        command = approvals.Command(
            project=request.project, approval=request.approval, decision_id=decision.decision_id, decision=decision.decision,
            actor=decision.actor, decided_at=request.decided_at, rationale=decision.rationale, replacement=decision.replacement,
            evidence=await self._evidence(request.project, approval.target) if decision.decision == "edit" else (),
        )  # fmt: skip

        def judge(rows: WorkingSet, late: bool) -> Sequence[Event]:
            return approvals.decide(rows, command, late)

        await self._journal.transact(request.project, judge, guard=Guard(approval.deadline, request.decided_at))
        return await self._answer(request.project, request.approval, decision.decision_id)

    @implements(EXPIRE)
    async def expire(self, request: Expire) -> DecisionAnswer:
        """Record that nobody decided in time; what was decided stays decided."""

        def judge(rows: WorkingSet, late: bool) -> Sequence[Event]:
            return approvals.expire(rows, request.project, request.approval, request.at)

        await self._journal.transact(request.project, judge)
        return await self._answer(request.project, request.approval, None)

    @implements(REFUSE_DECISION)
    async def refuse(self, request: RefuseDecision) -> DecisionAnswer:
        """Record a decision that came malformed, not permitted, or too late to be judged."""
        approval = await self._load(request.project, request.approval)
        command = approvals.Command(
            project=request.project, approval=request.approval, decision_id=request.decision_id, decision=_said(request.raw),
            actor=request.actor or "unknown", decided_at=request.at,
        )  # fmt: skip
        event = approvals.refused(command, approval, request.reason_code, request.reason)
        await self._journal.append(request.project, (event,))
        return await self._answer(request.project, request.approval, request.decision_id)

    async def _load(self, project: str, name: str) -> Approval:
        found = await states.load(self._database, project, APPROVALS, (name,))
        if (name,) not in found:
            raise NotFound(f"approval {name} of project {project}")
        return found[name,]

    async def _evidence(self, project: str, target: str) -> tuple[Mapping[str, Any], ...]:
        async with self._database.scoped(project) as connection:
            cursor = await connection.execute(_EVIDENCE, (project, target))
            return tuple([_citation(record) for record in await cursor.fetchall()])

    async def _answer(self, project: str, name: str, decision_id: str | None) -> DecisionAnswer:
        """The approval as it stands, and what the journal says of this decision: asked again, it answers the same."""
        approval = await self._load(project, name)
        effective = decision_id is not None and approval.decision_id == decision_id
        told = await self._reason(approval, decision_id, effective)
        node = (await states.load(self._database, project, NODES, (approval.target,))).get((approval.target,))
        return DecisionAnswer.model_validate(
            {
                "approval": name,
                "effective": effective,
                "state": approval.state,
                "application": approval.application,
                "reason_code": told.get("reason_code"),
                "reason": told.get("reason") or (approval.reason if not effective else None),
                "reviewer": approval.reviewer,
                "decided_at": approval.decided_at,
                "knowledge": _nodes(node),
            }
        )

    async def _reason(self, approval: Approval, decision_id: str | None, effective: bool) -> Mapping[str, Any]:
        if decision_id is None or (effective and approval.application == "applied"):
            return {}
        kind = "approval.apply_failed" if effective else "approval.decision_refused"
        event_id = approvals.event_id(approval.approval_id, kind, decision_id)
        known = await stored.find(self._database, approval.project_id, approvals.SOURCE, event_id)
        return known.event.data if known else {}


def _said(raw: Any) -> str:
    """What a refused message would have decided, as far as it can be read."""
    said = raw.get("decision") if is_object(raw) else None
    return said[:32] if isinstance(said, str) else "unknown"


def _nodes(node: Node | None) -> list[str]:
    if node is None:
        return []
    return [node.knowledge_id, *([node.replaced_by] if node.replaced_by else [])]


def _citation(record: tuple[Any, ...]) -> Mapping[str, Any]:
    ref, kind, run, content_hash, artifact, field, start, end, quote = record
    span = {"span": {"field": field, "start": start, "end": end}} if field is not None else {}
    told = {"run": run, "content_hash": content_hash, "artifact": artifact, "quote": quote}
    return {"ref": ref, "type": kind, **span, **{key: value for key, value in told.items() if value is not None}}


_EVIDENCE = """
SELECT event_ref, type, run_id, content_hash, artifact_ref, span_field, span_start, span_end, quote
FROM projection.evidence WHERE project_id = %s AND knowledge_id = %s ORDER BY version, evidence_id LIMIT 50
"""
