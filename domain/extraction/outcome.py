"""The extraction's own events: started, completed, failed, each once per (trajectory, version, n) whoever writes it
how often.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from domain.contracts.ids import digest_id
from domain.extraction.events import Invalid
from domain.extraction.versions import ACTOR, SOURCE
from domain.journal.event import Event

LISTED = 50
"""How many invalid candidates the completed event lists; the counters count all."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """Extraction `n` (from 1) of a run's trajectory by one extractor version."""

    project: str
    run: str
    task: str | None
    trajectory: str
    extractor: str
    extraction: str
    n: int

    @property
    def key(self) -> str:
        return f"{self.extraction}/{self.n}"


@dataclass(frozen=True, slots=True)
class Tally:
    """What became of the candidates. `challenged` stays 0 until contradictions are decided here; `aged` belongs to
    the sweep.
    """

    proposed: int = 0
    strengthened: int = 0
    confirmed: int = 0
    used: int = 0
    challenged: int = 0
    aged: int = 0
    duplicates_skipped: int = 0
    candidates: tuple[str, ...] = ()
    approvals: tuple[str, ...] = ()
    invalid: tuple[Invalid, ...] = field(default=())

    def counters(self) -> dict[str, Any]:
        """The fields of spec/2 section 24; what came in is the sum of what became of it."""
        skipped = len(self.invalid)
        return {
            "candidates_count": self.proposed + self.strengthened + self.challenged + self.duplicates_skipped + skipped,
            "proposed": self.proposed,
            "strengthened": self.strengthened,
            "confirmed": self.confirmed,
            "used": self.used,
            "challenged": self.challenged,
            "aged": self.aged,
            "duplicates_skipped": self.duplicates_skipped,
            "invalid_skipped": skipped,
            "candidates": list(self.candidates),
            "approvals": list(self.approvals),
            "invalid": [item.model_dump() for item in self.invalid[:LISTED]],
        }


def started(attempt: Attempt, at: datetime, caused_by: tuple[str, ...] = ()) -> Event:
    """The extraction began; `caused_by` is the closing of its run."""
    return _say(attempt, "knowledge.extraction.started", at, {}, caused_by)


def completed(attempt: Attempt, at: datetime, tally: Tally, duration_ms: int, model: str) -> Event:
    """The extraction ended with these counts; `model` names what served the capability class."""
    data = tally.counters() | {"duration_ms": duration_ms, "model": model}
    return _say(
        attempt, "knowledge.extraction.completed", at, data, (event_id(attempt, "knowledge.extraction.started"),)
    )


def failed(attempt: Attempt, at: datetime, reason_code: str, reason: str) -> Event:
    """The extraction failed; its run is untouched and `n + 1` may run."""
    data = {"reason_code": reason_code, "reason": reason}
    return _say(attempt, "knowledge.extraction.failed", at, data, (event_id(attempt, "knowledge.extraction.started"),))


def event_id(attempt: Attempt, kind: str, knowledge: str = "") -> str:
    """The id of an event this attempt writes: the same attempt saying the same is the same event."""
    return digest_id("extraction/1", attempt.extraction, str(attempt.n), knowledge, kind)


def _say(attempt: Attempt, kind: str, at: datetime, data: Mapping[str, Any], caused_by: tuple[str, ...]) -> Event:
    named = {
        "extraction": attempt.extraction,
        "trajectory": attempt.trajectory,
        "extractor": attempt.extractor,
        "n": attempt.n,
    }
    return Event(
        project=attempt.project,
        source=SOURCE,
        event_id=event_id(attempt, kind),
        type=kind,
        occurred_at=at,
        data=named | dict(data),
        run=attempt.run,
        task=attempt.task,
        actor=ACTOR,
        caused_by=caused_by,
    )
