"""What an observed run asks of the world."""

from __future__ import annotations

from typing import Any

from pydantic import AwareDatetime

from domain.contracts.messages import Message
from domain.contracts.observed_run import Complete, CompleteAnswer, RecordAnswer
from domain.ports.activity_ref import ActivityRef


class RunOpening(Message):
    """What an observed run's `run.opened` says."""

    project: str
    run: str
    task: str | None = None
    title: str | None = None
    agent: str | None = None
    workspace: str | None = None
    at: AwareDatetime


class RecordRequest(Message):
    """A batch as it was sent, with the run it belongs to. `at` is the workflow's time, for events without one."""

    opening: RunOpening
    events: list[Any]
    at: AwareDatetime


class CloseRequest(Message):
    """Close the run: the journal works out its trajectory."""

    opening: RunOpening
    complete: Complete
    at: AwareDatetime


RECORD_EVENTS = ActivityRef("journal.record", takes=RecordRequest, gives=RecordAnswer)
CLOSE_RUN = ActivityRef("journal.close_run", takes=CloseRequest, gives=CompleteAnswer)
