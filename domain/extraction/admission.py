"""Admission: which of an extractor's candidates become knowledge, decided in the transaction that writes it.

`admit` is a pure function of the rows and the request, so it may be folded again after a retry. A model only proposes:
new claims are proposed and ask for an approval, known ones are confirmed or used by independent evidence and
strengthened by anything else (law 7).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import datetime

from domain.approvals.ids import approval_id
from domain.contracts.errors import ExtractionRefused
from domain.extraction.candidate import Candidate
from domain.extraction.context import HintGiven
from domain.extraction.events import Invalid
from domain.extraction.material import Cited
from domain.extraction.outcome import Attempt, Tally, completed, event_id
from domain.extraction.reading import RESULTS
from domain.extraction.state import EXTRACTIONS, Extraction
from domain.extraction.versions import ACTOR, SOURCE, producer
from domain.extraction.weigh import Weighed, refuse, weigh
from domain.journal.event import Event, stamp
from domain.journal.rows import WorkingSet
from domain.knowledge.decide import Cause, propose, rederive, say
from domain.knowledge.normalise import claim_identity, normalise_claim, observation_identity
from domain.knowledge.state import NODES, Node
from domain.runs.commands.checks import checks

CAP = 7
"""Candidates of one extraction that are looked at; the rest is invalid as `over_cap`."""


@dataclass(frozen=True, slots=True)
class AdmissionRequest:
    """What an extractor returned for one attempt, with everything needed to judge it.

    `candidates` and `invalid` are `parse_candidates`' or a provider's; `evidence` is `material(events, cited ids)`;
    `hints` the context's. `at` is when the extraction ended, `deadline` the absolute instant by which approvals must be
    decided.
    """

    attempt: Attempt
    candidates: tuple[Candidate, ...]
    evidence: tuple[Cited, ...]
    at: datetime
    deadline: datetime
    duration_ms: int
    model: str
    invalid: tuple[Invalid, ...] = ()
    hints: tuple[HintGiven, ...] = ()
    cap: int = CAP


@dataclass(frozen=True, slots=True)
class _Placed:
    """Where a claim belongs: a live node, or a new one of this generation."""

    knowledge: str
    generation: int
    node: Node | None
    earlier: Node | None


def admit(rows: WorkingSet, request: AdmissionRequest) -> tuple[Event, ...]:
    """The events this answer causes, the completed event last; none where the attempt has already ended.

    Raises `NotLoaded` for rows it has to see, `ExtractionRefused` where the attempt never started.
    """
    attempt = request.attempt
    extraction = rows.get(EXTRACTIONS, Extraction, attempt.extraction, attempt.n)
    if extraction is None:
        raise ExtractionRefused(
            f"extraction {attempt.extraction} attempt {attempt.n} has no started event; start it first"
        )
    if extraction.state != "started":
        return ()
    weighed, invalid = _weigh_all(request)
    merged, duplicates = _merge(attempt.project, weighed)
    rows.require(tuple((NODES, (knowledge,)) for knowledge in merged))
    tally = Tally(duplicates_skipped=duplicates, invalid=(*request.invalid, *invalid))
    events: list[Event] = []
    for item in merged.values():
        tally, caused = _admit_one(rows, request, item, tally)
        events.extend(caused)
    events.append(completed(attempt, request.at, tally, request.duration_ms, request.model))
    return tuple(events)


def _weigh_all(request: AdmissionRequest) -> tuple[list[Weighed], list[Invalid]]:
    hints = tuple(hint.text for hint in request.hints if hint.text)
    weighed: list[Weighed] = []
    invalid: list[Invalid] = []
    for place, candidate in enumerate(request.candidates):
        if place >= request.cap:
            invalid.append(refuse(candidate, "over_cap", f"an extraction admits {request.cap} candidates at most"))
        else:
            found = weigh(candidate, request.evidence, hints)
            (weighed if isinstance(found, Weighed) else invalid).append(found)  # pyright: ignore[reportArgumentType]
    return weighed, invalid


def _merge(project: str, weighed: list[Weighed]) -> tuple[dict[str, Weighed], int]:
    """Candidates by identity: those that say the same bring their evidence to the first and count as duplicates."""
    merged: dict[str, Weighed] = {}
    for item in weighed:
        knowledge = claim_identity(project, item.claim.proposition, 0)
        first = merged.get(knowledge)
        if first is None:
            merged[knowledge] = item
            continue
        known = {cited["ref"] for cited in first.claim.evidence}
        more = tuple(cited for cited in item.claim.evidence if cited["ref"] not in known)
        merged[knowledge] = replace(
            first,
            claim=replace(first.claim, evidence=(*first.claim.evidence, *more)),
            stands_on=(*first.stands_on, *item.stands_on),
            caused_by=tuple(dict.fromkeys((*first.caused_by, *item.caused_by))),
        )
    return merged, len(weighed) - len(merged)


def _admit_one(
    rows: WorkingSet, request: AdmissionRequest, item: Weighed, tally: Tally
) -> tuple[Tally, tuple[Event, ...]]:
    attempt = request.attempt
    if _observed_already(rows, attempt.project, item):
        return replace(tally, duplicates_skipped=tally.duplicates_skipped + 1), ()
    placed = _place(rows, attempt.project, item)
    if placed is None:
        return replace(tally, duplicates_skipped=tally.duplicates_skipped + 1), ()
    if isinstance(placed, Invalid):
        return replace(tally, invalid=(*tally.invalid, placed)), ()
    if any(hint.knowledge == placed.knowledge for hint in request.hints):
        repeated = refuse(item.candidate, "from_hint", "it repeats knowledge the run was given as a hint")
        return replace(tally, invalid=(*tally.invalid, repeated)), ()
    cause = _cause(request, item)
    if placed.node is None:
        proposed = propose(cause, placed.knowledge, item.claim, generation=placed.generation, earlier=placed.earlier)
        asked = _ask(request, placed.knowledge, item.claim.proposition, proposed.event_id)
        return replace(
            tally,
            proposed=tally.proposed + 1,
            candidates=(*tally.candidates, placed.knowledge),
            approvals=(*tally.approvals, asked.data["approval"]),
        ), (proposed, asked)
    # A contradiction with another live node would be decided here, and counted as challenged.
    outcome, event = _found_again(cause, placed.node, item)
    if outcome == "strengthened" and not _brings(placed.node, attempt.run, item):
        return replace(tally, duplicates_skipped=tally.duplicates_skipped + 1), ()
    return replace(
        tally,
        strengthened=tally.strengthened + 1,
        confirmed=tally.confirmed + (outcome == "confirmed"),
        used=tally.used + (outcome == "used"),
    ), (event,)


def _place(rows: WorkingSet, project: str, item: Weighed) -> _Placed | Invalid | None:
    """The first generation that is not ended; None where the claim adds nothing to what was decided, or is
    forgotten.
    """
    said = normalise_claim(item.claim.proposition)
    generation, cited, earlier = 0, frozenset[str](), None
    while True:
        knowledge = claim_identity(project, item.claim.proposition, generation)
        node = rows.get(NODES, Node, knowledge)
        if node is None:
            return _Placed(knowledge, generation, None, earlier)
        if normalise_claim(node.proposition) != said:
            reason = f"{knowledge} already says something else: {node.proposition[:120]}"
            return refuse(item.candidate, "identity_conflict", reason)
        if node.forgotten:
            return None
        if not node.terminal:
            return _Placed(knowledge, generation, node, earlier)
        cited |= frozenset(node.cited)
        if item.hashes <= cited:
            return None
        generation, earlier = generation + 1, node


def _found_again(cause: Cause, node: Node, item: Weighed) -> tuple[str, Event]:
    """What finding a live node again says of it, with all its citations attached.

    An observation needs another execution and not other bytes (law 7); results of a run that was not there yet are one.
    """
    new_run = cause.run != node.origin_run and cause.run not in node.runs
    if node.kind == "observation" and new_run and any(cited["type"] in RESULTS for cited in item.telling):
        evidence = item.claim.evidence
        if node.state in ("proposed", "challenged"):
            basis = {"basis": "execution-reverification.v1"}
            return "confirmed", say(cause, "knowledge.confirmed", node.knowledge_id, basis, evidence)
        return "used", say(cause, "knowledge.used", node.knowledge_id, {"basis": "execution-reuse.v1"}, evidence)
    outcome, event = rederive(cause, node, replace(item.claim, evidence=item.telling))
    return outcome, replace(event, evidence=item.claim.evidence)


def _brings(node: Node, run: str, item: Weighed) -> bool:
    """Whether a strengthening adds anything: content nobody cited yet, or the first citation by this run."""
    return bool(item.hashes - frozenset(node.cited)) or (run != node.origin_run and run not in node.runs)


_SUCCESS = re.compile(
    r"\b(pass(es|ed)?|succe(eds?|eded|ss\w*)|exit(s|ed)?|green|проход\w+|прош\w+|успешн\w+|заверш\w+)\b", re.I
)
_FILLER = re.compile(
    r"\b(?:the|a|command|tests?|suite|all|now|with|and|code|status|0|zero|is|are|in|on|runs?|running|ok|without|errors|any|"
    r"returns|returned|by|все|тесты|команда|тест|с|кодом|без|ошибок|теперь|в|на|и)\b",
    re.I,
)


def _observed_already(rows: WorkingSet, project: str, item: Weighed) -> bool:
    """Whether the candidate only says what the kernel observed: that a check it cites succeeded (spec/2 section 13)."""
    text = item.claim.proposition.casefold()
    if not _SUCCESS.search(text):
        return False
    for cited in item.stands_on:
        if cited.type != "check_result" or not cited.command:
            continue
        for check in checks(cited.command, cited.workspace or ""):
            spoken = sorted({check.canonical.casefold(), cited.command.casefold()}, key=len, reverse=True)
            command = next((said for said in spoken if said in text), None)
            if command is None:
                continue
            rest = text.replace(command, " ").replace(check.workspace.casefold() or "\0", " ")
            more = re.search(r"\w", _FILLER.sub(" ", _SUCCESS.sub(" ", rest)))
            alone = item.claim.kind == "observation" or more is None
            if (
                alone
                and rows.get(NODES, Node, observation_identity(project, check.workspace, check.canonical)) is not None
            ):
                return True
    return False


def _cause(request: AdmissionRequest, item: Weighed) -> Cause:
    attempt = request.attempt
    name, version = producer(attempt.extractor)
    cited = {citation["ref"] for citation in item.claim.evidence}
    # valid time is that of the evidence, however much later it was extracted (DESIGN section 8)
    shown = max((one.occurred_at for one in request.evidence if one.event_id in cited), default=request.at)
    return Cause(
        project=attempt.project,
        source=SOURCE,
        key=attempt.key,
        at=shown,
        actor=ACTOR,
        producer=name,
        producer_version=version,
        caused_by=item.caused_by,
        run=attempt.run,
        task=attempt.task,
    )


def _ask(request: AdmissionRequest, knowledge: str, proposition: str, proposed: str) -> Event:
    """The routine approval of a new candidate; its six fields and deadline are spec/4's."""
    attempt = request.attempt
    data = {
        "approval": approval_id(attempt.extraction, knowledge),
        "proposed_action": {
            "kind": "knowledge.confirm",
            "target": knowledge,
            "arguments": {"proposition": proposition},
        },
        "criticality": "routine",
        "deadline": stamp(request.deadline),
        "proposed_by_run": attempt.run,
    }
    return Event(
        project=attempt.project,
        source=SOURCE,
        event_id=event_id(attempt, "approval.requested", knowledge),
        type="approval.requested",
        occurred_at=request.at,
        data=data,
        run=attempt.run,
        task=attempt.task,
        actor=ACTOR,
        caused_by=(proposed,),
    )
