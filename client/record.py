"""Hand in what happened in a run: start it or join it, send batches, learn what became of every event.

An answer means durable. Everything sent has an id made of its content, so a caller that crashed sends the same events again
and nothing is recorded twice.
"""

import asyncio
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from pydantic_core import to_jsonable_python
from temporalio.client import Client, WithStartWorkflowOperation
from temporalio.exceptions import WorkflowAlreadyStartedError
from temporalio.service import RPCError, RPCStatusCode

from client.asking import Patience, until_answered
from client.converter import protection_of
from client.starting import start_options
from domain.contracts.errors import MalformedMessage, RunClosed, UnusableSetting
from domain.contracts.ids import digest_id, project_id
from domain.contracts.messages import Message
from domain.contracts.names import COMPLETE, RECORD, TASK_QUEUE
from domain.contracts.observed_run import (
    MAX_BATCH_BYTES,
    MAX_BATCH_EVENTS,
    Complete,
    CompleteAnswer,
    EventAnswer,
    ObservedRunInput,
    RecordAnswer,
    RecordBatch,
)
from domain.contracts.payloads import is_object, size_of, whole
from domain.contracts.starting import observed_run_start

A = TypeVar("A", bound=Message)

MAX_IN_FLIGHT: Final = 8
ENVELOPE_BYTES: Final = 1_000
"""What a batch takes beside its events: its id, its own names, and a comma each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordOptions:
    """How a recorder asks; the defaults are for every usual case."""

    task_queue: str = TASK_QUEUE
    patience: Patience = field(default_factory=Patience)
    batch_bytes: int = MAX_BATCH_BYTES - ENVELOPE_BYTES
    batch_events: int = MAX_BATCH_EVENTS


class RunRecorder:
    """Records the events of one run. One recorder per run and process; its methods may be called concurrently.

    `client` must carry the converter of this package (`connect` makes such a client). Raises `UnusableSetting` otherwise, and
    `MalformedId` for a project or run that cannot be one.
    """

    def __init__(self, client: Client, run: ObservedRunInput, options: RecordOptions | None = None) -> None:
        protection = protection_of(client.data_converter)
        if protection is None:
            raise UnusableSetting("the Temporal client has no converter of temporality_client; make it with `connect`")
        self._client = client
        self._run = run
        self._options = options or RecordOptions()
        self._protection = protection
        self._project = project_id(run.project)
        self._in_flight = asyncio.Semaphore(MAX_IN_FLIGHT)
        self._start = observed_run_start(run)
        self.workflow_id: Final = self._start.id

    async def record(self, events: Iterable[Any]) -> list[EventAnswer]:
        """Record `events` in their order and give one answer for each, `index` counting from 0 in what was given.

        Batches of one call follow each other; calls may overlap, up to 8 batches of a run at once. An event that alone is over
        the limit of a batch is answered as refused. Raises `RunClosed` when the run is closed, `NoAnswer` when patience ended,
        `PayloadTooLarge` when a long text has no artifact store to go to.
        """
        prepared = [await self._prepare(place, event) for place, event in enumerate(events)]
        answers = [one for one in prepared if isinstance(one, EventAnswer)]
        for batch in self._batches(one for one in prepared if isinstance(one, _Prepared)):
            answer = await self._send(RECORD, _batch(self._run.run, batch), RecordAnswer)
            answers += (one.model_copy(update={"index": batch[one.index].place}) for one in answer.events)
        return sorted(answers, key=lambda answer: answer.index)

    async def complete(self, complete: Complete | None = None) -> CompleteAnswer:
        """Close the run; saying the same again gives the same answer. Raises `RunClosed` when it ended otherwise, `NoAnswer`."""
        return await self._send(COMPLETE, complete or Complete(), CompleteAnswer)

    async def _prepare(self, place: int, event: Any) -> "_Prepared | EventAnswer":
        """The event as JSON that may leave (origin hashed, redacted, long texts put away), or the reason it cannot."""
        try:
            said = to_jsonable_python(event, fallback=str, inf_nan_mode="strings", bytes_mode="base64")
            value = whole(await self._protection.protect_event(said, self._project))
        except (ValueError, MalformedMessage) as error:
            return _refused(place, event, f"the event has no JSON form: {error}")
        size = size_of(value) + 1
        if size > self._options.batch_bytes:
            limit = f"{self._options.batch_bytes:,} are allowed"
            return _refused(
                place, event, f"the event takes {size:,} bytes without its long texts and {limit}; split it"
            )
        return _Prepared(place, value, size)

    def _batches(self, prepared: Iterable["_Prepared"]) -> Iterator[list["_Prepared"]]:
        batch: list[_Prepared] = []
        size = 0
        for one in prepared:
            if batch and (size + one.bytes > self._options.batch_bytes or len(batch) == self._options.batch_events):
                yield batch
                batch, size = [], 0
            batch.append(one)
            size += one.bytes
        if batch:
            yield batch

    async def _send(self, update: str, message: Message, gives: type[A]) -> A:
        update_id = message.batch_id if isinstance(message, RecordBatch) else None
        update_id = update_id or f"{update}/{digest_id(message.model_dump_json())}"
        sent = message.model_dump(mode="json", exclude_unset=True)
        async with self._in_flight:
            return await until_answered(
                lambda: self._ask(update, update_id, sent, gives),
                self._options.patience,
                f"asking {self.workflow_id} to {update}",
            )

    async def _ask(self, update: str, update_id: str, sent: dict[str, Any], gives: type[A]) -> A:
        start = WithStartWorkflowOperation(
            self._start.workflow, self._start.input, task_queue=self._options.task_queue, **start_options(self._start)
        )
        try:
            return await self._client.execute_update_with_start_workflow(
                update, sent, start_workflow_operation=start, id=update_id, result_type=gives
            )
        except WorkflowAlreadyStartedError:
            return await self._ask_closed(update, update_id, sent, gives)
        finally:
            _unheard(start)

    async def _ask_closed(self, update: str, update_id: str, sent: dict[str, Any], gives: type[A]) -> A:
        """The answer a closed run gave to this very message before it closed. Raises `RunClosed` when there is none."""
        handle = self._client.get_workflow_handle(self.workflow_id)
        try:
            return await handle.execute_update(update, sent, id=update_id, result_type=gives)
        except RPCError as error:
            if error.status == RPCStatusCode.NOT_FOUND:
                raise RunClosed(f"{self.workflow_id}; record to a run of another id") from error
            raise


def _unheard(start: WithStartWorkflowOperation[Any, Any]) -> None:
    """Nobody waits for the run's handle here; a failure kept for one would be logged as never retrieved."""
    handle = asyncio.ensure_future(start.workflow_handle())
    handle.add_done_callback(lambda done: done.cancelled() or done.exception())
    # after its first step, which ends it when the start was answered
    asyncio.get_running_loop().call_soon(handle.cancel)


@dataclass(frozen=True, slots=True)
class _Prepared:
    """An event that may leave: its place in what was given, its JSON value, and the bytes it takes in a batch."""

    place: int
    value: Any
    bytes: int


def _batch(run: str, batch: Sequence[_Prepared]) -> RecordBatch:
    events = [one.value for one in batch]
    said = json.dumps(events, sort_keys=True, separators=(",", ":"))
    return RecordBatch(batch_id=digest_id(run, said), events=events)


def _refused(place: int, event: Any, reason: str) -> EventAnswer:
    event_id = event.get("event_id") if is_object(event) else None
    known = event_id if isinstance(event_id, str) else None
    return EventAnswer(index=place, event_id=known, status="refused", reason=reason)
