"""The fake of `domain.ports.recording`: one list of events for each run, answered event by event."""

from dataclasses import dataclass, field
from typing import Any

from activities.implements import implements
from domain.contracts.errors import RunClosed
from domain.contracts.ids import digest_id
from domain.contracts.observed_run import CompleteAnswer, EventAnswer, RecordAnswer
from domain.ports.recording import CLOSE_RUN, RECORD_EVENTS, CloseRequest, RecordRequest, RunOpening
from tests.workflows.fakes.faults import Faults


@dataclass
class Journal:
    """One run as the fake journal holds it."""

    openings: list[RunOpening] = field(default_factory=list)
    events: dict[str, dict[str, Any]] = field(default_factory=dict)
    closed: CompleteAnswer | None = None
    closes: list[CloseRequest] = field(default_factory=list)


class Recording:
    """Runs by (project, run)."""

    def __init__(self, faults: Faults) -> None:
        self._faults = faults
        self.runs: dict[tuple[str, str], Journal] = {}

    def run(self, project: str, run: str) -> Journal:
        return self.runs.setdefault((project, run), Journal())

    @implements(RECORD_EVENTS)
    async def record(self, asked: RecordRequest) -> RecordAnswer:
        await self._faults.meet(asked.opening.project)
        journal = self.run(asked.opening.project, asked.opening.run)
        if journal.closed is not None:
            raise RunClosed(asked.opening.run)
        journal.openings.append(asked.opening)
        answers = [self._event(journal, index, event) for index, event in enumerate(asked.events)]
        count = {status: sum(a.status == status for a in answers) for status in ("recorded", "duplicate", "refused")}
        return RecordAnswer(
            recorded=count["recorded"], duplicates=count["duplicate"], refused=count["refused"], events=answers
        )

    def _event(self, journal: Journal, index: int, event: Any) -> EventAnswer:
        if not isinstance(event, dict) or not isinstance(event.get("event_id"), str) or "type" not in event:
            return EventAnswer(index=index, status="refused", reason="an event is an object with event_id and type")
        event_id = event["event_id"]
        if event_id in journal.events:
            return EventAnswer(index=index, event_id=event_id, status="duplicate")
        journal.events[event_id] = event
        return EventAnswer(index=index, event_id=event_id, status="recorded", seq=len(journal.events))

    @implements(CLOSE_RUN)
    async def close(self, asked: CloseRequest) -> CompleteAnswer:
        opening = asked.opening
        await self._faults.meet(opening.project)
        journal = self.run(opening.project, opening.run)
        journal.closes.append(asked)
        if journal.closed is None:
            journal.closed = CompleteAnswer(
                run=opening.run,
                outcome=asked.complete.outcome,
                trajectory=digest_id(opening.run, *journal.events, size=64),
                extractor="fake/1",
            )
        return journal.closed
