"""The journal: append and fold in one transaction, answered only when it is durable (laws 1-3, 19).

Appends of one project merge: while one transaction is under way the next callers gather, and all of them go in the one after it.
Aggregates are kept in memory as of the project's head; when another worker moved the head, what was read is checked under the lock.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from typing import Any, Final, Literal

import psycopg

from activities.postgres import row_codec
from activities.postgres.arrays import Bodies, Texts, Times
from activities.postgres.pool import Database
from activities.postgres.rebuild import rebuild
from domain.contracts.errors import JournalUnavailable, StaleFold, TemporalityError
from domain.journal.event import Event
from domain.journal.rows import Address, Table, WorkingSet
from domain.projections.batch import (
    Batch,
    Decider,
    Encoded,
    EventKey,
    Guard,
    Known,
    Prepared,
    Unit,
    fold_batch,
    recorded,
    row_version,
)
from domain.projections.fold import FOLD_VERSION
from domain.runs.state import FRAMES, OPERATIONS, RUNS, TASKS

MAX_MERGED_EVENTS = 2_000
MAX_CACHED_ROWS = 4_000
"""Of one project. Aggregates are small and most are done with soon: an operation is touched twice in its life."""
MAX_LANES = 200
MAX_ATTEMPTS = 50
"""How often one transaction is folded anew before its caller is told to come again."""

_OFTEN_NEW: Final = frozenset({RUNS, FRAMES, TASKS, OPERATIONS})

Status = Literal["recorded", "duplicate", "conflict"]


@dataclass(frozen=True, slots=True)
class Written:
    """What became of one event: recorded now, recorded before (same key, same origin), or refused as a conflict."""

    event: Event
    status: Status
    seq: int


@dataclass(frozen=True, slots=True)
class Receipt:
    """The durable outcome of one append. `caused` are events the kernel added about the recorded ones."""

    written: tuple[Written, ...]
    caused: tuple[Event, ...] = ()
    head: int = 0

    def count(self, status: Status) -> int:
        return sum(item.status == status for item in self.written)


@dataclass(slots=True)
class _Waiting:
    unit: Unit
    answer: asyncio.Future[Receipt]
    size: int
    # after a transaction that failed for reasons of its own, each caller goes by itself
    alone: bool = False


@dataclass(slots=True)
class _Lane:
    """One project's appends, in order, and its aggregates as of `head` (-1: not known)."""

    queue: list[_Waiting] = field(default_factory=list[_Waiting])
    task: asyncio.Task[list[Receipt]] | None = None
    starting: bool = False
    head: int = -1
    cache: dict[Address, Any] = field(default_factory=dict[Address, Any])
    # what stands in the cache as absent and was never asked for
    guessed: set[Address] = field(default_factory=set[Address])
    # the last append held events that were recorded before: a file that is imported again is so from end to end
    repeating: bool = False

    @property
    def idle(self) -> bool:
        return self.task is None and not self.queue

    def forget(self) -> None:
        self.head, self.cache, self.guessed = -1, {}, set()

    def guess(self, addresses: Iterable[Address]) -> None:
        for address in addresses:
            self.cache[address] = None
            self.guessed.add(address)

    def drop_guesses(self) -> None:
        for address in self.guessed:
            self.cache.pop(address, None)
        self.guessed = set()

    def evict(self) -> None:
        """Keep the newer half of too many rows; only between transactions, because one may need more than that."""
        if len(self.cache) > MAX_CACHED_ROWS:
            self.cache = dict(islice(self.cache.items(), len(self.cache) - MAX_CACHED_ROWS // 2, None))

    def settle(self, rows: WorkingSet, base: int, count: int, *, repeated: bool) -> None:
        """Keep what was written as of the new head; what was read under an older head is only as good as that head was."""
        self.repeating = repeated
        self.guessed -= rows.asked.keys()
        self.drop_guesses()
        if self.head != base:
            self.cache = {address: self.cache[address] for address in rows.asked}
        for (table, key), row in rows.written.items():
            if table.keyed:
                self.cache.pop((table, key), None)
                self.cache[table, key] = replace(row, version=base + row.version)
        self.head = base + count


class Journal:
    """The journal of all projects, through one pool."""

    def __init__(self, database: Database, *, merge: bool = True) -> None:
        self._database = database
        self._lanes: dict[str, _Lane] = {}
        self._merge = merge

    async def append(self, project: str, events: Sequence[Event], prepared: Sequence[Prepared] = ()) -> Receipt:
        """Append what happened; of `prepared` nothing is encoded again. Raises `NotAdmitted` when an event may not be written."""
        return await self.transact(project, recorded(events), size=len(events), prepared=prepared)

    async def transact(
        self,
        project: str,
        decide: Decider,
        *,
        guard: Guard | None = None,
        size: int = 1,
        prepared: Sequence[Prepared] = (),
    ) -> Receipt:
        """Decide on the project's aggregates and append, in one transaction.

        `decide` may be asked several times and must be pure. Raises what `decide` raises, `NotAdmitted`, `JournalUnavailable`,
        `StaleFold`. A caller that is cancelled meanwhile may find its events recorded: they are their own idempotency keys.
        """
        lane = self._lane(project)
        waiting = _Waiting(Unit(decide, guard, prepared), asyncio.get_running_loop().create_future(), size)
        lane.queue.append(waiting)
        self._start_soon(project, lane)
        return await waiting.answer

    def _lane(self, project: str) -> _Lane:
        """The project's lane, now the one used last; the longest unused idle ones are forgotten."""
        lane = self._lanes.pop(project, None) or _Lane()
        if len(self._lanes) >= MAX_LANES:
            for name in [name for name, other in self._lanes.items() if other.idle][: MAX_LANES // 10]:
                del self._lanes[name]
        self._lanes[project] = lane
        return lane

    def _start_soon(self, project: str, lane: _Lane) -> None:
        """Start the next transaction after whoever is ready to run: those just answered come with their next events."""
        if lane.task is None and not lane.starting and lane.queue:
            lane.starting = True
            asyncio.get_running_loop().call_soon(self._start, project, lane)

    def _start(self, project: str, lane: _Lane) -> None:
        lane.starting = False
        group = _next_group(lane.queue, self._merge)
        lane.task = asyncio.create_task(
            self._commit(project, lane, [item.unit for item in group]), name=f"journal {project}"
        )
        lane.task.add_done_callback(partial(self._answer, project, lane, group))

    def _answer(self, project: str, lane: _Lane, group: list[_Waiting], task: asyncio.Task[list[Receipt]]) -> None:
        """Tell the group what became of it and start the next: whatever went wrong is told to those it concerns, and to nobody else."""
        lane.task = None
        if task.cancelled():
            for item in (*group, *lane.queue):
                item.answer.cancel()
            lane.queue.clear()
            lane.forget()
            return
        error = task.exception()
        if error is None:
            for item, receipt in zip(group, task.result(), strict=True):
                _tell(item, item.unit.failure or receipt)
        else:
            lane.forget()
            if len(group) > 1 and not isinstance(error, TemporalityError):
                for item in group:
                    item.alone = True
                lane.queue[:0] = group
            else:
                for item in group:
                    _tell(item, _sayable(error))
        self._start_soon(project, lane)

    async def _commit(self, project: str, lane: _Lane, units: list[Unit]) -> list[Receipt]:
        known: dict[EventKey, Known] = {}
        encoded = Encoded.starting(units)
        lane.evict()
        base, may_guess = lane.head, True
        for _ in range(MAX_ATTEMPTS):
            rows, batch = await self._fold(project, lane, units, known, encoded, may_guess)
            if not batch.fresh and not rows.asked and not any(unit.guard for unit in units):
                lane.drop_guesses()
                return [_receipt(unit, batch, known, encoded, base) for unit in units]
            # also where nothing is to be written: what was decided upon is checked under the lock, for another worker may have moved it
            status, base, detail = await self._send(project, lane, batch, rows, units)
            match status:
                case "appended":
                    lane.settle(rows, base, len(batch.fresh), repeated=bool(known))
                    return [_receipt(unit, batch, known, encoded, base) for unit in units]
                case "duplicates":
                    for place, seq, origin in detail:
                        known[batch.fresh[place - 1].event.key] = Known(seq, bytes.fromhex(origin))
                case "late":
                    for unit in units:
                        unit.late, unit.guard = True, None
                case "repeating":
                    pass
                case "fold":
                    await self._refold(project, lane, int(detail))
                case _:
                    lane.forget()
                    may_guess = False
        raise JournalUnavailable(f"Others moved what was decided upon {MAX_ATTEMPTS} times.")

    async def _fold(
        self,
        project: str,
        lane: _Lane,
        units: list[Unit],
        known: Mapping[EventKey, Known],
        encoded: Encoded,
        may_guess: bool,
    ) -> tuple[WorkingSet, Batch]:
        """Fold the units, loading what they ask for until nothing is missing.

        What only what happened touches is most often new. It is taken for absent at first and checked under the lock like all that
        was read: one round trip instead of two.
        """
        while True:
            rows = WorkingSet(lane.cache)
            batch = fold_batch(rows, units, known, encoded)
            if not batch.missing:
                return rows, batch
            missing = batch.missing
            if may_guess:
                guessed = {a: None for a in missing if a[0] in _OFTEN_NEW and a not in batch.undecided}
                lane.guess(guessed)
                missing = {address: None for address in missing if address not in guessed}
            if missing:
                await self._load(project, lane, missing)

    async def _refold(self, project: str, lane: _Lane, stored: int) -> None:
        if stored > FOLD_VERSION:
            raise StaleFold(f"It is at fold {stored}, this worker at {FOLD_VERSION}.")
        await rebuild(self._database, project)
        lane.forget()

    async def _send(
        self, project: str, lane: _Lane, batch: Batch, rows: WorkingSet, units: Sequence[Unit]
    ) -> tuple[str, int, Any]:
        fresh = batch.fresh
        guard = next((unit.guard for unit in units if unit.guard), None)
        reads = [(table, key, row_version(lane.cache[table, key])) for table, key in rows.asked]
        parameters: Mapping[str, Any] = {
            "project": project,
            "fold": FOLD_VERSION,
            # a guess was read at no head: it is checked whatever the head is
            "head": -1 if not lane.guessed.isdisjoint(rows.asked) else lane.head,
            "source": Texts(item.event.source for item in fresh),
            "event_id": Texts(item.event.event_id for item in fresh),
            "type": Texts(item.event.type for item in fresh),
            "run": Texts(item.event.run for item in fresh),
            "operation": Texts(item.event.operation_id for item in fresh),
            "occurred": Times(item.event.occurred_at for item in fresh),
            "origin": Bodies(item.origin for item in fresh),
            "content": Bodies(item.content for item in fresh),
            "body": Bodies(item.body for item in fresh),
            "read": row_codec.encode_reads(reads),
            "rows": row_codec.encode(rows.rows()),
            "deadline": guard.deadline if guard else None,
            "decided_at": guard.decided_at if guard else None,
            "repeating": lane.repeating,
        }
        async with self._database.connection() as connection:
            try:
                cursor = await connection.execute(_APPEND, parameters)
            except psycopg.errors.UniqueViolation as error:
                if error.diag.constraint_name != "events_identity":
                    raise
                lane.repeating = True
                return "repeating", lane.head, None
            record = await cursor.fetchone()
        if record is None:
            raise TemporalityError("The append function gave no answer.")
        return record[0], record[1], record[3]

    async def _load(self, project: str, lane: _Lane, addresses: Mapping[Address, None]) -> None:
        by_table: dict[Table, list[tuple[Any, ...]]] = {}
        for table, key in addresses:
            if (table, key) not in lane.cache:
                by_table.setdefault(table, []).append(key)
        async with self._database.scoped(project) as connection:
            for table, keys in by_table.items():
                columns = [list(column) for column in zip(*keys, strict=True)]
                cursor = await connection.execute(row_codec.select(table), [*columns, project])
                for key in keys:
                    lane.cache[table, key] = None
                async for record in cursor:
                    row = row_codec.decode(table, record)
                    lane.cache[table, table.key_of(row)] = row


_APPEND = """
SELECT status, base, received, detail FROM journal.append(
  %(project)s, %(fold)s, %(head)s, %(source)b::text[], %(event_id)b::text[], %(type)b::text[], %(run)b::text[],
  %(operation)b::text[], %(occurred)b::timestamptz[], %(origin)b::bytea[], %(content)b::bytea[], %(body)b::bytea[],
  %(read)s::jsonb, %(rows)s::jsonb, %(deadline)s::timestamptz, %(decided_at)s::timestamptz, %(repeating)s::boolean)
"""


def _next_group(queue: list[_Waiting], merge: bool) -> list[_Waiting]:
    """The callers of the next transaction: a guarded one goes alone, so that its deadline is judged for it only."""
    group = [queue.pop(0)]
    total = group[0].size
    while merge and queue and not any(item.alone or item.unit.guard for item in (group[0], queue[0])):
        total += queue[0].size
        if total > MAX_MERGED_EVENTS:
            break
        group.append(queue.pop(0))
    return group


def _tell(item: _Waiting, outcome: Receipt | BaseException) -> None:
    """Answer a caller, unless it was cancelled meanwhile."""
    if item.answer.done():
        return
    if isinstance(outcome, Receipt):
        item.answer.set_result(outcome)
    else:
        item.answer.set_exception(outcome)


def _sayable(error: BaseException) -> BaseException:
    """`error` as callers may see it: the database's own words may quote the row it refused, and histories are read by many."""
    if not isinstance(error, psycopg.Error):
        return error
    refused = TemporalityError(
        f"The database refused what was to be written ({type(error).__name__}); nothing of it was recorded."
    )
    refused.__cause__ = error
    return refused


def _receipt(unit: Unit, batch: Batch, known: Mapping[EventKey, Known], encoded: Encoded, base: int) -> Receipt:
    written: list[Written] = []
    caused: list[Event] = []
    for event in unit.events:
        before = known.get(event.key)
        if before is None:
            place = batch.place[event.key]
            first = batch.fresh[place - 1]
            if first.event is event:
                written.append(Written(event, "recorded", base + place))
                caused.extend(batch.caused.get(event.key, ()))
                continue
            before = Known(base + place, first.origin)
        same = before.origin == encoded.of(event).origin
        written.append(Written(event, "duplicate" if same else "conflict", before.seq))
    return Receipt(tuple(written), tuple(caused), base + len(batch.fresh))
