"""`extraction.*`: claim, propose, admit, fail. What admission decides is decided in the transaction that writes it.

The proposal is an artifact between the two steps, so a provider is asked once however often admission is tried again.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence

from activities.implements import implements
from activities.models.routing import Routing
from activities.postgres import events as stored
from activities.postgres import states
from activities.postgres.journal import Journal
from activities.postgres.known_claims import known_claims
from activities.postgres.pool import Database
from domain.approvals.state import APPROVALS, Approval
from domain.contracts.approval import ApprovalInput
from domain.contracts.errors import ArtifactMissing, ExtractionRefused
from domain.contracts.extraction import ExtractionAnswer, ExtractionInput
from domain.contracts.payloads import is_list, is_object
from domain.extraction import outcome
from domain.extraction.admission import AdmissionRequest, admit
from domain.extraction.candidate import Proposal
from domain.extraction.context import compact
from domain.extraction.events import Completed
from domain.extraction.material import material
from domain.extraction.state import EXTRACTIONS, Extraction
from domain.extraction.versions import extraction_id
from domain.journal.event import Event
from domain.journal.rows import WorkingSet
from domain.ports.artifact_store import ArtifactStore
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

CAPABILITY = "extract_small"
MAX_BODY_BYTES = 256 * 1024
MAX_BODIES = 200


class Extracting:
    """The extraction activities. `cap` is how many candidates of one extraction are looked at."""

    def __init__(
        self, journal: Journal, database: Database, artifacts: ArtifactStore, routing: Routing, *, cap: int
    ) -> None:
        self._journal = journal
        self._database = database
        self._artifacts = artifacts
        self._routing = routing
        self._cap = cap

    @implements(START_EXTRACTION)
    async def start(self, request: StartExtraction) -> ExtractionStarted:
        """Claim the attempt. Raises `ExtractionRefused` for an attempt that failed before, or an n out of turn."""
        attempt = _attempt(request.extraction)

        def decide(rows: WorkingSet, late: bool) -> Sequence[Event]:
            known = rows.get(EXTRACTIONS, Extraction, attempt.extraction, attempt.n)
            if known is not None and known.state == "failed":
                raise ExtractionRefused(f"attempt {attempt.n} failed ({known.reason}); start attempt {attempt.n + 1}")
            if known is None and attempt.n > 1:
                before = rows.get(EXTRACTIONS, Extraction, attempt.extraction, attempt.n - 1)
                if before is None or before.state == "started":
                    raise ExtractionRefused(f"attempt {attempt.n} follows attempt {attempt.n - 1}, which has not ended")
            return () if known is not None else (outcome.started(attempt, request.at),)

        await self._journal.transact(attempt.project, decide)
        known = await self._load(attempt)
        if known is None or known.state != "completed":
            return ExtractionStarted(extraction_id=attempt.extraction)
        admitted = await self._admitted(attempt, known)
        return ExtractionStarted(extraction_id=attempt.extraction, answer=admitted.answer, approvals=admitted.approvals)

    @implements(PROPOSE_CANDIDATES)
    async def propose(self, request: ProposeCandidates) -> CandidatesProposed:
        """Ask the provider of the capability class; its proposal is durable before this returns."""
        begun = time.monotonic()
        attempt = _attempt(request.extraction)
        events = await stored.of_run(self._database, attempt.project, attempt.run, attempt.trajectory)
        # in a thread: a long run takes seconds to read, and whatever else this worker does would stand still
        context = await asyncio.to_thread(compact, events, await self._bodies(attempt.project, events))
        existing = await known_claims(self._database, attempt.project, context)
        proposal = await asyncio.to_thread(self._routing.extractor(CAPABILITY), context, existing)
        kept = await self._artifacts.put(attempt.project, proposal.model_dump_json().encode())
        elapsed = round((time.monotonic() - begun) * 1000)
        return CandidatesProposed(
            artifact=kept, count=len(proposal.candidates), provider=proposal.provider, duration_ms=elapsed
        )

    @implements(ADMIT_CANDIDATES)
    async def admit(self, request: AdmitCandidates) -> CandidatesAdmitted:
        """Admit and record the completion in one transaction; asked again, it answers what that transaction recorded."""
        attempt = _attempt(request.extraction)
        body = await self._artifacts.get(attempt.project, request.proposed.artifact)
        proposal = Proposal.model_validate_json(body)
        events = await stored.of_run(self._database, attempt.project, attempt.run, attempt.trajectory)
        bodies = await self._bodies(attempt.project, events)
        cited = {citation.event_id for candidate in proposal.candidates for citation in candidate.evidence}
        admission = AdmissionRequest(
            attempt=attempt,
            candidates=tuple(proposal.candidates),
            evidence=await asyncio.to_thread(material, events, cited, bodies),
            at=request.at,
            deadline=request.approval_deadline,
            duration_ms=request.proposed.duration_ms,
            model=request.proposed.provider,
            hints=(await asyncio.to_thread(compact, events, bodies)).hints,
            cap=self._cap,
        )
        await self._journal.transact(attempt.project, lambda rows, late: admit(rows, admission))
        known = await self._load(attempt)
        if known is None or known.state != "completed":
            raise ExtractionRefused(
                f"attempt {attempt.n} ended as {known.state if known else 'nothing'} before it was admitted"
            )
        return await self._admitted(attempt, known)

    @implements(FAIL_EXTRACTION)
    async def fail(self, request: FailExtraction) -> ExtractionFailed:
        """Record the failure; an attempt that ended otherwise keeps its ending."""
        attempt = _attempt(request.extraction)

        def decide(rows: WorkingSet, late: bool) -> Sequence[Event]:
            known = rows.get(EXTRACTIONS, Extraction, attempt.extraction, attempt.n)
            failed = outcome.failed(attempt, request.at, request.reason_code, request.reason)
            if known is None:
                return (outcome.started(attempt, request.at), failed)
            return (failed,) if known.state == "started" else ()

        await self._journal.transact(attempt.project, decide)
        return ExtractionFailed(extraction_id=attempt.extraction)

    async def _load(self, attempt: outcome.Attempt) -> Extraction | None:
        key = (attempt.extraction, attempt.n)
        return (await states.load(self._database, attempt.project, EXTRACTIONS, key)).get(key)

    async def _admitted(self, attempt: outcome.Attempt, known: Extraction) -> CandidatesAdmitted:
        told = Completed.model_validate(known.outcome)
        asked = await states.load(self._database, attempt.project, APPROVALS, *((name,) for name in told.approvals))
        fields = ExtractionAnswer.model_fields.keys() & Completed.model_fields.keys()
        answer = ExtractionAnswer(run=attempt.run, **{name: getattr(told, name) for name in fields})
        return CandidatesAdmitted(
            answer=answer, approvals=[_to_start(asked[name,]) for name in told.approvals if (name,) in asked]
        )

    async def _bodies(self, project: str, events: Sequence[Event]) -> dict[str, str]:
        """Texts of the artifacts that the run's events name, as far as a bounded context can use them."""
        wanted: dict[str, None] = {}
        for event in events:
            _references(event.data, wanted)
        bodies: dict[str, str] = {}
        for sha256 in list(wanted)[:MAX_BODIES]:
            try:
                bodies[sha256] = (await self._artifacts.get(project, sha256)).decode("utf-8", "replace")
            except ArtifactMissing:
                # the preview in the event stands in; a body that is gone must not keep the rest of the run from being read
                continue
        return bodies


def _attempt(extraction: ExtractionInput) -> outcome.Attempt:
    return outcome.Attempt(
        project=extraction.project, run=extraction.run, task=extraction.task, trajectory=extraction.trajectory,
        extractor=extraction.extractor, extraction=extraction_id(extraction.trajectory, extraction.extractor), n=extraction.n,
    )  # fmt: skip


def _to_start(approval: Approval) -> ApprovalInput:
    shown = approval.proposed_action.get("arguments")
    proposition = str(shown.get("proposition", "")) if is_object(shown) else ""
    return ApprovalInput.model_validate(
        {
            "project": approval.project_id,
            "approval": approval.approval_id,
            "deadline": approval.deadline,
            "criticality": approval.criticality,
            "title": proposition[:200],
            "proposed_by_run": approval.proposed_by_run,
            "node": approval.target,
        }
    )


def _references(value: object, found: dict[str, None]) -> None:
    if is_object(value):
        sha256 = value.get("artifact")
        if isinstance(sha256, str) and isinstance(value.get("bytes"), int) and value["bytes"] <= MAX_BODY_BYTES:
            found[sha256] = None
            return
        for item in value.values():
            _references(item, found)
    elif is_list(value):
        for item in value:
            _references(item, found)
