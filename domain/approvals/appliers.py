"""What an approved action does: one applier for each kind of action, asked in the transaction that approves it.

An applier is pure: it sees the aggregates and says the events, or refuses with a reason. Later actions plug in here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from domain.approvals.state import Approval
from domain.journal.event import Event
from domain.journal.rows import WorkingSet
from domain.knowledge import decide as knowledge
from domain.knowledge.decide import Cause, Edit, Refusal
from domain.knowledge.normalise import claim_identity
from domain.knowledge.state import NODES, Node


@dataclass(frozen=True, slots=True)
class Verdict:
    """A decision as an applier sees it. `decision_event` is the event that records it, which everything it causes cites.

    `evidence` are the citations of the target so far, in envelope form.
    """

    decision: str
    actor: str
    at: datetime
    decision_event: str
    rationale: str | None = None
    replacement: str | None = None
    evidence: tuple[Mapping[str, Any], ...] = ()


class Applier(Protocol):
    """Carries out one kind of action after a verdict: also a rejection may have something to do."""

    def __call__(self, rows: WorkingSet, approval: Approval, verdict: Verdict) -> Sequence[Event] | Refusal: ...


def apply_knowledge(rows: WorkingSet, approval: Approval, verdict: Verdict) -> Sequence[Event] | Refusal:
    """`knowledge.confirm`: approve confirms the node, reject invalidates it, edit replaces it (DESIGN section 8)."""
    node = rows.get(NODES, Node, approval.target)
    if node is None:
        return Refusal("conflict", f"the node {approval.target} is not known here")
    cause = Cause(
        project=approval.project_id, source="temporality/approval", key=f"{approval.approval_id}/{verdict.decision_event}",
        at=verdict.at, actor=verdict.actor, producer="operator", producer_version="v1", caused_by=(verdict.decision_event,),
        run=approval.proposed_by_run,
    )  # fmt: skip
    if verdict.decision == "edit":
        text = verdict.replacement or ""
        target, generation = live(rows, approval.project_id, text)
        return knowledge.edit(cause, node, Edit(text, target, generation, verdict.evidence))
    move = knowledge.confirm if verdict.decision == "approve" else knowledge.reject
    moved = move(cause, node, verdict.rationale)
    return moved if isinstance(moved, Refusal) else (moved,)


def live(rows: WorkingSet, project: str, text: str) -> tuple[Node | None, int]:
    """The live node that says `text`, or None and the first generation no node has taken."""
    generation = 0
    while True:
        node = rows.get(NODES, Node, claim_identity(project, text, generation))
        if node is None or not node.terminal:
            return node, generation
        generation += 1


APPLIERS: Mapping[str, Applier] = {"knowledge.confirm": apply_knowledge}
