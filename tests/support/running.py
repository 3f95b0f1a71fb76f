"""A whole installation that runs: embedded servers, schema and a worker process, as `temporality up` starts them.

One for each pytest process; tests are kept apart by project. Everything ends with the session.
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest
from temporalio.client import Client

import settings as environment
import worker
from activities.postgres.migrations import migrate
from activities.postgres.pool import Database
from client.artifacts.folder import FolderArtifactStore
from domain.contracts.names import SEARCH_ATTRIBUTES
from settings import Settings
from stack.child import ChildSpec
from stack.embedded import Stack, StackOptions

ROOT = Path(__file__).resolve().parents[2]
READY_SECONDS = 90.0


@dataclass(frozen=True)
class Running:
    """Where it is. `superuser_url` sees every row of every project."""

    home: Path
    settings: Settings
    superuser_url: str
    artifacts: FolderArtifactStore

    async def client(self) -> Client:
        """A client with the installation's converter, as the command line has it."""
        return await worker.connect(self.settings, self.artifacts)

    async def bare_client(self) -> Client:
        """A client of somebody who knows nothing of ours: the SDK alone."""
        return await Client.connect(**self.settings.temporal().connect)

    def database(self) -> Database:
        return Database(self.settings.database_url(), max_connections=2)

    def everything_in_postgres(self) -> Iterator[tuple[str, bytes]]:
        """Every row of every table as (table, bytes), byte columns decoded too."""
        with psycopg.connect(self.superuser_url) as connection:
            tables = connection.execute(
                "SELECT format('%I.%I', schemaname, tablename) FROM pg_tables WHERE schemaname IN ('journal', 'projection')"
            ).fetchall()
            for (table,) in tables:
                for record in connection.execute(f"SELECT * FROM {table}".encode(), binary=True):
                    yield table, b"\n".join(v if isinstance(v, bytes) else str(v).encode() for v in record)


@pytest.fixture(scope="session")
def running(tmp_path_factory: pytest.TempPathFactory, postgres_template: Path) -> Iterator[Running]:
    """The running installation of this pytest process; about four seconds."""
    home = tmp_path_factory.mktemp("running") / "home"
    stack = Stack(
        home,
        StackOptions(search_attributes=SEARCH_ATTRIBUTES, die_with_parent=True, postgres_template=postgres_template),
    )
    settings = environment.load({"TEMPORALITY_HOME": str(home)})
    try:
        told = stack.start()
        assert told.postgres is not None
        migrate(told.postgres.owner_url)
        argv = (sys.executable, "worker.py")
        child = ChildSpec("worker", argv, ROOT, settings.worker_ready_file, environment.program_environment(settings))
        stack.spawn_worker(child, READY_SECONDS)
        yield Running(home, settings, told.postgres.superuser_url, FolderArtifactStore(home / "artifacts"))
    finally:
        stack.stop()
