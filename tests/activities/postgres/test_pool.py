"""A server that went away takes every pooled connection along, and costs one caller a retry instead of one for each of them."""

import asyncio

import pytest

from activities.postgres.pool import Database
from domain.contracts.errors import JournalUnavailable
from tests.support.installation import Installation

CONNECTIONS = 5
END_ALL = """
SELECT pg_terminate_backend(pid) FROM pg_stat_activity
WHERE application_name = 'temporality' AND datname = current_database()
"""


async def test_the_first_failure_clears_the_pool(installation: Installation) -> None:
    database = Database(installation.endpoint.app_url, max_connections=CONNECTIONS)
    await database.open()
    try:
        await asyncio.gather(*(_use(database, 0.2) for _ in range(CONNECTIONS)))
        assert len(installation.rows(END_ALL)) >= CONNECTIONS
        with pytest.raises(JournalUnavailable, match="nothing was recorded"):
            await _use(database, 0)
        await asyncio.gather(*(_use(database, 0) for _ in range(CONNECTIONS)))
    finally:
        await database.close()


async def _use(database: Database, seconds: float) -> None:
    async with database.scoped("p") as connection:
        await connection.execute("SELECT pg_sleep(%s)", (seconds,))
