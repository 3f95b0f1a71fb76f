"""A whole installation below the workflows for each test module: migrated database, journal, artifact folder, every activity.

Use it from a conftest: `from tests.support.installation import installation, migrated, project` beside the fixtures of
`tests.support.stack` that it stands on (`postgres_server`, `postgres_template`). Tests share the module's database and are kept
apart by `project`, which is new for each test.
"""

import itertools
import os
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import psycopg
import pytest
import pytest_asyncio
from psycopg import sql

from activities.models.routing import Routing
from activities.postgres.journal import Journal
from activities.postgres.migrations import migrate
from activities.postgres.pool import Database
from activities.registry import Resources, activities
from client.artifacts.folder import FolderArtifactStore
from domain.ports.activity_ref import ActivityRef
from domain.runs.transcript import Limits
from stack.postgres import PostgresEndpoint, PostgresServer
from stack.postgres_files import APP, OWNER

ORIGIN_KEY = b"a key of these tests, thirty-two"
EXTRACTION_CAP = 7

A = TypeVar("A")
R = TypeVar("R")

_numbers = itertools.count(1)


@dataclass(frozen=True)
class Installation:
    """What a worker is built from. `journal` is another instance than the activities' own, as another worker's would be."""

    endpoint: PostgresEndpoint
    database: Database
    journal: Journal
    artifacts: FolderArtifactStore
    resources: Resources
    bound: dict[str, Callable[..., Any]]

    async def call(self, ref: ActivityRef[A, R], request: A) -> R:
        """Ask the activity of `ref` as a worker would, outside Temporal; its errors come as ApplicationError."""
        return await self.bound[ref.name](request)

    @asynccontextmanager
    async def worker(self, *, merge: bool = True, connections: int = 4) -> AsyncGenerator[Journal]:
        """A journal with a pool of its own, as another process has it."""
        database = Database(self.endpoint.app_url, max_connections=connections)
        await database.open()
        try:
            yield Journal(database, merge=merge)
        finally:
            await database.close()

    @contextmanager
    def superuser(self) -> Iterator[psycopg.Connection]:
        """Whoever may do anything, as tests that tamper need it; commits at the end. Row-level security does not bind it."""
        with psycopg.connect(self.endpoint.superuser_url, options="-c timezone=UTC") as connection:
            yield connection

    def rows(self, query: str, *parameters: object) -> list[tuple[Any, ...]]:
        """What `query` finds, asked as superuser."""
        with self.superuser() as connection:
            return connection.execute(query.encode(), parameters).fetchall()


@pytest.fixture(scope="session")
def migrated(postgres_server: PostgresServer) -> str:
    """The name of a database that was migrated once and is only copied from."""
    name = f"migrated_{os.getpid()}"
    migrate(postgres_server.create_database(name).owner_url)
    return name


def copy_of(server: PostgresServer, template: str) -> PostgresEndpoint:
    """A fresh database with the schema of `template`, open to the application's role."""
    name = f"installation_{os.getpid()}_{next(_numbers)}"
    parts = {
        "name": sql.Identifier(name),
        "template": sql.Identifier(template),
        "owner": sql.Identifier(OWNER),
        "app": sql.Identifier(APP),
    }
    with psycopg.connect(server.endpoint().superuser_url, autocommit=True) as connection:
        for statement in (
            "CREATE DATABASE {name} OWNER {owner} TEMPLATE {template}",
            "REVOKE ALL ON DATABASE {name} FROM PUBLIC",
            "GRANT CONNECT, TEMPORARY ON DATABASE {name} TO {app}",
        ):
            connection.execute(sql.SQL(statement).format(**parts))
    return server.endpoint_for(name)


@asynccontextmanager
async def installed(server: PostgresServer, template: str, artifacts: Path) -> AsyncGenerator[Installation]:
    """An installation on a fresh copy of `template`, with its bodies in the folder `artifacts`."""
    endpoint = copy_of(server, template)
    database = Database(endpoint.app_url)
    await database.open()
    store = FolderArtifactStore(artifacts)
    resources = Resources(database, store, ORIGIN_KEY, Limits(), Routing.load(), EXTRACTION_CAP)
    bound = {name_of(activity): activity for activity in activities(resources)}
    try:
        yield Installation(endpoint, database, Journal(database), store, resources, bound)
    finally:
        await database.close()


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def installation(
    postgres_server: PostgresServer, migrated: str, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Installation]:
    """One installation for the module's tests; about 100 ms."""
    async with installed(postgres_server, migrated, tmp_path_factory.mktemp("artifacts")) as made:
        yield made


@pytest.fixture
def project() -> str:
    """A project nobody used before."""
    return f"project-{os.getpid()}-{next(_numbers)}"


def name_of(activity: Callable[..., Any]) -> str:
    """The name an activity is registered under."""
    return str(vars(activity.__func__)["__temporal_activity_definition"].name)  # type: ignore[attr-defined]
