"""An extraction as the journal tells it: one row for (trajectory, extractor version, n)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from domain.journal.event import Event
from domain.journal.rows import Table


@dataclass(frozen=True, slots=True)
class Extraction:
    """`state`: started, completed, failed. `outcome` holds the counters and lists of the completed event."""

    project_id: str
    extraction_id: str
    n: int
    version: int
    run_id: str | None
    trajectory_id: str
    extractor: str
    state: str
    started_at: datetime
    ended_at: datetime | None
    outcome: dict[str, Any]
    reason: str | None


EXTRACTIONS = Table("extractions", Extraction, ("extraction_id", "n"))


def evolve(extraction: Extraction | None, event: Event, at: int) -> Extraction | None:
    """The extraction after `event`; the first ending stays."""
    data = event.data
    if extraction is None:
        if event.type != "knowledge.extraction.started":
            return None
        return Extraction(
            project_id=event.project, extraction_id=data["extraction"], n=data["n"], version=at, run_id=event.run,
            trajectory_id=data["trajectory"], extractor=data["extractor"], state="started", started_at=event.occurred_at,
            ended_at=None, outcome={}, reason=None,
        )  # fmt: skip
    if extraction.state != "started" or event.type == "knowledge.extraction.started":
        return replace(extraction, version=at)
    if event.type == "knowledge.extraction.failed":
        return replace(extraction, version=at, state="failed", ended_at=event.occurred_at, reason=data["reason"])
    return replace(extraction, version=at, state="completed", ended_at=event.occurred_at, outcome=dict(data))
