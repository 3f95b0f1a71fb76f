"""Connections of the application's role, opened only with the scopes they are granted.

Scopes live in the transaction and end with it; a connection without one reads nothing and says so.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import psycopg
from psycopg.rows import TupleRow
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from activities.postgres import arrays
from domain.contracts.errors import JournalUnavailable, MalformedId

Connection = psycopg.AsyncConnection[TupleRow]


class Database:
    """The pool of one process. `open` before use, `close` at the end."""

    def __init__(self, app_url: str, *, max_connections: int = 10) -> None:
        self._pool = AsyncConnectionPool(
            app_url,
            open=False,
            min_size=1,
            max_size=max_connections,
            timeout=10,
            configure=_configure,
            kwargs={"autocommit": True, "options": "-c timezone=UTC -c application_name=temporality"},
        )

    async def open(self) -> None:
        """Raises `JournalUnavailable` when the database cannot be reached within ten seconds."""
        try:
            await self._pool.open(wait=True, timeout=10)
        except PoolTimeout as error:
            raise JournalUnavailable(str(error)) from error

    async def close(self) -> None:
        await self._pool.close()

    @asynccontextmanager
    async def connection(self) -> AsyncGenerator[Connection]:
        """A bare connection in autocommit; what it runs must grant its own scope."""
        try:
            async with self._pool.connection() as connection:
                yield connection
        except PoolTimeout as error:
            raise JournalUnavailable(type(error).__name__) from error
        except psycopg.OperationalError as error:
            # A server that went away took every connection along: those in the pool must not fail one caller each.
            await self._pool.check()
            raise JournalUnavailable(type(error).__name__) from error

    @asynccontextmanager
    async def scoped(self, *scopes: str, repeatable: bool = False) -> AsyncGenerator[Connection]:
        """A transaction that sees the rows of `scopes` and of nobody else; `repeatable` reads one snapshot. Raises `MalformedId`."""
        if unusual := [scope for scope in scopes if not scope or "," in scope]:
            raise MalformedId(f"{unusual[0][:80]!r} is no encoded project id; encode it with `project_id`")
        async with self.connection() as connection, connection.transaction():
            if repeatable:
                await connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            await connection.execute("SELECT set_config('temporality.scopes', %s, true)", (",".join(scopes),))
            yield connection


async def _configure(connection: Connection) -> None:
    arrays.register(connection.adapters)
