"""Knowledge events: what moves a node, always with actor, cause and producer (spec/1 "Provenance", DESIGN section 5)."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from domain.journal.catalogue import EventType, Payload

Kind = Literal["claim", "observation"]
Relation = Literal["derived_from", "supports", "contradicts", "depends_on", "supersedes", "related_to", "similar_to"]


class KnowledgePayload(Payload):
    """What every knowledge event names: the node, and which producer in which version wrote the event."""

    knowledge: str
    producer: str
    producer_version: str


class Proposed(KnowledgePayload):
    """A node is proposed; again with the same id and proposition it only attaches its evidence.

    `provenance` is the event the proposition was written in; it is no evidence. `earlier` is the ended node this one is a new
    generation of, `earlier_decision` why that one ended.
    """

    kind: Kind
    proposition: str = Field(min_length=1, max_length=2000)
    generation: int = Field(default=0, ge=0)
    provenance: str | None = None
    workspace: str | None = None
    earlier: str | None = None
    earlier_decision: str | None = None
    # information only: never changes a state (DESIGN section 8)
    confidence: str | None = None


class Confirmed(KnowledgePayload):
    """`basis` is `execution-reverification.v1`, `extraction-reverification.v1`, `operator` or `hint-outcome.v1`."""

    basis: str
    reason: str | None = None


class Used(KnowledgePayload):
    """An activity, no change of state: `basis` is `execution-reuse.v1` or `extraction-reuse.v1`."""

    basis: str


class Challenged(KnowledgePayload):
    """A reversible doubt with its reason."""

    reason_code: str
    reason: str | None = None
    by: str | None = None


class Ended(KnowledgePayload):
    """A terminal transition: corrected, superseded, invalidated, disproved. `replaced_by` names the node that stands instead."""

    reason_code: str
    reason: str | None = None
    replaced_by: str | None = None


class Linked(KnowledgePayload):
    """An explicit relationship event."""

    relation: Relation
    to: str


class Hidden(KnowledgePayload):
    """Forgotten or restored: a retrieval policy, no deletion."""

    reason: str | None = None


class AtRisk(KnowledgePayload):
    """A dependency ended; the node is marked, not invalidated."""

    dependency: str


EVENTS = (
    EventType("knowledge.proposed", Proposed),
    EventType("knowledge.confirmed", Confirmed),
    EventType("knowledge.used", Used),
    EventType("knowledge.challenged", Challenged),
    EventType("knowledge.corrected", Ended),
    EventType("knowledge.superseded", Ended),
    EventType("knowledge.invalidated", Ended),
    EventType("knowledge.disproved", Ended),
    EventType("knowledge.linked", Linked),
    EventType("knowledge.at_risk", AtRisk),
    EventType("knowledge.at_risk_cleared", AtRisk),
    EventType("knowledge.forgotten", Hidden),
    EventType("knowledge.restored", Hidden),
)
