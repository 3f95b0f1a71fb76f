"""What a command works with: settings, the journal's database, the artifact store, and a Temporal client when it needs one.

A server that does not answer is a sentence and exit code 4.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import psycopg

from activities.artifacts.stores import Stores, stores
from activities.postgres.pool import Database
from cli.outcome import StackUnreachable
from domain.contracts.ids import project_id
from domain.ports.artifact_store import ArtifactStore
from domain.retrieval.query import LOCAL
from settings import Settings, load

if TYPE_CHECKING:
    from temporalio.client import Client

T = TypeVar("T")
CONNECT_SECONDS = 5


@dataclass(frozen=True, slots=True)
class Session:
    """One command's connections. `project` is the encoded id; `principal` is who asks."""

    settings: Settings
    project: str
    database: Database
    stores: Stores
    principal: str

    @property
    def artifacts(self) -> ArtifactStore:
        """The bodies that events refer to."""
        return self.stores.artifacts

    async def temporal(self) -> "Client":
        """A client with the installation's converter. Raises `StackUnreachable`, `StackNotRunning`."""
        from temporalio.client import Client
        from temporalio.service import RPCError

        from client.converter import data_converter
        from client.protection import protection

        converter = data_converter(protection(self.settings.installation_key(), self.artifacts))
        named = self.settings.temporal()
        try:
            return await Client.connect(**named.connect, data_converter=converter)
        except (RuntimeError, RPCError, OSError) as error:
            said = str(error).splitlines()[0]
            raise StackUnreachable(
                f"Temporal does not answer at {named.address} ({said}); `make up` starts it."
            ) from None


@asynccontextmanager
async def session(project: str = "default", settings: Settings | None = None) -> AsyncGenerator[Session]:
    """The connections of one command. Raises `MalformedId`, `StackNotRunning`, `StackUnreachable`."""
    quiet()
    settings = settings or load()
    encoded = project_id(project)
    url = settings.database_url()
    await _answers(url)
    database = Database(url, max_connections=4)
    await database.open()
    try:
        kept = stores(settings.artifacts if isinstance(settings.artifacts, Path) else None, database)
        yield Session(settings, encoded, database, kept, settings.actor or LOCAL)
    finally:
        await database.close()


async def _answers(url: str) -> None:
    """Raises `StackUnreachable` at once, where a pool would go on trying."""
    try:
        connection = await psycopg.AsyncConnection.connect(url, connect_timeout=CONNECT_SECONDS)
    except psycopg.OperationalError as error:
        said = (str(error).strip().splitlines() or ["no reason given"])[0]
        raise StackUnreachable(f"Postgres does not answer ({said}); `make up` starts it.") from None
    await connection.close()


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run one command to its end, or to an interrupt.

    An interrupted loop is not closed: that waits for tasks of libraries that may never end, and the process leaves anyway.
    """
    runner = asyncio.Runner()
    answer = runner.run(work)
    runner.close()
    return answer


def quiet() -> None:
    """Libraries do not talk on a command's standard error."""
    for name in ("psycopg", "psycopg.pool", "temporalio", "asyncio"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
