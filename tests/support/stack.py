"""Fixtures with real servers: one Postgres and one Temporal dev server for each pytest process, gone with it.

Use them from a conftest: `from tests.support.stack import fresh_database, postgres, temporal_server`. Under xdist every
worker has servers of its own; the first pays initdb, the others copy its data folder.
"""

import fcntl
import itertools
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from domain.contracts.names import SEARCH_ATTRIBUTES
from stack.postgres import PostgresEndpoint, PostgresOptions, PostgresServer
from stack.temporal import TemporalEndpoint, TemporalOptions, TemporalServer

# fsync protects from a power cut and not from a killed server, so tests of kills hold without it.
TEST_SETTINGS = {"fsync": "off", "shared_buffers": "32MB"}

_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def postgres_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An initialised data folder that every worker of this pytest run copies."""
    shared = _run_folder(tmp_path_factory)
    template = shared / "postgres-template"
    with _exclusively(shared / "postgres-template.lock"):
        if not template.exists():
            server = PostgresServer(shared / "template-home", PostgresOptions(settings=TEST_SETTINGS))
            server.start()
            server.stop()
            server.save_template(template)
    return template


@pytest.fixture(scope="session")
def postgres_server(tmp_path_factory: pytest.TempPathFactory, postgres_template: Path) -> Iterator[PostgresServer]:
    """This process's own server; a test that stops or kills it must start it again."""
    options = PostgresOptions(settings=TEST_SETTINGS, template=postgres_template, die_with_parent=True)
    server = PostgresServer(tmp_path_factory.mktemp("postgres"), options)
    server.start()
    yield server
    server.stop()


@pytest.fixture(scope="session")
def postgres(postgres_server: PostgresServer) -> PostgresEndpoint:
    """The shared server's usual database, for tests that bring their own schema or project."""
    return postgres_server.endpoint()


@pytest.fixture
def fresh_database(postgres_server: PostgresServer) -> PostgresEndpoint:
    """An empty database for one test, about 50 ms; it ends with the server."""
    return postgres_server.create_database(f"test_{os.getpid()}_{next(_numbers)}")


@pytest.fixture(scope="session")
def temporal_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TemporalEndpoint]:
    """A dev server in memory with the project's search attributes, fairness and time skipping on."""
    options = TemporalOptions(
        search_attributes=SEARCH_ATTRIBUTES,
        in_memory=True,
        ui=False,
        die_with_parent=True,
        dynamic_config={"frontend.WorkflowTimeSkippingEnabled": "true"},
    )
    server = TemporalServer(tmp_path_factory.mktemp("temporal"), options)
    yield server.start()
    server.stop()


def _run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One folder for the whole pytest run: under xdist the parent of the workers' own folders."""
    folder = tmp_path_factory.getbasetemp()
    return folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder


@contextmanager
def _exclusively(path: Path) -> Iterator[None]:
    with path.open("w", encoding="ascii") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
