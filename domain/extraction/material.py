"""The evidence material of an admission: every text of a run's events that may be cited, whole, with its hash and its
place.

The context an extractor sees is cut to size; what it proposes is judged against the whole texts. Hint blocks are
blanked in place, so that nothing in them can ground anything and every offset stays the event's own.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from domain.extraction.reading import SHORT_ARGUMENT, EvidenceType, Reading, masked, read
from domain.journal.event import Event
from domain.runs.events import body_hash


@dataclass(frozen=True, slots=True)
class Cited:
    """One text of one event. `content_hash` (hex sha256) is of the whole text as the event holds it; `field` is where
    in its data.

    `operation`, `command` and `workspace` say what a result is the result of.
    """

    event_id: str
    type: EvidenceType
    field: str
    text: str
    run: str | None
    content_hash: str | None
    artifact: str | None
    occurred_at: datetime
    hint: bool = False
    operation: str | None = None
    command: str | None = None
    workspace: str | None = None


def material(
    events: Iterable[Event], wanted: Collection[str] | None = None, bodies: Mapping[str, str] | None = None
) -> tuple[Cited, ...]:
    """The citable texts of a run's events (of the `wanted` ids only, where given); `bodies` are artifact texts by
    sha256.

    Events must be all of the run, in journal order: what a result is evidence of depends on the call it answers.
    """
    found: list[Cited] = []
    for reading in read(events, bodies):
        if wanted is None or reading.event.event_id in wanted:
            found.extend(cite(reading))
    return tuple(found)


def cite(reading: Reading) -> tuple[Cited, ...]:
    """One event's citable texts; an event without any is still citable, with an empty text (its exit code is what it
    says).
    """
    texts = [
        body for body in reading.bodies if reading.type != "tool_call" or body.field == "command" or _short(body.text)
    ]
    event = reading.event
    if not texts:
        return (
            _cited(reading, "output" if reading.type in ("command_result", "check_result") else "text", "", None, None),
        )
    return tuple(
        _cited(
            reading,
            body.field,
            masked(body.text),
            body.sha256 or body_hash(_raw(event, body.field, body.text)),
            body.sha256,
        )
        for body in texts
    )


def _cited(reading: Reading, field: str, text: str, content_hash: str | None, artifact: str | None) -> Cited:
    event = reading.event
    return Cited(
        event_id=event.event_id,
        type=reading.type,
        field=field,
        text=text,
        run=event.run,
        content_hash=content_hash,
        artifact=artifact,
        occurred_at=event.occurred_at,
        hint=reading.hint,
        operation=event.operation_id,
        command=reading.command,
        workspace=event.workspace,
    )


def _short(text: str) -> bool:
    return len(text) <= SHORT_ARGUMENT and "\n" not in text


def _raw(event: Event, field: str, shown: str) -> object:
    return event.data.get(field, shown)
