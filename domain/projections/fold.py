"""The one fold from events to rows, used by every append and by every rebuild.

It reads and writes a working set and knows no SQL. Bump `FOLD_VERSION` with any change of what a row says: an older worker is then
refused under the lock and a newer one rebuilds first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from domain.approvals import evolve as approvals
from domain.approvals.state import APPROVALS, Approval
from domain.extraction import state as extractions
from domain.extraction.state import EXTRACTIONS, Extraction
from domain.journal.event import Event
from domain.journal.rows import Address, Row, Table, WorkingSet
from domain.knowledge import evolve as knowledge
from domain.knowledge.state import EVIDENCE, LINKS, NODES, RELATIONSHIPS, TERMS, Node, Relationship, Term
from domain.retrieval.terms import terms
from domain.runs import evolve as runs
from domain.runs.state import FRAMES, OPERATIONS, RUNS, TASKS, Operation

FOLD_VERSION = 1
TABLES: tuple[Table, ...] = (
    RUNS, FRAMES, TASKS, OPERATIONS, NODES, LINKS, EVIDENCE, RELATIONSHIPS, TERMS, APPROVALS, EXTRACTIONS,
)  # fmt: skip


def touches(event: Event) -> tuple[Address, ...]:
    """The aggregates the event folds into, as far as the event alone tells: what an append loads before it folds."""
    family = event.type.partition(".")[0]
    if family == "knowledge":
        if event.type.startswith("knowledge.extraction."):
            return ((EXTRACTIONS, (event.data["extraction"], event.data["n"])),)
        return ((NODES, (event.data["knowledge"],)),)
    if family == "approval":
        return ((APPROVALS, (event.data["approval"],)),)
    if event.run is None:
        return ()
    if not runs.happened(event):
        return ((RUNS, (event.run,)),) if event.type == "run.closed" else ()
    found: list[Address] = [(RUNS, (event.run,))]
    if event.frame:
        found.append((FRAMES, (event.frame,)))
    if event.task:
        found.append((TASKS, (event.task,)))
    if event.operation_id and (runs.starts(event) or runs.ends(event)):
        found.append((OPERATIONS, (event.run, event.operation_id)))
    return tuple(found)


def fold(rows: WorkingSet, event: Event, body_hash: bytes, at: int, touched: tuple[Address, ...] | None = None) -> None:
    """Write what `event` changes into `rows`; `body_hash` is its content hash, `at` its place in the journal or in the batch.

    `touched` is `touches(event)` where the caller has it and has seen to it that all of them are there.
    """
    if touched is None:
        touched = touches(event)
        rows.require(touched)
    family = event.type.partition(".")[0]
    if family == "knowledge":
        _knowledge(rows, event, at)
    elif family == "approval":
        _approval(rows, event, at)
    elif touched:
        _happened(rows, event, body_hash, at, touched)


def _happened(rows: WorkingSet, event: Event, body_hash: bytes, at: int, addresses: tuple[Address, ...]) -> None:
    """What happened moves what it touches; commands and imports touch nothing and stand in the journal only."""
    step = (event, body_hash, at)
    for address in addresses:
        table, key = address
        if table is OPERATIONS:
            rows.put_at(address, runs.evolve_operation(rows.get(OPERATIONS, Operation, *key), event, at))
        else:
            rows.defer(address, _EVOLVE[table], step)


_EVOLVE: Mapping[Table, Callable[[Any, Sequence[Any]], Row]] = {
    RUNS: runs.evolve_run,
    FRAMES: runs.evolve_frame,
    TASKS: runs.evolve_task,
}


def _knowledge(rows: WorkingSet, event: Event, at: int) -> None:
    data = event.data
    if event.type.startswith("knowledge.extraction."):
        known = rows.get(EXTRACTIONS, Extraction, data["extraction"], data["n"])
        after = extractions.evolve(known, event, at)
        if after is not None:
            rows.put(EXTRACTIONS, after)
        return
    before = rows.get(NODES, Node, data["knowledge"])
    node = knowledge.evolve(before, event, at)
    if node is None:
        return
    rows.put(NODES, node)
    rows.add(LINKS, knowledge.link_of(event, at))
    for item in knowledge.evidence_of(event, at):
        rows.add(EVIDENCE, item)
    if before is None:
        for term, occurrences in sorted(Counter(terms(node.proposition)).items()):
            rows.add(TERMS, Term(event.project, term, node.knowledge_id, at, occurrences))
    if event.type == "knowledge.linked":
        rows.add(
            RELATIONSHIPS,
            Relationship(event.project, node.knowledge_id, data["relation"], data["to"], at, event.event_id),
        )


def _approval(rows: WorkingSet, event: Event, at: int) -> None:
    after = approvals.evolve(rows.get(APPROVALS, Approval, event.data["approval"]), event, at)
    if after is not None:
        rows.put(APPROVALS, after)
