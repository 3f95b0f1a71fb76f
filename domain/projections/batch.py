"""One append before it meets the lock: decide, canonicalise, fold and react, all in memory.

Several units of one project are folded as one batch, each seeing what the ones before it wrote. Folding again gives the same answer,
so a batch is simply folded anew when an aggregate was missing, stale, or turned out to be recorded already.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import orjson

from domain.contracts.errors import TemporalityError
from domain.journal.canonical import NotAdmitted, canonical, content_hash, is_plain, plainly
from domain.journal.catalogue import GUARDED_FAMILIES
from domain.journal.event import Event, id_refusal
from domain.journal.rows import Address, NotLoaded, WorkingSet
from domain.projections.catalogue import CATALOGUE
from domain.projections.fold import fold, touches
from domain.projections.react import react

Decider = Callable[[WorkingSet, bool], Sequence[Event]]
"""Given the aggregates and whether the deadline has passed, the events to append. Raises `NotLoaded` or a `TemporalityError`."""

EventKey = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Guard:
    """The unit has no effect at or after `deadline`, judged under the lock by max(database clock, `decided_at`)."""

    deadline: datetime
    decided_at: datetime


@dataclass(frozen=True, slots=True)
class Known:
    """An event the journal holds already: its place, and the hash of what its producer said."""

    seq: int
    origin: bytes


@dataclass(frozen=True, slots=True)
class Prepared:
    """An event with its canonical bytes and hashes. `read` is the event as everybody will read it back: what folds work on."""

    event: Event
    read: Event
    body: bytes
    content: bytes
    origin: bytes
    touched: tuple[Address, ...]


def prepare(event: Event) -> Prepared:
    """Canonical bytes and hashes of an event. Raises `NotAdmitted` when it has no canonical form or may not be written by anybody.

    Events of domain commands are identified by their key alone: the same command decided again is the same event.
    """
    refusal = id_refusal(event)
    if refusal is None and event.type.partition(".")[0] in GUARDED_FAMILIES:
        refusal = CATALOGUE.refusal(event, producer=False)
    if refusal is not None:
        raise NotAdmitted(refusal)
    body, read = None, event
    # the envelope is text and small integers by its type: only what a producer put into it may need another spelling
    if is_plain(event.data) and is_plain(event.evidence):
        body = plainly(event.document())
    if body is None:
        # what canonical JSON spells otherwise is folded as it is spelt, or a rebuild would not give the same rows
        body = canonical(event.document())
        read = Event.from_document(orjson.loads(body), event.origin_hash)
    read = CATALOGUE.current(read)
    content = content_hash(body)
    if event.origin_hash:
        origin = bytes.fromhex(event.origin_hash)
    elif event.source.startswith("temporality/"):
        origin = hashlib.sha256(f"{event.source}\n{event.event_id}".encode()).digest()
    else:
        origin = content
    return Prepared(event, read, body, content, origin, touches(read))


@dataclass(slots=True)
class Unit:
    """One caller's append: how it decides, and its encoded events, kept between repetitions of the fold."""

    decide: Decider
    guard: Guard | None = None
    # what the caller prepared already, so that nothing is encoded twice
    prepared: Sequence[Prepared] = ()
    late: bool = False
    events: Sequence[Event] = ()
    failure: TemporalityError | NotAdmitted | None = None


@dataclass(slots=True)
class Batch:
    """The folded batch: what to insert in order, what to write, and what is missing if it cannot be folded yet."""

    fresh: list[Prepared] = field(default_factory=list[Prepared])
    place: dict[EventKey, int] = field(default_factory=dict[EventKey, int])
    missing: dict[Address, None] = field(default_factory=dict[Address, None])
    # those of `missing` that a decision hangs on
    undecided: dict[Address, None] = field(default_factory=dict[Address, None])
    caused: dict[EventKey, tuple[Event, ...]] = field(default_factory=dict[EventKey, tuple[Event, ...]])


class Encoded(dict[EventKey, Prepared]):
    """Canonical bytes made so far, by event identity; those of `prepared` were made by the caller."""

    @staticmethod
    def starting(units: Sequence[Unit]) -> Encoded:
        made = Encoded()
        for unit in units:
            for item in unit.prepared:
                made.setdefault(item.event.key, item)
        return made

    def of(self, event: Event) -> Prepared:
        found = self.get(event.key)
        if found is None or found.event is not event:
            found = self[event.key] = prepare(event)
        return found


def fold_batch(rows: WorkingSet, units: Sequence[Unit], known: Mapping[EventKey, Known], encoded: Encoded) -> Batch:
    """Fold `units` one after the other into `rows`. With anything `missing`, the rest of the result means nothing."""
    batch = Batch()
    for unit in units:
        try:
            unit.events = unit.decide(rows, unit.late)
            items = [encoded.of(event) for event in unit.events]
            unit.failure = None
        except NotLoaded as error:
            batch.missing.update(dict.fromkeys(error.addresses))
            batch.undecided.update(dict.fromkeys(error.addresses))
            continue
        except (TemporalityError, NotAdmitted) as error:
            unit.events, unit.failure = (), error
            continue
        absent = rows.absent(address for item in items for address in item.touched)
        if absent:
            # nothing can be folded without them, so they are asked for before anything is tried
            batch.missing.update(absent)
            continue
        for item in items:
            _take(rows, batch, item, known)
    if not batch.missing:
        rows.catch_up()
    return batch


def _take(rows: WorkingSet, batch: Batch, item: Prepared, known: Mapping[EventKey, Known]) -> None:
    key = item.event.key
    if key in known or key in batch.place:
        return
    batch.fresh.append(item)
    batch.place[key] = len(batch.fresh)
    try:
        fold(rows, item.read, item.content, len(batch.fresh), item.touched)
        caused = react(rows, item.read)
    except NotLoaded as error:
        batch.missing.update(dict.fromkeys(error.addresses))
        return
    if caused:
        for effect in caused:
            _take(rows, batch, prepare(effect), known)
        batch.caused[key] = caused


def recorded(events: Sequence[Event]) -> Decider:
    """A unit that appends `events` whatever the state."""

    def decide(rows: WorkingSet, late: bool) -> Sequence[Event]:
        return events

    return decide


def row_version(row: Any) -> int:
    return 0 if row is None else int(row.version)
