"""What an extraction asks of the world."""

from __future__ import annotations

from pydantic import AwareDatetime, Field

from domain.contracts.approval import ApprovalInput
from domain.contracts.extraction import ExtractionAnswer, ExtractionInput
from domain.contracts.messages import Message
from domain.ports.activity_ref import ActivityRef


class StartExtraction(Message):
    """Claim the unique row (project, trajectory, version, n)."""

    extraction: ExtractionInput
    at: AwareDatetime


class ExtractionStarted(Message):
    """`answer` is set when this extraction completed before: its recorded outcome is given again."""

    extraction_id: str
    answer: ExtractionAnswer | None = None
    approvals: list[ApprovalInput] = Field(default_factory=list)


class ProposeCandidates(Message):
    """Build the compact context and ask the capability class `extract` for candidates."""

    extraction: ExtractionInput
    extraction_id: str


class CandidatesProposed(Message):
    """The proposal as an artifact, and what produced it."""

    artifact: str
    count: int
    provider: str
    duration_ms: int


class AdmitCandidates(Message):
    """Admit what was proposed and record the completion, in one transaction. `approval_deadline` is absolute."""

    extraction: ExtractionInput
    extraction_id: str
    proposed: CandidatesProposed
    at: AwareDatetime
    approval_deadline: AwareDatetime


class CandidatesAdmitted(Message):
    """The recorded outcome, and the approvals to start."""

    answer: ExtractionAnswer
    approvals: list[ApprovalInput] = Field(default_factory=list)


class FailExtraction(Message):
    """Record that the extraction failed; `extraction_id` is None where it failed before it was claimed."""

    extraction: ExtractionInput
    extraction_id: str | None
    reason_code: str
    reason: str = Field(max_length=4000)
    at: AwareDatetime


class ExtractionFailed(Message):
    """The failure is durable."""

    extraction_id: str


START_EXTRACTION = ActivityRef("extraction.start", takes=StartExtraction, gives=ExtractionStarted)
PROPOSE_CANDIDATES = ActivityRef("extraction.propose", takes=ProposeCandidates, gives=CandidatesProposed)
ADMIT_CANDIDATES = ActivityRef("extraction.admit", takes=AdmitCandidates, gives=CandidatesAdmitted)
FAIL_EXTRACTION = ActivityRef("extraction.fail", takes=FailExtraction, gives=ExtractionFailed)
