"""The names of all projects, for commands over the whole installation: ids only, no row of theirs."""

from __future__ import annotations

from activities.postgres.pool import Database


async def project_ids(database: Database) -> list[str]:
    """Encoded ids in order; the reserved scope is among them where it holds anything."""
    async with database.connection() as connection:
        cursor = await connection.execute("SELECT journal.project_ids()")
        return [str(record[0]) for record in await cursor.fetchall()]
