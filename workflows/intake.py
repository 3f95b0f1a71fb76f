"""What an observed run has taken in: batches in flight, batches waiting, and the counts of all that is durable.

Batches sent by signal are recorded one by one in the order they came; those still waiting move on with the history.
"""

import asyncio
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Final

from temporalio import workflow
from temporalio.exceptions import ActivityError

from domain.contracts.errors import TemporalityError
from domain.contracts.messages import excerpt
from domain.contracts.observed_run import (
    MAX_BATCH_BYTES,
    MAX_BATCH_EVENTS,
    Carried,
    Progress,
    RecordAnswer,
    RecordBatch,
    Stage,
)
from domain.ports.recording import RECORD_EVENTS, RecordRequest, RunOpening
from workflows.calls import call, policy_for
from workflows.failures import why
from workflows.histories import HISTORY_BYTES_AT_MOST
from workflows.visible import clock, quoted

MOVABLE_BYTES: Final = 40_000
"""More JSON than this is not carried to a new history, but recorded before (no payload over 50 KB, DESIGN law 5)."""
ANOMALY_BYTES: Final = 8_000
PATIENT: Final = replace(policy_for(RECORD_EVENTS), schedule_to_close=timedelta(days=365))
"""Nobody sends a signal again, so that it waits for the journal as long as it takes."""


class Intake:
    """The part of an observed run that takes batches in. `held` is the gate: what waits then stays waiting."""

    def __init__(self, opening: RunOpening, carried: Carried) -> None:
        self.held = False
        self.last_refusal = carried.last_refusal
        self.last_activity_at = carried.last_activity_at or opening.at
        self._opening = opening
        self._count = carried
        self._waiting = [(_size(batch), batch) for batch in carried.waiting]
        self._in_flight = 0
        self._one_by_one = asyncio.Lock()
        self._taking: asyncio.Task[None] | None = None
        self._taken = 0

    async def record(self, batch: RecordBatch, *, signals: int = 0) -> RecordAnswer:
        """Make a batch durable, one that came by update or several that came by signal. Raises ActivityError."""
        self.last_activity_at = workflow.now()
        self._in_flight += 1
        self._taken += 2 * _size(batch)
        request = RecordRequest(opening=self._opening, events=batch.events, at=workflow.now())
        summary = f"append {len(batch.events)} events" + (f" of {signals} signals" if signals else "")
        try:
            answer = await call(RECORD_EVENTS, request, summary=summary, policy=PATIENT if signals else None)
        finally:
            self._in_flight -= 1
        self._add(batches=signals or 1, recorded=answer.recorded, duplicates=answer.duplicates, refused=answer.refused)
        if answer.refused:
            self.last_refusal = next((event.reason for event in answer.events if event.status == "refused"), None)
        return answer

    def has_room(self, batch: RecordBatch) -> bool:
        """Whether the history can hold one more batch, which stands in it twice: as it came and as it is passed on."""
        # the history's own size lags behind what tasks under way have taken in
        size = max(workflow.info().get_current_history_size(), self._taken)
        return not self.held and size + 2 * _size(batch) <= HISTORY_BYTES_AT_MOST

    def queue(self, batch: RecordBatch) -> None:
        """Let a batch wait for its turn; `take` gives it one."""
        self.last_activity_at = workflow.now()
        self._waiting.append((_size(batch), batch))

    def queue_anomaly(self, what: str, error: TemporalityError, sent: tuple[Any, ...]) -> None:
        """Keep a signal that was not understood, as an event of the run."""
        self.refuse(str(error))
        event = {
            "event_id": f"signal-{workflow.uuid7()}",
            "occurred_at": workflow.now().isoformat(),
            "type": "source.unknown",
            "data": {
                "native_type": f"signal {what}",
                "reason": str(error),
                "record": excerpt(list(sent), ANOMALY_BYTES),
            },
        }
        self.queue(RecordBatch(events=[event]))

    def refuse(self, reason: str) -> None:
        """Count what nobody can be answered about."""
        self._add(refused=1)
        self.last_refusal = reason

    async def take(self) -> None:
        """Record what waits in the order it came, as much at once as a batch may hold, until the gate holds."""
        async with self._one_by_one:
            while self._waiting and not (self.held and self._is_movable()):
                signals, together = self._next()
                try:
                    await self.record(together, signals=signals)
                except ActivityError as error:
                    self.refuse(why(error)[1])
                del self._waiting[:signals]

    def go_on(self) -> None:
        """Open the gate and take what waited behind it."""
        self.held = False
        if self._waiting and (self._taking is None or self._taking.done()):
            self._taking = asyncio.create_task(self.take())

    def is_quiet(self) -> bool:
        """Whether nothing is in flight and nothing waits."""
        return self._in_flight == 0 and not self._waiting

    def may_move(self) -> bool:
        """Whether a new history can go on from `carried`."""
        return self._in_flight == 0 and self._is_movable()

    def idle_at(self, idle: timedelta) -> datetime:
        """When the run counts as abandoned; what is under way counts as activity."""
        if not self.is_quiet():
            self.last_activity_at = workflow.now()
        return self.last_activity_at + idle

    def carried(self) -> Carried:
        """What a new history goes on from."""
        return self._count.model_copy(
            update={
                "opened_at": self._opening.at,
                "last_activity_at": self.last_activity_at,
                "last_refusal": self.last_refusal,
                "waiting": [batch for _, batch in self._waiting],
            }
        )

    def progress(self, state: Stage) -> Progress:
        """The counts, as they are asked for from outside."""
        count = self._count
        return Progress(
            state=state,
            batches=count.batches,
            recorded=count.recorded,
            duplicates=count.duplicates,
            refused=count.refused,
            last_activity_at=self.last_activity_at,
            last_refusal=self.last_refusal,
        )

    def story(self) -> list[str]:
        """The counts as sentences."""
        count = self._count
        told = [
            f"{count.batches} batches: {count.recorded} events recorded, {count.duplicates} known before, "
            f"{count.refused} refused. The last came at {clock(self.last_activity_at)}."
        ]
        if self._waiting:
            told.append(f"{len(self._waiting)} batches sent by signal wait for their turn.")
        if self.last_refusal:
            told.append(f"The last refusal: {quoted(self.last_refusal)}")
        return told

    def _is_movable(self) -> bool:
        return sum(size for size, _ in self._waiting) <= MOVABLE_BYTES

    def _next(self) -> tuple[int, RecordBatch]:
        """How many of the waiting batches go together, at least one, and they as one."""
        taken, events = 0, list[Any]()
        room = MAX_BATCH_BYTES
        for size, batch in self._waiting:
            room -= size
            if taken and (room < 0 or len(events) + len(batch.events) > MAX_BATCH_EVENTS):
                break
            taken += 1
            events += batch.events
        return taken, RecordBatch(events=events)

    def _add(self, *, batches: int = 0, recorded: int = 0, duplicates: int = 0, refused: int = 0) -> None:
        count = self._count
        self._count = count.model_copy(
            update={
                "batches": count.batches + batches,
                "recorded": count.recorded + recorded,
                "duplicates": count.duplicates + duplicates,
                "refused": count.refused + refused,
            }
        )


def _size(batch: RecordBatch) -> int:
    return len(batch.model_dump_json())
