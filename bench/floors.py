"""The floors in Postgres: what the same rows cost bare, without idempotency, chain or fold."""

from __future__ import annotations

from collections.abc import Sequence

import psycopg

from activities.postgres.arrays import Bodies, Texts, Times
from domain.journal.event import Event
from domain.projections.batch import prepare
from stack.postgres import PostgresEndpoint

SCHEMA = """
CREATE SCHEMA bench AUTHORIZATION temporality_app;
CREATE TABLE bench.bare (LIKE journal.events INCLUDING ALL);
ALTER TABLE bench.bare OWNER TO temporality_app;
CREATE TABLE bench.upserted (LIKE projection.operations INCLUDING ALL);
ALTER TABLE bench.upserted OWNER TO temporality_app;
"""

INSERT = """
INSERT INTO {table} (project_id, seq, source_id, event_id, type, run_id, operation_id, occurred_at, received_at, origin_hash,
                     content_hash, prev_hash, hash, body)
SELECT * FROM unnest(%(project)b::text[], %(seq)b::bigint[], %(source)b::text[], %(event_id)b::text[], %(type)b::text[], %(run)b::text[],
  %(operation)b::text[], %(occurred)b::timestamptz[], %(occurred)b::timestamptz[], %(content)b::bytea[], %(content)b::bytea[],
  %(content)b::bytea[], %(content)b::bytea[], %(body)b::bytea[])
"""

ONE = """
INSERT INTO bench.bare (project_id, seq, source_id, event_id, type, run_id, operation_id, occurred_at, received_at, origin_hash,
                        content_hash, prev_hash, hash, body)
VALUES (%(project)b, %(seq)b, %(source)b, %(event_id)b, %(type)b, %(run)b, %(operation)b, %(occurred)b, %(occurred)b, %(content)b,
        %(content)b, %(content)b, %(content)b, %(body)b)
"""

UPSERT = """
INSERT INTO bench.upserted (project_id, run_id, operation_id, version, frame_id, tool, command, argv, workspace, state, exit_code, success,
                            success_basis, started_event, ended_event, late)
SELECT %(project)s, r, e, v, f, t, c, NULL, w, 'completed', 0, true, 'exit_code', e, e, 0
FROM unnest(%(run)b::text[], %(event)b::text[], %(version)b::bigint[], %(frame)b::text[], %(type)b::text[], %(words)b::text[],
            %(workspace)b::text[]) AS u(r, e, v, f, t, c, w)
ON CONFLICT (project_id, run_id, operation_id) DO UPDATE SET
  version = excluded.version, frame_id = excluded.frame_id, tool = excluded.tool, command = excluded.command,
  workspace = excluded.workspace, state = excluded.state, exit_code = excluded.exit_code, success = excluded.success,
  started_event = excluded.started_event, ended_event = excluded.ended_event, late = excluded.late
"""


def create(endpoint: PostgresEndpoint) -> None:
    """The bare tables: the events table with its indexes and without row-level security, and one to upsert into."""
    with psycopg.connect(endpoint.superuser_url) as connection:
        connection.execute(SCHEMA.encode())


def bare_rows(events: Sequence[Event], first_seq: int) -> list[dict[str, object]]:
    """The rows of `events` as the journal would store them; hashes are of the right size."""
    rows: list[dict[str, object]] = []
    for number, event in enumerate(events):
        item = prepare(event)
        rows.append(
            {
                "project": event.project,
                "seq": first_seq + number,
                "source": event.source,
                "event_id": event.event_id,
                "type": event.type,
                "run": event.run,
                "operation": event.operation_id,
                "occurred": event.occurred_at,
                "content": item.content,
                "body": item.body,
            }
        )
    return rows


def columns_of(rows: Sequence[dict[str, object]]) -> dict[str, object]:
    """Rows turned into one array for each column, packed as our own appends pack theirs."""
    columns: dict[str, object] = {name: [row[name] for row in rows] for name in rows[0]}
    for name, kind in _KINDS.items():
        columns[name] = kind(row[name] for row in rows)
    return columns


_KINDS = {
    **dict.fromkeys(("project", "source", "event_id", "type", "run", "operation"), Texts),
    **dict.fromkeys(("content", "body"), Bodies),
    "occurred": Times,
}
