"""A database with this version's schema and a journal over it."""

from collections.abc import AsyncIterator

import pytest_asyncio

from activities.postgres.journal import Journal
from activities.postgres.migrations import migrate
from activities.postgres.pool import Database
from stack.postgres import PostgresEndpoint
from tests.support.stack import fresh_database, postgres_server, postgres_template

__all__ = ["fresh_database", "postgres_server", "postgres_template"]


@pytest_asyncio.fixture
async def database(fresh_database: PostgresEndpoint) -> AsyncIterator[Database]:
    migrate(fresh_database.owner_url)
    opened = Database(fresh_database.app_url, max_connections=4)
    await opened.open()
    yield opened
    await opened.close()


@pytest_asyncio.fixture
async def journal(database: Database) -> Journal:
    return Journal(database)
