"""From what a reader says to events: ids, times, frames, order, and the counts of each run.

A pure, streaming transformation: one item in, its events out. Ids, order and frames depend only on what stood before
in the file, so that importing again gives the same events and a longer copy adds only what is new. Memory: 20 bytes
for each record of a run and its latest 32,768 ids and frames, never the records themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from activities.importers.counts import Counts
from activities.importers.identity import Recent, Records, event_id, origin_of, plain_id, run_of_first_record
from activities.importers.payload import payload
from activities.importers.times import Told, told
from domain.contracts.ids import bounded_id, digest_id
from domain.journal.event import Event, TimeBasis
from domain.runs.transcript import Fact, Item, Opening, Refused, RunEnded, RunFound

MAX_HELD = 64
_MAX_WORKSPACE = 4096


@dataclass(frozen=True, slots=True)
class SourceFile:
    """The file as it is known: its base name (never its folder), and the format and version of the reader that
    recognised it.
    """

    name: str
    format: str
    version: str


@dataclass(frozen=True, slots=True)
class AssemblyOptions:
    """`run_time` (aware) is the time of records in formats without time: that of the first import.

    `run` overrides the run's id.

    `origin_key` is the installation's key for origin hashes; `workspace` stands in where the transcript names none.
    """

    project: str
    run_time: datetime
    origin_key: bytes = b""
    run: str | None = None
    workspace: str | None = None


@dataclass(frozen=True, slots=True)
class RunClosing:
    """The run's end in this copy: the activity appends `run.closed`, because only the journal knows the trajectory's
    id.
    """

    run: str
    source: str
    native: str | None
    outcome: str
    reason: str | None
    result: str | None
    last_at: datetime
    time_basis: TimeBasis
    counts: Counts


@dataclass(frozen=True, slots=True)
class FileEnd:
    """The end of the file, with the counts of all of it."""

    counts: Counts


Assembled = Event | Refused | RunClosing | FileEnd


def assemble(source: SourceFile, items: Iterable[Item], options: AssemblyOptions) -> Iterator[Assembled]:
    """The events of a file in order; a `RunClosing` after the last event of each run, refused records where they
    stood, and a `FileEnd`.
    """
    assembly = _Assembly(source, options)
    for item in items:
        yield from assembly.take(item)
    yield from assembly.finish()


@dataclass(slots=True)
class _Run:
    """What has to be remembered of a run while its facts come."""

    found: RunFound
    records: Records
    run: str = ""
    source: str = ""
    sequence: int = 0
    frame: str | None = None
    # the parent's key of each open frame, empty where it has none
    frames: Recent = field(default_factory=Recent)
    parents: Recent = field(default_factory=Recent)
    counts: Counts = field(default_factory=Counts)
    at: datetime | None = None
    basis: TimeBasis = "order_only"
    last_told: datetime | None = None
    ended: bool = False


class _Assembly:
    def __init__(self, source: SourceFile, options: AssemblyOptions) -> None:
        self._file = source
        self._options = options
        self._runs: dict[str, _Run] = {}
        self._current: _Run | None = None
        self._unnamed: _Run | None = None
        self._used: dict[str, int] = {}
        self._firsts: dict[str, int] = {}
        self._held: list[tuple[_Run, Fact, Told]] = []
        self._at: datetime | None = None
        self._counts = Counts()

    def take(self, item: Item) -> Iterator[Assembled]:
        if isinstance(item, RunFound):
            self._enter(item)
        elif isinstance(item, Refused):
            self._counts.refused += 1
            if self._current is not None:
                self._current.counts.refused += 1
            yield item
        elif isinstance(item, Fact):
            yield from self._fact(item)
        else:
            yield from self._end(item)

    def finish(self) -> Iterator[Assembled]:
        yield from self._release(self._options.run_time)
        for run in self._all():
            if not run.ended:
                self._current = run
                yield from self._end(RunEnded())
        yield FileEnd(self._counts)

    def _all(self) -> list[_Run]:
        unnamed = [self._unnamed] if self._unnamed is not None and not self._unnamed.run else []
        return [*self._runs.values(), *unnamed]

    def _enter(self, found: RunFound) -> None:
        if found.native is None:
            if self._unnamed is None or self._unnamed.ended:
                self._unnamed = _Run(found, Records(self._options.origin_key))
            self._current = self._unnamed
            return
        key = f"native {found.native}"
        if key not in self._runs:
            run = self._runs[key] = _Run(found, Records(self._options.origin_key))
            self._name(run, found.native)
        self._current = self._runs[key]
        self._current.ended = False

    def _name(self, run: _Run, own: str) -> None:
        """Gives the run its id: its own, or the one asked for (further runs of the file carry their own behind it)."""
        asked = self._options.run
        raw = own if asked is None else f"{asked}~{own}" if self._used else asked
        count = self._used[raw] = self._used.get(raw, 0) + 1
        run.run = bounded_id(raw if count == 1 else f"{raw}~{count}", "run id")
        run.source = f"{self._file.format}/{run.run}"

    def _fact(self, fact: Fact) -> Iterator[Assembled]:
        if self._current is None:
            self._enter(RunFound(None))
        run = self._current
        assert run is not None
        if not run.run:
            number = self._starts(fact.raw)
            self._name(run, run_of_first_record(self._file.name, fact.raw, number))
            self._runs[f"unnamed {run.run}"] = run
        time = told(fact.at)
        if time.at is not None:
            yield from self._release(time.at)
            yield from self._emit(run, fact, time, time.at)
        elif (neighbour := run.at or told(run.found.at).at or self._at) is not None:
            yield from self._emit(run, fact, time, neighbour)
        else:
            self._held.append((run, fact, time))
            if len(self._held) >= MAX_HELD:
                yield from self._release(self._options.run_time)

    def _starts(self, first: bytes) -> int:
        key = run_of_first_record("", first, 1)
        count = self._firsts[key] = self._firsts.get(key, 0) + 1
        return count

    def _release(self, at: datetime) -> Iterator[Assembled]:
        """Emits what waited for the time of its neighbour."""
        held, self._held = self._held, []
        for run, fact, time in held:
            yield from self._emit(run, fact, time, run.at or at)

    def _emit(self, run: _Run, fact: Fact, time: Told, at: datetime) -> Iterator[Event]:
        basis: TimeBasis = time.basis if time.at is not None else "order_only"
        record = run.records.take(fact.raw, fact.part)
        run.at, run.basis, self._at = at, basis, at
        if run.sequence == 0:
            yield self._count(run, self._opened(run, at, basis))
        first = record.parts == {fact.part}
        for odd in (fact.anomaly, time.anomaly if first else None):
            if odd:
                run.counts.odd(odd)
                self._counts.odd(odd)
        if time.at is not None:
            self._tell(run, time.at)
        event = Event(
            project=self._options.project,
            source=run.source,
            event_id=event_id(run.source, record, fact.part),
            type=fact.type,
            occurred_at=at,
            time_basis=basis,
            data=payload(fact, time),
            integration=self._file.format,
            version=self._file.version,
            run=run.run,
            task=_task(run),
            workspace=self._workspace(run, fact),
            actor=fact.actor or _actor(self._file.format, fact),
            parent_event_id=run.parents.get(fact.parent) if fact.parent else None,
            operation_id=_operation(run, fact.operation),
            origin_hash=record.origin_hash(fact.part),
        )
        if fact.opens is not None and run.frames.get(fact.opens.key) is None:
            part = f"{fact.part}/frame"
            opened = replace(event, event_id=event_id(run.source, record, part), origin_hash=record.origin_hash(part))
            yield self._count(run, self._frame_opened(run, opened, fact.opens))
        if not fact.closing:
            key = fact.opens.key if fact.opens else fact.frame
            run.frame = key if key is not None else run.frame
            event = replace(event, **self._frames(run, run.frame), sequence=self._next(run))
        if fact.native_id and first:
            run.parents.put(fact.native_id, event.event_id)
        yield self._count(run, event)

    def _tell(self, run: _Run, at: datetime) -> None:
        if run.last_told is not None and at < run.last_told:
            run.counts.odd("time_backwards")
            self._counts.odd("time_backwards")
        run.last_told = at
        run.counts.seen(at)
        self._counts.seen(at)

    def _opened(self, run: _Run, at: datetime, basis: TimeBasis) -> Event:
        """`run.opened`: its id and its words come from the run alone, so that they are the same in every copy."""
        found = run.found
        data: dict[str, Any] = {
            **found.details,
            "title": found.title,
            "format": self._file.format,
            "native_id": found.native,
            "agent": found.agent,
            "model": found.model,
            "parent_run": bounded_id(found.parent_run, "run id") if found.parent_run else None,
        }
        origin = origin_of(self._options.origin_key, f"run.opened {run.source}".encode())
        return Event(
            project=self._options.project,
            source=run.source,
            event_id=digest_id(run.source, "run.opened"),
            type="run.opened",
            occurred_at=at,
            time_basis=basis,
            data=payload(Fact("run.opened", data, b""), Told(None)),
            integration=self._file.format,
            version=self._file.version,
            run=run.run,
            task=_task(run),
            sequence=self._next(run),
            workspace=self._workspace(run, None),
            origin_hash=origin.hexdigest(),
        )

    def _frame_opened(self, run: _Run, like: Event, opening: Opening) -> Event:
        run.frames.put(opening.key, opening.parent or "")
        return replace(
            like,
            type="frame.opened",
            data={key: value for key, value in (("title", opening.title), ("kind", opening.kind)) if value is not None},
            operation_id=_operation(run, opening.operation),
            actor=None,
            sequence=self._next(run),
            **self._frames(run, opening.key),
        )

    def _frames(self, run: _Run, key: str | None) -> Mapping[str, str | None]:
        if key is None:
            return {"frame": None, "parent_frame": None}
        parent = run.frames.get(key)
        return {
            "frame": digest_id(run.source, "frame", key),
            "parent_frame": digest_id(run.source, "frame", parent) if parent else None,
        }

    @staticmethod
    def _next(run: _Run) -> int:
        run.sequence += 1
        return run.sequence

    def _workspace(self, run: _Run, fact: Fact | None) -> str | None:
        named = (fact.workspace if fact else None) or run.found.workspace or self._options.workspace
        return named[:_MAX_WORKSPACE] if named else None

    def _count(self, run: _Run, event: Event) -> Event:
        run.counts.add(event)
        self._counts.add(event)
        return event

    def _end(self, ended: RunEnded) -> Iterator[Assembled]:
        yield from self._release(self._options.run_time)
        run = self._current
        if run is None or run.sequence == 0 or run.ended:
            return
        run.ended = True
        yield RunClosing(
            run=run.run,
            source=run.source,
            native=run.found.native,
            outcome=ended.outcome or "completed",
            reason=ended.reason,
            result=ended.result,
            last_at=run.counts.last or run.at or self._options.run_time,
            time_basis="source" if run.counts.last else run.basis,
            counts=run.counts,
        )


def _operation(run: _Run, native: str | None) -> str | None:
    """The operation's id; one that the reader numbered counts within its run."""
    if native is None:
        return None
    return plain_id(f"{run.run}{native}" if native.startswith("#") else native)


def _task(run: _Run) -> str | None:
    return bounded_id(run.found.task, "task id") if run.found.task else None


_AGENT = ("turn.agent", "turn.thought", "tool.started", "mcp.call.started", "delegation.started", "model.completed")


def _actor(form: str, fact: Fact) -> str | None:
    """Who acted, as far as the format tells: its user, its agent, its harness."""
    if fact.type == "turn.user":
        return f"human:{form}:user"
    if fact.type == "turn.system":
        return f"system:{form}:harness"
    if fact.type in _AGENT:
        return f"agent:{form}:{'subagent' if fact.sidechain else 'agent'}"
    return None
