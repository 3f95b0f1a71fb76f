"""A whole installation with a worker process of its own, and beside it a worker for the floors in this process."""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from temporalio.client import Client
from temporalio.worker import Worker

import settings as environment
import worker
from activities.postgres.migrations import migrate
from activities.postgres.pool import Database
from bench.floor_workflows import QUEUE, Sequence, Update, nothing
from bench.place import Place
from client.artifacts.folder import FolderArtifactStore
from domain.contracts.names import SEARCH_ATTRIBUTES
from settings import Settings
from stack.child import ChildSpec
from stack.embedded import Stack, StackOptions
from workflows.sandbox import sandbox

ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Installation:
    """`client` speaks as the command line does; `worker_pid` is the worker process."""

    client: Client
    database: Database
    artifacts: FolderArtifactStore
    settings: Settings
    worker_pid: int


@asynccontextmanager
async def installation(place: Place) -> AsyncGenerator[Installation]:
    """Started in the bench's folder, stopped at the end."""
    home = place.folder / "installation"
    stack = Stack(home, StackOptions(search_attributes=SEARCH_ATTRIBUTES, die_with_parent=True))
    settings = environment.load({"TEMPORALITY_HOME": str(home)})
    try:
        told = stack.start()
        if told.postgres is None:
            raise RuntimeError("the bench needs the embedded Postgres")
        migrate(told.postgres.owner_url)
        ready = settings.worker_ready_file
        argv = (sys.executable, "worker.py")
        spec = ChildSpec("worker", argv, ROOT, ready, environment.program_environment(settings))
        stack.spawn_worker(spec, 90.0)
        artifacts = FolderArtifactStore(home / "artifacts")
        client = await worker.connect(settings, artifacts)
        database = Database(settings.database_url(), max_connections=4)
        await database.open()
        floors = Worker(
            client,
            task_queue=QUEUE,
            workflows=[Sequence, Update],
            activities=[nothing],
            workflow_runner=sandbox(),
        )
        try:
            async with floors:
                pid = int(ready.read_text(encoding="utf-8"))
                yield Installation(client, database, artifacts, settings, pid)
        finally:
            await database.close()
    finally:
        stack.stop()
