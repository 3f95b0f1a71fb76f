"""A journal in memory, for given / when / then: it folds events and repeats admissions as a transaction does."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from domain.extraction.admission import AdmissionRequest, admit
from domain.extraction.candidate import Candidate, Citation
from domain.extraction.material import material
from domain.extraction.outcome import Attempt, started
from domain.extraction.versions import EXTRACTOR, extraction_id
from domain.journal.event import Event
from domain.journal.rows import Address, NotLoaded, WorkingSet
from domain.knowledge.state import NODES, Node
from domain.projections.catalogue import CATALOGUE
from domain.projections.fold import fold
from domain.projections.react import react

AT = datetime(2026, 3, 1, 12, tzinfo=UTC)
DEADLINE = AT + timedelta(days=7)


def happened(run: str, number: int, kind: str, data: dict[str, Any], **context: Any) -> Event:
    """Event `<run>-<number>` of a run, `number` minutes after the beginning."""
    at = AT + timedelta(minutes=number)
    return Event("p", f"test/{run}", f"{run}-{number}", kind, at, data, run=run, **context)


def command(run: str, number: int, line: str, output: str, code: int = 0) -> tuple[Event, Event]:
    """A shell command and its ending, as events `number` and `number + 1`."""
    operation = f"{run}-op-{number}"
    begun = happened(
        run, number, "tool.started", {"tool": "Bash", "command": line}, operation_id=operation, workspace="/w"
    )
    data = {"tool": "Bash", "exit_code": code, "output": output}
    kind = "tool.completed" if code == 0 else "tool.failed"
    return begun, happened(run, number + 1, kind, data, operation_id=operation, workspace="/w")


def claim(proposition: str, *cited: str, **more: Any) -> Candidate:
    evidence = [Citation(event_id=event) for event in cited]
    return Candidate(kind=more.pop("kind", "claim"), proposition=proposition, evidence=evidence, **more)


@dataclass
class Journal:
    """Rows as a store would hold them, and every event that was appended."""

    store: dict[Address, Any] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)

    def append(self, events: Iterable[Event]) -> None:
        for event in events:
            refused = CATALOGUE.refusal(event, producer=False)
            assert refused is None, refused
            rows = WorkingSet(written=dict(self.store), closed=True)
            at = len(self.events) + 1
            fold(rows, event, hashlib.sha256(repr(event.document()).encode()).digest(), at)
            self.events.append(event)
            self.store.update(rows.written)
            self.append(react(WorkingSet(written=dict(self.store), closed=True), event))

    def admit(self, request: AdmissionRequest) -> tuple[Event, ...]:
        """What a transaction does: fold, load what was missing, fold again; the answer is appended."""
        loaded: dict[Address, Any] = {}
        while True:
            try:
                answer = admit(WorkingSet(loaded=loaded), request)
            except NotLoaded as missing:
                loaded |= {address: self.store.get(address) for address in missing.addresses}
                continue
            self.append(answer)
            return answer

    def node(self, knowledge: str) -> Node:
        found = self.store[(NODES, (knowledge,))]
        assert isinstance(found, Node)
        return found

    def of_run(self, run: str) -> list[Event]:
        return [event for event in self.events if event.run == run]


def request_for(journal: Journal, run: str, *candidates: Candidate, n: int = 1, **more: Any) -> AdmissionRequest:
    """The request for extraction `n` of a run whose extraction was started just now."""
    trajectory = more.pop("trajectory", f"trajectory of {run}")
    extractor = more.pop("extractor", EXTRACTOR)
    attempt = Attempt("p", run, None, trajectory, extractor, extraction_id(trajectory, extractor), n)
    journal.append([started(attempt, AT)])
    return AdmissionRequest(
        attempt=attempt,
        candidates=candidates,
        evidence=material(journal.of_run(run)),
        at=AT + timedelta(hours=1),
        deadline=DEADLINE,
        duration_ms=12,
        model="rules/v1",
        **more,
    )
