"""What a home holds of a project at the end, and how two homes are compared: everything but what a clock said.

A field is left out only where it is named here. What producers and importers wrote is compared by its content hash as it stands.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import orjson
import psycopg
from psycopg.rows import dict_row
from pydantic import BaseModel

from domain.projections.fold import TABLES
from tests.faults.aliases import Aliases

CLOCK: Final = frozenset({"occurred_at", "observed_at", "decided_at", "deadline", "duration_ms"})
"""Fields of what the system wrote that say when, or how long it took."""
CLOCK_IN_TABLES: Final = CLOCK | {
    "version", "opened_at", "last_at", "valid_from", "valid_to", "updated_at", "started_at", "ended_at", "requested_at",
}  # fmt: skip
"""Columns that say when, or at which place of the journal."""

Row = Mapping[str, Any]
Key = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Told:
    """One event: what it says without what a clock said, and its content hash where no clock has a part in it."""

    seq: int
    source: str
    event_id: str
    type: str
    run: str | None
    said: Any
    content_hash: str | None

    @property
    def key(self) -> Key:
        return (self.source, self.event_id)

    @property
    def happened(self) -> bool:
        """Whether a producer or an importer said it."""
        return not self.source.startswith("temporality/")


@dataclass(frozen=True, slots=True)
class Holdings:
    """Everything of one project: its events in order, and the rows of its tables by key."""

    events: Sequence[Told]
    tables: Mapping[str, Mapping[Key, Row]]
    aliases: Aliases

    def of_type(self, kind: str) -> list[Told]:
        return [event for event in self.events if event.type == kind]

    def answer(self, answer: BaseModel) -> Any:
        """What a caller was told, comparable with what another home told."""
        return _timeless(self.aliases.within(answer.model_dump(mode="json")), CLOCK)


def holdings(superuser_url: str, project: str) -> Holdings:
    """Read as superuser, whom row-level security does not bind."""
    with psycopg.connect(superuser_url) as connection, connection.cursor(row_factory=dict_row) as cursor:
        events = cursor.execute(_EVENTS, (project,)).fetchall()
        documents = [orjson.loads(bytes(event["body"])) for event in events]
        aliases = Aliases(documents)
        told = [_told(event, document, aliases) for event, document in zip(events, documents, strict=True)]
        tables: dict[str, dict[Key, Row]] = {}
        for table in TABLES:
            statement = f"SELECT * FROM projection.{table.name} WHERE project_id = %s".encode()
            rows = cursor.execute(statement, (project,)).fetchall()
            tables[table.name] = dict(_row(row, table.key, aliases) for row in rows)
    return Holdings(told, tables, aliases)


def differences(expected: Holdings, found: Holdings) -> list[str]:
    """A sentence for each thing that is not as it was undisturbed; empty when nothing was lost and nothing came twice."""
    return [
        *_event_differences(expected, found),
        *_order_differences(expected, found),
        *_row_differences(expected, found),
    ]


def _event_differences(expected: Holdings, found: Holdings) -> list[str]:
    wanted = {event.key: event for event in expected.events}
    have = {event.key: event for event in found.events}
    said = [f"lost: {event.type} {event.event_id}" for key, event in wanted.items() if key not in have]
    said += [f"too much: {event.type} {event.event_id}" for key, event in have.items() if key not in wanted]
    if len(have) != len(found.events):
        said.append("two events of one project and source have the same id")
    for key in wanted.keys() & have.keys():
        before, after = wanted[key], have[key]
        if before.content_hash != after.content_hash:
            said.append(f"another content hash: {before.type} {before.event_id}")
        if before.said != after.said:
            said.append(f"{before.type} {before.event_id} says {after.said}, undisturbed {before.said}")
    return said


def _order_differences(expected: Holdings, found: Holdings) -> list[str]:
    """What happened in a run stands in the same order, whatever stands between."""
    orders = [_orders(expected.events), _orders(found.events)]
    return [f"another order of what happened in {run}" for run in orders[0] if orders[0][run] != orders[1].get(run)]


def _orders(events: Sequence[Told]) -> dict[str, list[str]]:
    orders: dict[str, list[str]] = {}
    for event in events:
        if event.run is not None and event.happened:
            orders.setdefault(event.run, []).append(event.event_id)
    return orders


def _row_differences(expected: Holdings, found: Holdings) -> list[str]:
    said: list[str] = []
    for name, wanted in expected.tables.items():
        have = found.tables[name]
        said += [f"{name}: the row {key} is missing" for key in wanted.keys() - have.keys()]
        said += [f"{name}: the row {key} is too much" for key in have.keys() - wanted.keys()]
        for key in wanted.keys() & have.keys():
            other = [column for column in wanted[key] if wanted[key][column] != have[key][column]]
            said += [f"{name} {key}: {c} is {have[key][c]!r}, undisturbed {wanted[key][c]!r}" for c in other]
    return said


def _told(event: Row, document: Any, aliases: Aliases) -> Told:
    # A run recorded live is opened by the workflow's clock; everything else outside `temporality/` has times of its own.
    by_clock = event["source_id"].startswith(("temporality/", "observed/")) and (
        event["source_id"].startswith("temporality/") or event["type"] == "run.opened"
    )
    said = aliases.within(_timeless(document, CLOCK) if by_clock else document)
    return Told(
        seq=event["seq"],
        source=event["source_id"],
        event_id=aliases.of(event["event_id"]),
        type=event["type"],
        run=event["run_id"],
        said=said,
        content_hash=None if by_clock else bytes(event["content_hash"]).hex(),
    )


def _row(row: Row, key: Sequence[str], aliases: Aliases) -> tuple[Key, Row]:
    if "evidence_id" in row:
        place = [str(row[part]) for part in ("event_ref", "type", "span_field", "span_start", "span_end")]
        aliases.name(row["evidence_id"], aliases.of(f"<evidence {' '.join(place)}>"))
    timeless = {column: _timeless(value, CLOCK) for column, value in row.items() if column not in CLOCK_IN_TABLES}
    return tuple(aliases.of(str(row[column])) for column in key), aliases.within(timeless)


def _timeless(value: Any, fields: frozenset[str]) -> Any:
    if isinstance(value, dict):
        return {key: _timeless(item, fields) for key, item in value.items() if key not in fields}
    if isinstance(value, list):
        return [_timeless(item, fields) for item in value]
    return value


_EVENTS: Final = """
SELECT seq, source_id, event_id, type, run_id, content_hash, body FROM journal.events WHERE project_id = %s ORDER BY seq
"""
