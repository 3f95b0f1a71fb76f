"""Reading aggregates by key, as the folds left them."""

from __future__ import annotations

from typing import Any

from activities.postgres import row_codec
from activities.postgres.pool import Database
from domain.journal.rows import Table


async def load(database: Database, project: str, table: Table, *keys: tuple[Any, ...]) -> dict[tuple[Any, ...], Any]:
    """The rows of `table` at `keys`, by key; keys without a row are absent."""
    if not keys:
        return {}
    columns = [list(column) for column in zip(*keys, strict=True)]
    async with database.scoped(project) as connection:
        cursor = await connection.execute(row_codec.select(table), [*columns, project])
        rows = [row_codec.decode(table, record) async for record in cursor]
    return {table.key_of(row): row for row in rows}
