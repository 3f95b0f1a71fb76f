"""Evidence down to the event and the span: each citation is opened in the event it names (COMPLAINTS row 27).

Bodies that events hold by hash are read from the artifact store where one is given; else their preview is shown, and
it says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from activities.postgres.reading.retrieval import Reading
from activities.postgres.rebuild import read_event
from domain.contracts.errors import ArtifactMissing, ArtifactsUnavailable
from domain.journal.event import Event
from domain.knowledge.state import EVIDENCE, Evidence
from domain.retrieval.spans import Cited, Excerpt, artifact_of, excerpt
from domain.retrieval.views import Citation


class Bodies(Protocol):
    """The part of an artifact store that a reader needs."""

    async def get(self, project: str, sha256: str) -> bytes: ...


async def evidence_of(opened: Reading, ids: Sequence[str], bodies: Bodies | None) -> dict[str, tuple[Citation, ...]]:
    """The citations of each node, oldest first, opened in their events."""
    rows = await opened.rows("evidence_of", EVIDENCE, Evidence, ids=list(ids))
    refs = list(dict.fromkeys(row.event_ref for row in rows))
    events = {
        event_id: (int(seq), read_event(body))
        for event_id, seq, body in await opened.fetch("bodies_by_id", events=refs)
    }
    commands = {event: command for event, command, _ in await opened.fetch("commands_of", events=refs)}
    found: dict[str, list[Citation]] = {}
    for row in rows:
        cited = await _citation(opened.project, row, events.get(row.event_ref), bodies)
        found.setdefault(row.knowledge_id, []).append(_with_command(cited, commands))
    return {node: tuple(citations) for node, citations in found.items()}


async def _citation(project: str, row: Evidence, held: tuple[int, Event] | None, bodies: Bodies | None) -> Citation:
    seq, event = held if held is not None else (None, None)
    return Citation(
        id=row.evidence_id, type=row.type, event=row.event_ref, event_type=event.type if event else None, seq=seq,
        source_uri=row.source_uri, run=row.run_id, operation=event.operation_id if event else None, command=None,
        observed_at=row.observed_at, content_hash=row.content_hash, artifact=row.artifact_ref, cited_by=row.cited_by,
        excerpt=await _excerpt(project, row, event, bodies) if event else None,
    )  # fmt: skip


async def _excerpt(project: str, row: Evidence, event: Event, bodies: Bodies | None) -> Excerpt:
    cited = Cited(row.span_field, row.span_start, row.span_end, row.quote, row.content_hash)
    sha256 = artifact_of(event.data, row.span_field)
    body = None
    if sha256 is not None and bodies is not None:
        try:
            body = await bodies.get(project, sha256)
        except (ArtifactMissing, ArtifactsUnavailable):
            # the preview in the event is still worth showing, marked as incomplete
            body = None
    return excerpt(event.data, cited, body)


def _with_command(citation: Citation, commands: Mapping[str, str | None]) -> Citation:
    command = commands.get(citation.event)
    if command is None:
        return citation
    return replace(citation, command=command)
