"""What folds write: typed rows of named tables, read and written through a working set.

A row's `version` is the sequence number of the last event folded into it. During an append the sequence is not known yet, so the
working set counts events of the batch from 1 and the database adds the head under its lock; a rebuild counts from the journal itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Protocol, TypeVar


class Row(Protocol):
    """A frozen dataclass whose fields are the table's columns."""

    @property
    def project_id(self) -> str: ...
    @property
    def version(self) -> int: ...


R = TypeVar("R", bound=Row)
RowKey = tuple[str | int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """A projection table: its name, its row class, and the key columns after `project_id`.

    `keyed` tables are read before they are written (aggregates); the others only ever receive new rows.
    """

    name: str
    row: type[Any]
    key: tuple[str, ...]
    keyed: bool = True

    def key_of(self, row: Row) -> RowKey:
        return tuple(getattr(row, column) for column in self.key)

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(item.name for item in fields(self.row))


Address = tuple[Table, RowKey]
Evolve = Callable[[Any, Sequence[Any]], Row]


class NotLoaded(Exception):
    """The fold needs aggregates the working set does not hold; load them and fold again."""

    def __init__(self, addresses: tuple[Address, ...]) -> None:
        super().__init__(", ".join(f"{table.name}{key}" for table, key in addresses))
        self.addresses = addresses


@dataclass(slots=True)
class WorkingSet:
    """Aggregates one fold works on. `loaded` holds what the store said (None: no such row); `written` what the fold changed."""

    loaded: dict[Address, Any] = field(default_factory=dict[Address, Any])
    written: dict[Address, Any] = field(default_factory=dict[Address, Any])
    # every aggregate asked for, written or not: a decision is only as good as all it saw
    asked: dict[Address, None] = field(default_factory=dict[Address, None])
    # a rebuild starts from nothing: what is not written yet does not exist
    closed: bool = False
    # by address: how the row evolves, the row before, and the steps it has yet to take
    deferred: dict[Address, tuple[Evolve, Any, list[Any]]] = field(default_factory=dict[Address, Any])

    def get(self, table: Table, row: type[R], *key: str | int) -> R | None:
        """The aggregate at `key`, or None. Raises `NotLoaded` when the store has not been asked yet."""
        return self._get((table, key))

    def _get(self, address: Address) -> Any:
        if address in self.deferred:
            evolve, before, steps = self.deferred.pop(address)
            self.written[address] = evolve(before, steps)
        if address in self.written:
            return self.written[address]
        if self.closed:
            return self.loaded.get(address)
        if address in self.loaded:
            self.asked[address] = None
            return self.loaded[address]
        raise NotLoaded((address,))

    def put(self, table: Table, row: Row) -> None:
        """Write `row`; the last one written under a key stays."""
        self.written[(table, table.key_of(row))] = row

    def put_at(self, address: Address, row: Row) -> None:
        """The same where the address is known."""
        self.written[address] = row

    def defer(self, address: Address, evolve: Evolve, step: object) -> None:
        """Let the row at `address` take `step`, together with those before and after it, as soon as anybody wants to see it."""
        waiting = self.deferred.get(address)
        if waiting is None:
            self.deferred[address] = (evolve, self._get(address), [step])
        else:
            waiting[2].append(step)

    def catch_up(self) -> None:
        """Let all rows take the steps they have yet to take."""
        for address, (evolve, before, steps) in self.deferred.items():
            self.written[address] = evolve(before, steps)
        self.deferred.clear()

    def add(self, table: Table, row: Row) -> None:
        """Write a row of a table that only grows: the first one under a key stays, here and in the store."""
        self.written.setdefault((table, table.key_of(row)), row)

    def absent(self, addresses: Iterable[Address]) -> dict[Address, None]:
        """Those of `addresses` that the store has not been asked for yet."""
        if self.closed:
            return {}
        loaded, written = self.loaded, self.written
        return {address: None for address in addresses if address not in loaded and address not in written}

    def require(self, addresses: tuple[Address, ...]) -> None:
        """Ask for several aggregates at once, so that they are loaded in one round trip."""
        missing = self.absent(addresses)
        if missing:
            raise NotLoaded(tuple(missing))

    def rows(self) -> Iterator[tuple[Table, Any]]:
        self.catch_up()
        for (table, _), row in self.written.items():
            yield table, row
