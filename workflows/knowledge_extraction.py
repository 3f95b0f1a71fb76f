"""`KnowledgeExtraction`: a closed trajectory becomes candidates, and each candidate an approval (spec/2).

A failure is recorded, never touches the run it belongs to, and leaves this workflow failed, so that it may start again.
"""

import asyncio
from datetime import timedelta

from temporalio import workflow
from temporalio.exceptions import ActivityError, ApplicationError, is_cancelled_exception

from domain.contracts.approval import ROUTINE_SECONDS, ApprovalInput
from domain.contracts.extraction import ExtractionAnswer, ExtractionInput
from domain.contracts.names import KNOWLEDGE_EXTRACTION
from domain.contracts.starting import approval_start, extraction_start
from domain.ports.extracting import (
    ADMIT_CANDIDATES,
    FAIL_EXTRACTION,
    PROPOSE_CANDIDATES,
    START_EXTRACTION,
    AdmitCandidates,
    CandidatesAdmitted,
    FailExtraction,
    ProposeCandidates,
    StartExtraction,
)
from workflows.calls import call
from workflows.children import start_each
from workflows.failures import DOMAIN_ERRORS, failure_of, why
from workflows.visible import quoted, show, show_state, tell


@workflow.defn(name=KNOWLEDGE_EXTRACTION, failure_exception_types=DOMAIN_ERRORS)
class KnowledgeExtraction:
    """Claim the extraction, propose, admit, and let people decide."""

    @workflow.init
    def __init__(self, extraction: ExtractionInput) -> None:
        self._extraction = extraction
        self._id: str | None = None

    @workflow.run
    async def run(self, extraction: ExtractionInput) -> ExtractionAnswer:
        """The recorded outcome, once its approvals are started. Ends failed where the extraction failed."""
        show(extraction_start(extraction).attributes)
        try:
            admitted = await self._extract()
        except (ActivityError, asyncio.CancelledError) as error:
            await self._record_failure(error)
            if is_cancelled_exception(error) or not isinstance(error, ActivityError):
                raise
            raise failure_of(error) from error
        await self._ask_for_decisions(admitted.approvals)
        show_state("completed")
        tell(f"Done: {_counts(admitted.answer)}")
        return admitted.answer

    async def _extract(self) -> CandidatesAdmitted:
        """What was admitted, now or when this extraction completed before."""
        extraction = self._extraction
        tell(f"Extracting from run {quoted(extraction.run)}.")
        started = await call(START_EXTRACTION, StartExtraction(extraction=extraction, at=workflow.now()))
        self._id = started.extraction_id
        if started.answer is not None:
            return CandidatesAdmitted(answer=started.answer, approvals=started.approvals)
        proposed = await call(
            PROPOSE_CANDIDATES, ProposeCandidates(extraction=extraction, extraction_id=started.extraction_id)
        )
        tell(f"{proposed.count} candidates were proposed and are being admitted.")
        admission = AdmitCandidates(
            extraction=extraction,
            extraction_id=started.extraction_id,
            proposed=proposed,
            at=workflow.now(),
            approval_deadline=workflow.now() + timedelta(seconds=ROUTINE_SECONDS),
        )
        return await call(ADMIT_CANDIDATES, admission, summary=f"admit {proposed.count} candidates")

    async def _ask_for_decisions(self, approvals: list[ApprovalInput]) -> None:
        """Each approval is a workflow of its own; one that was started before stays as it is."""
        if approvals:
            tell(f"Starting {len(approvals)} approvals.")
            await start_each([approval_start(approval) for approval in approvals])

    async def _record_failure(self, error: BaseException) -> None:
        code, reason = why(error)
        show_state("failed")
        tell(f"The extraction failed: {quoted(reason)}", "The run is untouched, and the extraction can be run again.")
        failure = FailExtraction(
            extraction=self._extraction, extraction_id=self._id, reason_code=code, reason=reason, at=workflow.now()
        )
        try:
            await call(FAIL_EXTRACTION, failure)
        except ActivityError as unrecorded:
            both = f"The extraction failed: {reason} Recording that failed too: {why(unrecorded)[1]}"
            raise ApplicationError(both, type=code) from error


def _counts(answer: ExtractionAnswer) -> str:
    return (
        f"{answer.candidates_count} candidates, of which {answer.proposed} are proposed, "
        f"{answer.strengthened} strengthened what is known, {answer.challenged} challenged it, "
        f"{answer.duplicates_skipped} were known and {answer.invalid_skipped} were not admitted."
    )
