"""The compact extraction context: what of a run an extractor sees (spec/2 section 7), bounded, with every text's exact
place.

A piece says which field of its event it stands in and at which character, so a span found in it is a span of the event.
What did not fit is counted. Text that was given to the run as a hint is listed apart, for recognising repetitions, and
shown to no extractor.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from domain.extraction.reading import EvidenceType, Kind, Reading, Role, hint_texts, read, visible
from domain.journal.event import Event

SCHEMA = "temporality.extraction-context/1"


@dataclass(frozen=True, slots=True)
class Limits:
    """How much a context holds: items, characters in total, characters per result and per message."""

    items: int = 1200
    characters: int = 240_000
    result_characters: int = 8_000
    message_characters: int = 12_000


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", serialize_by_alias=True)


class Piece(_Model):
    """Consecutive characters of `field` of the event's data, from `offset` on."""

    field: str
    offset: int
    text: str


class ContextItem(_Model):
    """One thing that happened. `position` is its place among the run's events that extraction may see."""

    position: int
    event_id: str
    kind: Kind
    role: Role
    type: EvidenceType
    pieces: tuple[Piece, ...] = ()
    tool: str | None = None
    command: str | None = None
    exit_code: int | None = None
    success: bool | None = None
    operation_id: str | None = None
    frame: str | None = None
    knowledge: str | None = None
    hint: bool = False

    @property
    def text(self) -> str:
        return "\n".join(piece.text for piece in self.pieces)

    @property
    def characters(self) -> int:
        return sum(len(piece.text) for piece in self.pieces)


class HintGiven(_Model):
    """A hint the run was given: the event it stands in, the knowledge it names, its text."""

    event_id: str
    knowledge: str | None = None
    text: str = ""


class Cut(_Model):
    """What did not fit: events read, items left out, characters left out, bodies of which only the preview was
    there.
    """

    items_seen: int = 0
    items_dropped: int = 0
    characters_dropped: int = 0
    previews_only: int = 0


class ExtractionContext(_Model):
    """What an extractor works on. `hints` is for admission and for recognising repetitions; `shown()` leaves it out."""

    schema_: Literal["temporality.extraction-context/1"] = Field(default=SCHEMA, alias="schema")
    project: str
    run: str | None
    task: str | None = None
    title: str | None = None
    trajectory: str | None = None
    outcome: str | None = None
    items: tuple[ContextItem, ...] = ()
    hints: tuple[HintGiven, ...] = ()
    cut: Cut = Cut()

    def shown(self) -> ExtractionContext:
        """The context without anything that came as a hint: what may be sent to a provider."""
        return self.model_copy(update={"hints": (), "items": tuple(item for item in self.items if not item.hint)})


def compact(
    events: Iterable[Event], bodies: Mapping[str, str] | None = None, limits: Limits | None = None
) -> ExtractionContext:
    """The context of one run from its events in journal order; `bodies` are artifact texts by sha256."""
    bounds = limits or Limits()
    known = list(events)
    items: list[ContextItem] = []
    hints: list[HintGiven] = []
    characters = previews = 0
    for position, reading in enumerate(read(known, bodies)):
        hints.extend(_hints(reading))
        item = _item(position, reading)
        characters += item.characters
        previews += sum(not body.complete for body in reading.bodies)
        items.append(item)
    fitting = _fit(items, bounds)
    opened = next((event for event in known if event.type == "run.opened"), None)
    closed = next((event for event in reversed(known) if event.type == "run.closed"), None)
    kept = sum(item.characters for item in fitting)
    return ExtractionContext(
        project=known[0].project if known else "",
        run=known[0].run if known else None,
        task=next((event.task for event in known if event.task), None),
        title=opened.data.get("title") if opened else None,
        trajectory=closed.data.get("trajectory") if closed else None,
        outcome=closed.data.get("outcome") if closed else None,
        items=tuple(fitting),
        hints=tuple(hints),
        cut=Cut(
            items_seen=len(items),
            items_dropped=len(items) - len(fitting),
            characters_dropped=characters - kept,
            previews_only=previews,
        ),
    )


def _hints(reading: Reading) -> list[HintGiven]:
    event = reading.event.event_id
    if reading.hint:
        text = "\n".join(body.text for body in reading.bodies)
        return [HintGiven(event_id=event, knowledge=reading.knowledge, text=text)]
    return [HintGiven(event_id=event, text=text) for body in reading.bodies for text in hint_texts(body.text)]


def _item(position: int, reading: Reading) -> ContextItem:
    event = reading.event
    pieces = (
        ()
        if reading.hint
        else tuple(
            Piece(field=body.field, offset=offset, text=part)
            for body in reading.bodies
            for offset, part in visible(body.text)
        )
    )
    return ContextItem(
        position=position,
        event_id=event.event_id,
        kind=reading.kind,
        role=reading.role,
        type=reading.type,
        pieces=pieces,
        tool=reading.tool,
        command=reading.command,
        exit_code=reading.exit_code,
        success=reading.success,
        operation_id=event.operation_id,
        frame=event.frame,
        knowledge=reading.knowledge,
        hint=reading.hint,
    )


_MESSAGES = frozenset({"user_message", "agent_message", "agent_thought", "final_result"})
_SHARES = ((1, 1), (2, 1), (4, 1), (8, 2), (16, 4), (32, 8))
"""Results shrink before messages do: in each step their limits are divided by these."""


def _fit(items: list[ContextItem], limits: Limits) -> list[ContextItem]:
    """All items, ever shorter, until they fit; then without the oldest results, then without the oldest messages but
    the first.
    """
    shrunk: list[ContextItem] = []
    for results, messages in _SHARES:
        result_limit, message_limit = limits.result_characters // results, limits.message_characters // messages
        shrunk = [_shorten(item, message_limit if item.kind in _MESSAGES else result_limit) for item in items]
        if sum(item.characters for item in shrunk) <= limits.characters:
            break
    total, count = sum(item.characters for item in shrunk), len(shrunk)
    first = next((item.position for item in shrunk if item.kind == "user_message"), -1)
    dropped: set[int] = set()
    for item in sorted(shrunk, key=lambda item: (item.kind in _MESSAGES, item.position)):
        if total <= limits.characters and count <= limits.items:
            break
        if item.position != first:
            dropped.add(item.position)
            total, count = total - item.characters, count - 1
    return [item for item in shrunk if item.position not in dropped]


def _shorten(item: ContextItem, limit: int) -> ContextItem:
    """The item with at most `limit` characters: two thirds from the beginning, the rest from the end."""
    if item.characters <= limit:
        return item
    head = limit * 2 // 3
    kept: list[Piece] = []
    skip = item.characters - limit
    at = 0
    for piece in item.pieces:
        for start, end in ((0, head), (head + skip, item.characters)):
            low, high = max(start - at, 0), min(end - at, len(piece.text))
            if low < high:
                kept.append(Piece(field=piece.field, offset=piece.offset + low, text=piece.text[low:high]))
        at += len(piece.text)
    return item.model_copy(update={"pieces": tuple(kept)})
