"""The artifact store that `TEMPORALITY_ARTIFACTS` names: a folder, or a Postgres URL.

The store holds what the installation's journal refers to, so it is the installation's own and not one of the caller's making.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from client.artifacts.folder import FolderArtifactStore
from client.protection import SETTING, KeepsBodies
from domain.contracts.errors import UnusableSetting

POSTGRES_SCHEMES = ("postgres://", "postgresql://")


def open_store(where: str) -> KeepsBodies:
    """The store at `where`. Raises `UnusableSetting` for a URL of another kind, or when psycopg is not installed."""
    if where.startswith(POSTGRES_SCHEMES):
        return _postgres(where)
    if "://" in where:
        raise UnusableSetting(f"{SETTING} is a folder or a postgresql:// URL, not {where.partition('://')[0]}://")
    return FolderArtifactStore(Path(where).expanduser().absolute())


def _postgres(url: str) -> KeepsBodies:
    try:
        import psycopg

        from client.artifacts.postgres import PostgresArtifactStore
    except ImportError as error:
        raise UnusableSetting(
            f"{SETTING} is a Postgres URL and psycopg is missing; pip install 'temporality-client[postgres]'"
        ) from error

    @asynccontextmanager
    async def scoped(project: str) -> AsyncGenerator[psycopg.AsyncConnection[Any]]:
        async with await psycopg.AsyncConnection.connect(url) as connection:
            await connection.execute("SELECT set_config('temporality.scopes', %s, true)", (project,))
            yield connection

    return PostgresArtifactStore(scoped)
