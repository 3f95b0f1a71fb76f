"""Knowledge as the journal tells it: nodes, their events, evidence, relationships and terms, one class per table.

The SQL shape of spec/1 holds: `knowledge_nodes` and `knowledge_event_links` carry its columns, and more.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from domain.journal.rows import Table

TERMINAL = frozenset({"corrected", "superseded", "invalidated"})


@dataclass(frozen=True, slots=True)
class Node:
    """A stable project-scoped identity with its proposition and what became of it. Nothing here scores truth."""

    project_id: str
    knowledge_id: str
    version: int
    proposition: str
    kind: str
    state: str
    valid_from: datetime
    valid_to: datetime | None
    updated_at: datetime
    generation: int
    workspace: str | None
    producer: str
    producer_version: str
    origin_run: str | None
    provenance: str | None
    # content hashes of everything cited so far, sorted; independence is judged against them
    cited: tuple[str, ...]
    # runs that cited evidence, sorted
    runs: tuple[str, ...]
    confirmations: int
    uses: int
    challenges: int
    reason_code: str | None
    reason: str | None
    replaced_by: str | None
    earlier: str | None
    forgotten: bool

    @property
    def terminal(self) -> bool:
        return self.state in TERMINAL


@dataclass(frozen=True, slots=True)
class KnowledgeEventLink:
    """Which event moved which node, by whom and why."""

    project_id: str
    knowledge_id: str
    source_id: str
    event_id: str
    version: int
    transition: str
    actor_id: str | None
    run_id: str | None
    occurred_at: datetime
    reason: str | None


@dataclass(frozen=True, slots=True)
class Evidence:
    """A citation kept for a node, down to the event and the span of its text."""

    project_id: str
    evidence_id: str
    knowledge_id: str
    version: int
    type: str
    event_ref: str
    source_uri: str
    run_id: str | None
    observed_at: datetime
    content_hash: str | None
    artifact_ref: str | None
    span_field: str | None
    span_start: int | None
    span_end: int | None
    quote: str | None
    cited_by: str


@dataclass(frozen=True, slots=True)
class Relationship:
    """An explicit relation between two nodes and the event that says so."""

    project_id: str
    from_id: str
    relation: str
    to_id: str
    version: int
    event_id: str


@dataclass(frozen=True, slots=True)
class Term:
    """A word of a proposition, for lexical search; `occurrences` within the proposition."""

    project_id: str
    term: str
    knowledge_id: str
    version: int
    occurrences: int


NODES = Table("knowledge_nodes", Node, ("knowledge_id",))
LINKS = Table("knowledge_event_links", KnowledgeEventLink, ("source_id", "event_id", "knowledge_id"), keyed=False)
EVIDENCE = Table("evidence", Evidence, ("evidence_id", "knowledge_id"), keyed=False)
RELATIONSHIPS = Table("relationships", Relationship, ("from_id", "relation", "to_id"), keyed=False)
TERMS = Table("terms", Term, ("term", "knowledge_id"), keyed=False)
