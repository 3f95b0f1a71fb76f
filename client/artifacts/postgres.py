"""Bodies in the table `journal.artifacts`, in parts of 1 MiB, under the row-level security of their project.

A body's parts are written in one transaction, so that a body is there whole or not at all; nothing is ever overwritten.
"""

import asyncio
import hashlib
import io
import tempfile
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import AbstractAsyncContextManager, ExitStack, asynccontextmanager
from typing import Any, BinaryIO

import psycopg

from client.artifacts.keys import CHUNK_BYTES, checked_hash, checked_project, damaged, hash_of, missing
from domain.contracts.errors import ArtifactsUnavailable
from domain.contracts.payloads import Stored

Scoped = Callable[[str], AbstractAsyncContextManager[psycopg.AsyncConnection[Any]]]
"""A project's id to a connection in a transaction that sees this project only; the context's good end commits it."""

ARTIFACTS = "journal.artifacts"
INCOMING = "journal.incoming"
"""Files on their way into the journal; the only bodies that may be discarded."""


class _Statements:
    """The SQL of one table of bodies."""

    def __init__(self, table: str) -> None:
        of_body = f"FROM {table} WHERE project_id = %s AND sha256 = %s"
        self.parts = f"SELECT parts {of_body} AND part = 0".encode()
        self.part = f"SELECT body {of_body} AND part = %s".encode()
        self.discard = f"DELETE {of_body}".encode()
        self.insert = (
            f"INSERT INTO {table} (project_id, sha256, part, parts, body) VALUES (%s, %s, %s, %s, %b) "
            "ON CONFLICT (project_id, sha256, part) DO NOTHING"
        ).encode()


class PostgresArtifactStore:
    """The store behind `scoped`, which opens one transaction per call; it needs to read and insert, never to update."""

    def __init__(self, scoped: Scoped, table: str = ARTIFACTS) -> None:
        self._scoped = scoped
        self._statements = _Statements(table)

    async def put(self, project: str, body: bytes) -> str:
        """Keep `body`; see `ArtifactStore.put`. Raises `ArtifactMissing` when a damaged body is in its place."""
        with io.BytesIO(body) as file:
            return await self._keep(project, file, Stored(hashlib.sha256(body).hexdigest(), len(body)))

    async def put_stream(self, project: str, chunks: Iterable[bytes]) -> Stored:
        """Keep a stream; see `ArtifactStore.put_stream`. Raises `ArtifactMissing` as `put` does."""
        with tempfile.TemporaryFile() as file:
            stored = await asyncio.to_thread(_spool, file, chunks)
            await self._keep(project, file, stored)
        return stored

    async def get(self, project: str, sha256: str) -> bytes:
        """The body; see `ArtifactStore.get`."""
        async with self.open_stream(project, sha256) as file:
            return file.read()

    @asynccontextmanager
    async def open_stream(self, project: str, sha256: str) -> AsyncGenerator[BinaryIO]:
        """The body as a file; see `ArtifactStore.open_stream`."""
        key = (checked_project(project), checked_hash(sha256))
        with ExitStack() as closing:
            async with self._transaction(project) as connection:
                parts = await _parts(connection, self._statements, key)
                # one part is held in memory, more in a temporary file that has no name
                file = closing.enter_context(io.BytesIO() if parts == 1 else tempfile.TemporaryFile())  # noqa: SIM115
                await _fetch(connection, self._statements, key, file)
            yield file

    async def exists(self, project: str, sha256: str) -> bool:
        """Whether it is there; see `ArtifactStore.exists`."""
        async with self._transaction(project) as connection:
            return (
                await _parts(connection, self._statements, (checked_project(project), checked_hash(sha256))) is not None
            )

    async def discard(self, project: str, sha256: str) -> None:
        """Forget a body; one that is not there is forgotten already. Only `INCOMING` may be discarded from."""
        async with self._transaction(project) as connection:
            await connection.execute(self._statements.discard, (checked_project(project), checked_hash(sha256)))

    async def _keep(self, project: str, file: BinaryIO, stored: Stored) -> str:
        key = (checked_project(project), stored.sha256)
        parts = max(1, -(-stored.bytes // CHUNK_BYTES))
        async with self._transaction(project) as connection:
            if await _parts(connection, self._statements, key) is not None:
                await _fetch(connection, self._statements, key, None)
                return stored.sha256
            file.seek(0)
            for part in range(parts):
                chunk = await asyncio.to_thread(file.read, CHUNK_BYTES)
                await connection.execute(self._statements.insert, (*key, part, parts, chunk))
        return stored.sha256

    @asynccontextmanager
    async def _transaction(self, project: str) -> AsyncGenerator[psycopg.AsyncConnection[Any]]:
        try:
            async with self._scoped(checked_project(project)) as connection:
                yield connection
        except psycopg.OperationalError as error:
            raise ArtifactsUnavailable(f"Postgres says {type(error).__name__}.") from error


async def _parts(connection: psycopg.AsyncConnection[Any], statements: _Statements, key: tuple[str, str]) -> int | None:
    row = await (await connection.execute(statements.parts, key)).fetchone()
    return None if row is None else int(row[0])


async def _fetch(
    connection: psycopg.AsyncConnection[Any], statements: _Statements, key: tuple[str, str], into: BinaryIO | None
) -> None:
    """Read a body part by part, hash it, and write it to `into`, which is left at its start."""
    parts = await _parts(connection, statements, key)
    if parts is None:
        raise missing(*key)
    sha = hashlib.sha256()
    async with connection.cursor(binary=True) as cursor:
        for part in range(parts):
            row = await (await cursor.execute(statements.part, (*key, part))).fetchone()
            if row is None:
                raise damaged(*key)
            sha.update(row[0])
            if into is not None:
                await asyncio.to_thread(into.write, row[0])
    if sha.hexdigest() != key[1]:
        raise damaged(*key)
    if into is not None:
        into.seek(0)


def _spool(file: BinaryIO, chunks: Iterable[bytes]) -> Stored:
    size = sum(file.write(chunk) for chunk in chunks)
    file.seek(0)
    return Stored(hash_of(file), size)
