"""`ObservedRun`: a run driven elsewhere hands in what happened, batch by batch (DESIGN section 7)."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import AwareDatetime, Field

from domain.contracts.messages import Message
from domain.contracts.payloads import Artifact

MAX_BATCH_BYTES = 50_000
MAX_BATCH_EVENTS = 500
DEFAULT_IDLE_SECONDS = 6 * 3600

Status = Literal["recorded", "duplicate", "refused"]
Outcome = Literal["completed", "failed", "abandoned", "budget_exhausted", "cancelled"]


class Carried(Message):
    """What an observed run takes along when its history starts anew."""

    batches: int = 0
    recorded: int = 0
    duplicates: int = 0
    refused: int = 0
    opened: bool = False
    last_activity_at: AwareDatetime | None = None


class ObservedRunInput(Message):
    """Start of an observed run. `idle_seconds` without any batch close it as abandoned; `carried` is the system's own."""

    project: str = Field(max_length=128)
    run: str = Field(max_length=128)
    task: str | None = Field(default=None, max_length=512)
    title: str | None = Field(default=None, max_length=2000)
    agent: str | None = Field(default=None, max_length=256)
    workspace: str | None = Field(default=None, max_length=4096)
    idle_seconds: int = Field(default=DEFAULT_IDLE_SECONDS, ge=1, le=366 * 86400)
    extract: bool = True
    carried: Carried | None = None


class RecordBatch(Message):
    """Update `record`: up to 500 events and 50 KB. `batch_id` should be the update id too; the same batch may be sent again.

    Each event is `temporality.event/1`; `context.project` and `context.run` may be left out, and so may `schema` and `source`. What is
    wrong with one event is answered for that event; the rest of the batch is recorded. An event may carry `origin_hash`, the hash of
    what its producer said before anything was redacted (`domain.contracts.origin`).
    """

    batch_id: str | None = Field(default=None, max_length=256)
    events: list[Any] = Field(max_length=MAX_BATCH_EVENTS)


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
    """Update `complete`: the run ended. A long `result` is an artifact, as the client's converter makes it."""

    outcome: Outcome = "completed"
    reason: str | None = Field(default=None, max_length=4000)
    result: Annotated[str, Field(max_length=16_000)] | Artifact | None = None


class CompleteAnswer(Message):
    """The run is closed: its trajectory, and the workflow that extracts knowledge from it (None where none follows)."""

    run: str
    outcome: Outcome
    trajectory: str
    extraction: str | None = None


class Progress(Message):
    """Query `progress`."""

    state: Literal["open", "rolling_over", "closing", "closed"]
    batches: int
    recorded: int
    duplicates: int
    refused: int
    last_activity_at: datetime | None = None
