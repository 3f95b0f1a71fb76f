"""`ObservedRun`: a run driven elsewhere hands in what happened, batch by batch (DESIGN section 7)."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

import pydantic_core
from pydantic import AwareDatetime, Field

from domain.contracts.errors import PayloadTooLarge
from domain.contracts.messages import HISTORY_EVENTS, Message, understand
from domain.contracts.names import RECORD
from domain.contracts.payloads import Artifact

MAX_BATCH_BYTES = 50_000
"""Of JSON, as it is sent: 50 KB."""
MAX_BATCH_EVENTS = 500
DEFAULT_IDLE_SECONDS = 6 * 3600

Status = Literal["recorded", "duplicate", "refused"]
Stage = Literal["open", "rolling_over", "closing", "closed"]
Outcome = Literal["completed", "failed", "abandoned", "budget_exhausted", "cancelled"]


class RecordBatch(Message):
    """Update or signal `record`: up to 500 events and 50 KB. `batch_id` should be the update id too.

    Each event is `temporality.event/1`; `context.project` and `context.run` may be left out, and so may `schema` and
    `source`. What is wrong with one event is answered for that event; the rest of the batch is recorded. The same batch
    may be sent again. An event may carry `origin_hash`, the hash of what its producer said before anything was redacted
    (`domain.contracts.origin`). A signal gets no answer: what is wrong with it is kept in the journal as an event of the run.
    """

    batch_id: str | None = Field(default=None, max_length=256)
    events: list[Any] = Field(json_schema_extra={"maxItems": MAX_BATCH_EVENTS})


def batch_of(raw: Any) -> RecordBatch:
    """`raw` JSON as a batch within the limits.

    Raises `MalformedMessage`, or `PayloadTooLarge` with a sentence that names the client.
    """
    client = "send less at once, or send with `temporality-client`, which cuts batches and sends bodies as references"
    size = len(pydantic_core.to_json(raw, bytes_mode="base64", fallback=str))
    if size > MAX_BATCH_BYTES:
        raise PayloadTooLarge(f"the batch has {size} bytes of JSON and `{RECORD}` takes {MAX_BATCH_BYTES}; {client}")
    batch = understand(RecordBatch, raw, RECORD)
    if len(batch.events) > MAX_BATCH_EVENTS:
        raise PayloadTooLarge(
            f"the batch has {len(batch.events)} events and `{RECORD}` takes {MAX_BATCH_EVENTS}; {client}"
        )
    return batch


class Carried(Message):
    """What an observed run takes along when its history starts anew.

    `waiting` are batches that came by signal and are not yet recorded.
    """

    batches: int = 0
    recorded: int = 0
    duplicates: int = 0
    refused: int = 0
    opened_at: AwareDatetime | None = None
    last_activity_at: AwareDatetime | None = None
    waiting: list[RecordBatch] = Field(default_factory=list)
    last_refusal: str | None = None


class ObservedRunInput(Message):
    """Start of an observed run. `idle_seconds` without any batch close it as abandoned.

    `history_events` is where it moves to a new history; `carried` is the system's own.
    """

    project: str = Field(max_length=128)
    run: str = Field(max_length=128)
    task: str | None = Field(default=None, max_length=512)
    title: str | None = Field(default=None, max_length=2000)
    agent: str | None = Field(default=None, max_length=256)
    workspace: str | None = Field(default=None, max_length=4096)
    idle_seconds: int = Field(default=DEFAULT_IDLE_SECONDS, ge=1, le=366 * 86400)
    extract: bool = True
    history_events: int = Field(default=HISTORY_EVENTS, ge=20, le=HISTORY_EVENTS)
    carried: Carried | None = None


class EventAnswer(Message):
    """What became of the event at `index`: its place in the project's journal, or the reason it was refused."""

    index: int
    event_id: str | None = None
    status: Status
    seq: int | None = None
    reason: str | None = None


class RecordAnswer(Message):
    """Given only when what was recorded is durable."""

    recorded: int
    duplicates: int
    refused: int
    events: list[EventAnswer]


class Complete(Message):
    """Update or signal `complete`: the run ended. A long `result` is an artifact, as the client's converter makes it."""

    outcome: Outcome = "completed"
    reason: str | None = Field(default=None, max_length=4000)
    result: Annotated[str, Field(max_length=16_000)] | Artifact | None = None


class CompleteAnswer(Message):
    """The run is closed: its trajectory, and the workflow that extracts knowledge from it (None where none follows).

    `extractor` is the version that extracts; None where no extraction follows.
    """

    run: str
    outcome: Outcome
    trajectory: str
    extraction: str | None = None
    extractor: str | None = None


class Progress(Message):
    """Query `progress`."""

    state: Stage
    batches: int
    recorded: int
    duplicates: int
    refused: int
    last_activity_at: datetime | None = None
    last_refusal: str | None = None
