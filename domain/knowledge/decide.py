"""`decide(node, command) -> events | refusal`: what may move a node, and what it then says.

A model only proposes. A claim is confirmed by a person or by independent evidence: another run and evidence whose content is not
already cited; anything else strengthens (its evidence is attached by an identical re-proposal) and never confirms (law 7).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from domain.contracts.ids import digest_id
from domain.journal.event import Event
from domain.knowledge.normalise import claim_identity, normalise_claim
from domain.knowledge.state import Node


@dataclass(frozen=True, slots=True)
class Cause:
    """Who moves knowledge, when, on whose word: everything a knowledge event must name.

    `key` makes the event's id: the same cause moving the same node is the same event. `source` is the commanding part of the system.
    """

    project: str
    source: str
    key: str
    at: datetime
    actor: str
    producer: str
    producer_version: str
    caused_by: tuple[str, ...]
    run: str | None = None
    task: str | None = None


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a command has no effect: a code for programs and a sentence for people."""

    code: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim as it would be proposed: text, citations (envelope form, with `run` and `content_hash`), and where it was written."""

    proposition: str
    evidence: tuple[Mapping[str, Any], ...]
    provenance: str | None = None
    confidence: str | None = None
    kind: str = "claim"


def say(
    cause: Cause, kind: str, knowledge: str, data: Mapping[str, Any], evidence: tuple[Mapping[str, Any], ...] = ()
) -> Event:
    """A knowledge event of `cause` about one node."""
    return Event(
        project=cause.project, source=cause.source, event_id=digest_id("knowledge/1", cause.key, kind, knowledge), type=kind,
        occurred_at=cause.at, run=cause.run, task=cause.task, actor=cause.actor, caused_by=cause.caused_by, evidence=evidence,
        data={"knowledge": knowledge, "producer": cause.producer, "producer_version": cause.producer_version, **data},
    )  # fmt: skip


def propose(cause: Cause, knowledge: str, claim: Claim, *, generation: int = 0, earlier: Node | None = None) -> Event:
    """A new node, or new evidence for the same proposition."""
    optional = {
        "provenance": claim.provenance,
        "confidence": claim.confidence,
        "earlier": earlier.knowledge_id if earlier else None,
        "earlier_decision": f"{earlier.state}: {earlier.reason or earlier.reason_code}" if earlier else None,
    }
    data = {"kind": claim.kind, "proposition": claim.proposition, "generation": generation}
    return say(
        cause,
        "knowledge.proposed",
        knowledge,
        data | {k: v for k, v in optional.items() if v is not None},
        claim.evidence,
    )


def independent(node: Node, run: str | None, evidence: tuple[Mapping[str, Any], ...]) -> bool:
    """Whether evidence comes from another run and brings content nobody cited for the node yet."""
    if run is None or run == node.origin_run or run in node.runs:
        return False
    return any(item.get("content_hash") and item["content_hash"] not in node.cited for item in evidence)


def rederive(cause: Cause, node: Node, claim: Claim) -> tuple[str, Event]:
    """A live claim found again: `confirmed` and later `used` by an independent run, `strengthened` by anything else."""
    if independent(node, cause.run, claim.evidence):
        if node.state in ("proposed", "challenged"):
            return "confirmed", say(
                cause,
                "knowledge.confirmed",
                node.knowledge_id,
                {"basis": "extraction-reverification.v1"},
                claim.evidence,
            )
        return "used", say(cause, "knowledge.used", node.knowledge_id, {"basis": "extraction-reuse.v1"}, claim.evidence)
    return "strengthened", propose(cause, node.knowledge_id, claim, generation=node.generation)


def confirm(cause: Cause, node: Node, rationale: str | None) -> Event | Refusal:
    """A person confirms a node."""
    if node.terminal:
        return _ended(node)
    return say(cause, "knowledge.confirmed", node.knowledge_id, _given({"basis": "operator", "reason": rationale}))


def reject(cause: Cause, node: Node, rationale: str | None) -> Event | Refusal:
    """A person rejects a candidate: it ends as invalidated with reason code `rejected` (DESIGN section 8)."""
    if node.terminal:
        return _ended(node)
    return say(
        cause, "knowledge.invalidated", node.knowledge_id, _given({"reason_code": "rejected", "reason": rationale})
    )


@dataclass(frozen=True, slots=True)
class Edit:
    """An operator's text for a node. `target` is the live node that already says it, if any, else `generation` is the one it gets.

    `evidence` is the old node's, which the new one cites beside the decision.
    """

    text: str
    target: Node | None
    generation: int
    evidence: tuple[Mapping[str, Any], ...]


def edit(cause: Cause, node: Node, change: Edit) -> tuple[Event, ...] | Refusal:
    """A person replaces the proposition: the old node ends as corrected, the new one is confirmed by the same decision."""
    text, target, generation = change.text, change.target, change.generation
    if node.terminal:
        return _ended(node)
    if normalise_claim(text) == normalise_claim(node.proposition):
        return Refusal("same_text", "the new text says the same claim; approve it instead of editing it")
    new_id = target.knowledge_id if target else claim_identity(cause.project, text, generation)
    reason = {"reason_code": "edited", "reason": "replaced by an operator's text", "replaced_by": new_id}
    events = [say(cause, "knowledge.corrected", node.knowledge_id, reason)]
    if target is None:
        decision = {"ref": cause.caused_by[0], "type": "operator_decision"}
        claim = Claim(text, (*change.evidence, decision), provenance=cause.caused_by[0])
        events.append(propose(cause, new_id, claim, generation=generation))
    if target is None or target.state != "confirmed":
        events.append(say(cause, "knowledge.confirmed", new_id, {"basis": "operator"}))
    events.append(say(cause, "knowledge.linked", new_id, {"relation": "supersedes", "to": node.knowledge_id}))
    return tuple(events)


def _ended(node: Node) -> Refusal:
    return Refusal("terminal", f"the node ended as {node.state} and ended nodes never return")


def _given(data: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in data.items() if value is not None}
