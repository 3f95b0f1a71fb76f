"""The fake of `domain.ports.extracting`: as many candidates as planned, and every ending remembered."""

from collections import defaultdict
from datetime import datetime

from activities.implements import implements
from domain.contracts.approval import ApprovalInput
from domain.contracts.errors import ExtractionRefused
from domain.contracts.extraction import ExtractionAnswer, ExtractionInput
from domain.contracts.ids import digest_id
from domain.ports.extracting import (
    ADMIT_CANDIDATES,
    FAIL_EXTRACTION,
    PROPOSE_CANDIDATES,
    START_EXTRACTION,
    AdmitCandidates,
    CandidatesAdmitted,
    CandidatesProposed,
    ExtractionFailed,
    ExtractionStarted,
    FailExtraction,
    ProposeCandidates,
    StartExtraction,
)
from tests.workflows.fakes.faults import Faults

Key = tuple[str, str, str, int]


class Extracting:
    """`plan` says how many candidates a project's runs give; endings are kept by (project, trajectory, version, n)."""

    def __init__(self, faults: Faults) -> None:
        self._faults = faults
        self.plan: dict[str, int] = defaultdict(int)
        self.completed: dict[Key, CandidatesAdmitted] = {}
        self.failed: dict[Key, FailExtraction] = {}
        self.all_known: set[str] = set()
        """Projects in which every extraction counts as completed before, with nothing found."""

    @implements(START_EXTRACTION)
    async def start(self, asked: StartExtraction) -> ExtractionStarted:
        await self._faults.meet(asked.extraction.project)
        key = key_of(asked.extraction)
        if asked.extraction.project in self.all_known:
            self.completed.setdefault(key, CandidatesAdmitted(answer=answer_of(asked.extraction, [])))
        done = self.completed.get(key)
        if key in self.failed:
            raise ExtractionRefused(f"extraction {key[3]} of this trajectory failed before; ask for the next one")
        return ExtractionStarted(
            extraction_id=digest_id(*key[1:3]),
            answer=done.answer if done else None,
            approvals=done.approvals if done else [],
        )

    @implements(PROPOSE_CANDIDATES)
    async def propose(self, asked: ProposeCandidates) -> CandidatesProposed:
        project = asked.extraction.project
        await self._faults.meet(project)
        return CandidatesProposed(artifact="0" * 64, count=self.plan[project], provider="fake/1", duration_ms=1)

    @implements(ADMIT_CANDIDATES)
    async def admit(self, asked: AdmitCandidates) -> CandidatesAdmitted:
        extraction, count = asked.extraction, asked.proposed.count
        await self._faults.meet(extraction.project)
        approvals = [approval(extraction, number, asked.approval_deadline) for number in range(count)]
        admitted = CandidatesAdmitted(answer=answer_of(extraction, approvals), approvals=approvals)
        return self.completed.setdefault(key_of(extraction), admitted)

    @implements(FAIL_EXTRACTION)
    async def fail(self, asked: FailExtraction) -> ExtractionFailed:
        await self._faults.meet(asked.extraction.project)
        self.failed.setdefault(key_of(asked.extraction), asked)
        return ExtractionFailed(extraction_id=asked.extraction_id or "unclaimed")


def key_of(extraction: ExtractionInput) -> Key:
    return extraction.project, extraction.trajectory, extraction.extractor, extraction.n


def answer_of(extraction: ExtractionInput, approvals: list[ApprovalInput]) -> ExtractionAnswer:
    return ExtractionAnswer(
        run=extraction.run,
        trajectory=extraction.trajectory,
        extractor=extraction.extractor,
        n=extraction.n,
        candidates_count=len(approvals),
        proposed=len(approvals),
        candidates=[str(a.node) for a in approvals],
        approvals=[a.approval for a in approvals],
    )


def approval(extraction: ExtractionInput, number: int, deadline: datetime) -> ApprovalInput:
    return ApprovalInput(
        project=extraction.project,
        approval=f"{extraction.trajectory[:16]}-{number}",
        deadline=deadline,
        title=f"claim {number} of run {extraction.run}",
        proposed_by_run=extraction.run,
        node=f"claim/v1/{extraction.trajectory[:8]}-{number}",
    )
