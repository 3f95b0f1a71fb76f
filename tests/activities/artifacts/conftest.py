"""Every artifact store with a way to damage what it holds, so that one suite runs against all of them."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest

from activities.artifacts import FolderArtifactStore, PostgresArtifactStore
from domain.ports.artifact_store import ArtifactStore
from stack.postgres import PostgresEndpoint
from tests.support.artifacts.memory import MemoryArtifactStore
from tests.support.artifacts.table import create_table, scoped
from tests.support.stack import fresh_database, postgres_server, postgres_template

__all__ = ["fresh_database", "postgres_server", "postgres_template"]


@dataclass(frozen=True)
class Held:
    """A store, and what flips the last byte of a body it holds."""

    store: ArtifactStore
    damage: Callable[[str, str], None]


def memory(_: pytest.FixtureRequest) -> Held:
    store = MemoryArtifactStore()

    def damage(project: str, sha256: str) -> None:
        store.bodies[project, sha256] = flipped(store.bodies[project, sha256])

    return Held(store, damage)


def folder(request: pytest.FixtureRequest) -> Held:
    root: Path = request.getfixturevalue("tmp_path")

    def damage(project: str, sha256: str) -> None:
        path = root / "store" / project / sha256[:2] / sha256
        path.write_bytes(flipped(path.read_bytes()))

    return Held(FolderArtifactStore(root / "store"), damage)


def postgres(request: pytest.FixtureRequest) -> Held:
    database: PostgresEndpoint = request.getfixturevalue("fresh_database")
    create_table(database)

    def damage(project: str, sha256: str) -> None:
        with psycopg.connect(database.superuser_url) as connection:
            connection.execute(
                "UPDATE journal.artifacts"
                " SET body = set_byte(body, length(body) - 1, 255 - get_byte(body, length(body) - 1))"
                " WHERE project_id = %s AND sha256 = %s AND part = parts - 1",
                (project, sha256),
            )

    return Held(PostgresArtifactStore(scoped(database.app_url)), damage)


def flipped(body: bytes) -> bytes:
    return body[:-1] + bytes([255 - body[-1]])


@pytest.fixture(params=[memory, folder, postgres], ids=lambda make: make.__name__)
def held(request: pytest.FixtureRequest) -> Held:
    """Each store in turn."""
    return request.param(request)


@pytest.fixture
def store(held: Held) -> ArtifactStore:
    return held.store
