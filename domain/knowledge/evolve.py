"""`evolve(node, event) -> node`: the state of a node is a fold of its events and of nothing else.

Terminal states never resurrect: an event that would move an ended node leaves it as it is. An identical re-proposal attaches its
evidence and changes no state (spec/1).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from domain.contracts.ids import digest_id
from domain.journal.event import Event
from domain.knowledge.state import Evidence, KnowledgeEventLink, Node

_ENDINGS: Mapping[str, str] = {
    "knowledge.corrected": "corrected",
    "knowledge.superseded": "superseded",
    "knowledge.invalidated": "invalidated",
    "knowledge.disproved": "invalidated",
}
KERNEL = "auto/"
"""Ids of the kernel's own observations start with this (spec/1)."""
# what independence is judged against: an execution that only uses a node adds nothing to it, and may come ten thousand times
_CITING = frozenset({"knowledge.proposed", "knowledge.confirmed"})
MOVES = frozenset(
    {
        "knowledge.proposed", "knowledge.confirmed", "knowledge.used", "knowledge.challenged", "knowledge.forgotten",
        "knowledge.restored", "knowledge.at_risk", "knowledge.at_risk_cleared", "knowledge.linked", *_ENDINGS,
    }
)  # fmt: skip


def evolve(node: Node | None, event: Event, at: int) -> Node | None:
    """The node after `event`. None only where nothing was ever proposed under the id."""
    if node is None:
        return _propose(event, at) if event.type == "knowledge.proposed" else None
    updated = max(node.updated_at, event.occurred_at)
    if event.type == "knowledge.used":
        # a run counts once: a longer copy of it that finds the claim again is no further use
        runs = node.runs if node.knowledge_id.startswith(KERNEL) else _grown(node.runs, event, "run")
        return replace(node, version=at, updated_at=updated, runs=runs, uses=node.uses + 1)
    node = replace(node, version=at, updated_at=updated)
    if not node.knowledge_id.startswith(KERNEL) and event.type in _CITING:
        node = replace(node, cited=_grown(node.cited, event, "content_hash"), runs=_grown(node.runs, event, "run"))
    match event.type:
        case "knowledge.confirmed" if not node.terminal:
            # a challenge that was answered leaves its event and no reason behind
            return replace(node, state="confirmed", confirmations=node.confirmations + 1, reason_code=None, reason=None)
        case "knowledge.challenged" if not node.terminal:
            data = event.data
            return replace(
                node,
                state="challenged",
                challenges=node.challenges + 1,
                reason_code=data["reason_code"],
                reason=data.get("reason"),
            )
        case kind if kind in _ENDINGS and not node.terminal:
            data = event.data
            return replace(
                node, state=_ENDINGS[kind], valid_to=_end(node.valid_from, event.occurred_at), reason_code=data["reason_code"],
                reason=data.get("reason"), replaced_by=data.get("replaced_by"),
            )  # fmt: skip
        case "knowledge.forgotten":
            return replace(node, forgotten=True)
        case "knowledge.restored":
            return replace(node, forgotten=False)
        case _:
            return node


def _propose(event: Event, at: int) -> Node:
    data = event.data
    return Node(
        project_id=event.project, knowledge_id=data["knowledge"], version=at, proposition=data["proposition"],
        kind=data["kind"], state="proposed", valid_from=event.occurred_at, valid_to=None, updated_at=event.occurred_at,
        generation=data.get("generation", 0), workspace=data.get("workspace"), producer=data["producer"],
        producer_version=data["producer_version"], origin_run=event.run, provenance=data.get("provenance"),
        cited=_grown((), event, "content_hash"), runs=_grown((), event, "run"),
        confirmations=0, uses=0, challenges=0, reason_code=None, reason=None, replaced_by=None,
        earlier=data.get("earlier"), forgotten=False,
    )  # fmt: skip


def _end(start: datetime, at: datetime) -> datetime:
    # a decision may be about evidence dated later than the decision itself: an interval never ends before it began
    return max(start, at)


def _grown(known: tuple[str, ...], event: Event, part: str) -> tuple[str, ...]:
    more = {str(item[part]) for item in event.evidence if item.get(part)}
    return known if more <= set(known) else tuple(sorted({*known, *more}))


def link_of(event: Event, at: int) -> KnowledgeEventLink:
    """The row that says this event moved that node."""
    return KnowledgeEventLink(
        project_id=event.project, knowledge_id=event.data["knowledge"], source_id=event.source, event_id=event.event_id,
        version=at, transition=event.type.partition(".")[2], actor_id=event.actor, run_id=event.run,
        occurred_at=event.occurred_at, reason=event.data.get("reason") or event.data.get("basis"),
    )  # fmt: skip


def evidence_of(event: Event, at: int) -> list[Evidence]:
    """The citations an event brings for its node; the same place cited again is the same evidence."""
    rows: list[Evidence] = []
    for item in event.evidence:
        span: Mapping[str, Any] = item.get("span") or {}
        place = (item["ref"], item["type"], str(span.get("field")), str(span.get("start")), str(span.get("end")))
        observed = item.get("observed_at")
        rows.append(
            Evidence(
                project_id=event.project,
                evidence_id=digest_id("evidence/1", event.project, *place),
                knowledge_id=event.data["knowledge"],
                version=at,
                type=item["type"],
                event_ref=item["ref"],
                source_uri=f"temporality://{event.project}/event/{item['ref']}",
                run_id=item.get("run"),
                observed_at=datetime.fromisoformat(observed) if observed else event.occurred_at,
                content_hash=item.get("content_hash"),
                artifact_ref=item.get("artifact"),
                span_field=span.get("field"),
                span_start=span.get("start"),
                span_end=span.get("end"),
                quote=item.get("quote"),
                cited_by=event.event_id,
            )
        )
    return rows
