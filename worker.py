"""The worker: settings become pools, stores and providers, and these become one Temporal worker.

The only composition root. It says that it polls by its ready file, drains on SIGTERM, and leaves without the interpreter's shutdown,
where a short process that used Temporal's SDK aborts now and then.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import AsyncExitStack
from datetime import timedelta
from pathlib import Path

from temporalio.client import Client
from temporalio.worker import Interceptor, Worker

import settings as environment
from activities.artifacts.stores import stores
from activities.models.routing import Routing
from activities.postgres.pool import Database
from activities.registry import Resources, activities
from client.converter import data_converter
from client.protection import Protection
from domain.contracts.errors import TemporalityError
from domain.contracts.names import TASK_QUEUE
from domain.contracts.redaction import Redactor
from domain.ports.artifact_store import ArtifactStore
from domain.runs.transcript import Limits
from settings import Settings
from stack.errors import StackError
from workflows.registry import WORKFLOWS
from workflows.sandbox import FAILURES, sandbox

DRAIN = timedelta(seconds=30)
MAX_CACHED_WORKFLOWS = 1_000
MAX_ACTIVITIES = 40
MAX_WORKFLOW_TASKS = 8


async def connect(settings: Settings, artifacts: ArtifactStore) -> Client:
    """A client with the converter that every process of the installation uses."""
    key = settings.installation_key()
    converter = data_converter(Protection(Redactor(key), key, artifacts))
    return await Client.connect(**settings.temporal().connect, data_converter=converter)


async def run(settings: Settings, interceptors: Sequence[Interceptor] = ()) -> None:
    """Serve until SIGTERM or SIGINT, then drain. `interceptors` see every activity and workflow (the fault suite's kills)."""
    asked = asyncio.Event()
    for ending in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(ending, asked.set)
    async with AsyncExitStack() as stack:
        database = Database(settings.database_url(), max_connections=10)
        await database.open()
        stack.push_async_callback(database.close)
        kept = stores(settings.artifacts if isinstance(settings.artifacts, Path) else None, database)
        resources = Resources(
            database=database,
            artifacts=kept.artifacts,
            origin_key=settings.installation_key() or b"",
            limits=Limits(max_document_bytes=settings.max_document_bytes),
            routing=Routing.load(),
            extraction_cap=settings.extraction_cap,
            incoming=kept.incoming,
        )
        worker = Worker(
            await connect(settings, kept.artifacts),
            task_queue=TASK_QUEUE,
            workflows=WORKFLOWS,
            activities=activities(resources),
            interceptors=interceptors,
            workflow_runner=sandbox(),
            workflow_failure_exception_types=FAILURES,
            max_cached_workflows=MAX_CACHED_WORKFLOWS,
            max_concurrent_activities=MAX_ACTIVITIES,
            max_concurrent_workflow_tasks=MAX_WORKFLOW_TASKS,
            graceful_shutdown_timeout=DRAIN,
        )
        await stack.enter_async_context(worker)
        settings.worker_ready_file.write_text(f"{os.getpid()}\n", encoding="utf-8")
        logging.info("polling %s", TASK_QUEUE)
        await asked.wait()
        logging.info("draining")


def main() -> int:
    """0 after a drain, 1 with one sentence when it cannot start."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s")
    try:
        asyncio.run(run(environment.load()))
    except (TemporalityError, StackError) as error:
        logging.error("%s", error)
        return 1
    return 0


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
