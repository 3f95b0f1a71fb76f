"""Where a bench runs: a Postgres of its own with the settings users have, in a temporary folder, gone at the end."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from activities.postgres.migrations import migrate
from activities.postgres.pool import Database
from bench import floors
from stack.postgres import PostgresEndpoint, PostgresOptions, PostgresServer


@dataclass(frozen=True)
class Place:
    """A migrated database with the floors' tables. `quick` is for trying the bench, its figures are not for comparing."""

    endpoint: PostgresEndpoint
    database: Database
    folder: Path
    shared: Path
    quick: bool

    @property
    def rounds(self) -> int:
        """Rounds that count."""
        return 3 if self.quick else 5

    def size(self, *, full: int, quick: int) -> int:
        return quick if self.quick else full


@asynccontextmanager
async def place(shared: Path, *, quick: bool) -> AsyncGenerator[Place]:
    """Start it, migrate, and stop it at the end."""
    with tempfile.TemporaryDirectory(prefix="temporality-bench-") as name:
        server = PostgresServer(Path(name) / "home", PostgresOptions(die_with_parent=True))
        server.start()
        try:
            endpoint = server.endpoint()
            migrate(endpoint.owner_url)
            floors.create(endpoint)
            database = Database(endpoint.app_url)
            await database.open()
            try:
                yield Place(endpoint, database, Path(name), shared, quick)
            finally:
                await database.close()
        finally:
            server.stop()
