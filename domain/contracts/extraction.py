"""`KnowledgeExtraction`: from a closed trajectory to candidates (spec/2)."""

from __future__ import annotations

from pydantic import Field

from domain.contracts.messages import Message


class ExtractionInput(Message):
    """Start of an extraction: `n` counts repetitions of the same trajectory by the same extractor version."""

    project: str
    run: str
    trajectory: str
    extractor: str
    n: int = Field(default=1, ge=1)
    task: str | None = None


class ExtractionAnswer(Message):
    """What the completed extraction recorded (spec/2 section 24); `candidates` are the nodes it proposed."""

    run: str
    trajectory: str
    extractor: str
    n: int
    candidates_count: int = 0
    proposed: int = 0
    strengthened: int = 0
    confirmed: int = 0
    used: int = 0
    challenged: int = 0
    aged: int = 0
    duplicates_skipped: int = 0
    invalid_skipped: int = 0
    duration_ms: int = 0
    model: str = ""
    candidates: list[str] = Field(default_factory=list)
    approvals: list[str] = Field(default_factory=list)
