"""Extraction events: started, completed, failed, with the counters of spec/2 section 24."""

from __future__ import annotations

from pydantic import Field

from domain.journal.catalogue import EventType, Payload


class Started(Payload):
    """Extraction `n` of this trajectory by this version began."""

    extraction: str
    trajectory: str
    extractor: str
    n: int = Field(ge=1)


class Invalid(Payload):
    """A candidate that was not admitted, and why."""

    reason_code: str
    reason: str
    proposition: str


class Completed(Payload):
    """candidates_count = proposed + strengthened + challenged + duplicates_skipped + invalid_skipped: counts in are accounted for.

    `confirmed` and `used` are the part of `strengthened` that moved a node or counted its reuse. `model` names the provider that served
    the capability class. `candidates` are the ids of the nodes proposed, `approvals` the approvals asked for them.
    """

    extraction: str
    trajectory: str
    extractor: str
    n: int = Field(ge=1)
    candidates_count: int
    proposed: int
    strengthened: int
    confirmed: int
    used: int
    challenged: int
    aged: int
    duplicates_skipped: int
    invalid_skipped: int
    duration_ms: int
    model: str
    candidates: list[str] = Field(default_factory=list)
    approvals: list[str] = Field(default_factory=list)
    invalid: list[Invalid] = Field(default_factory=list)


class Failed(Payload):
    """The extraction failed; its run is untouched and it can run again."""

    extraction: str
    trajectory: str
    extractor: str
    n: int = Field(ge=1)
    reason_code: str
    reason: str


EVENTS = (
    EventType("knowledge.extraction.started", Started),
    EventType("knowledge.extraction.completed", Completed),
    EventType("knowledge.extraction.failed", Failed),
)
