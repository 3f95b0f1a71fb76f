"""One Temporal server that skips time, one worker with the project's own sandbox, and fakes behind every port."""

import asyncio
import contextlib
import json
import sys
import uuid
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

from temporalio.api.enums.v1 import EventType
from temporalio.client import Client, WorkflowExecutionStatus, WorkflowHandle
from temporalio.common import Priority, RawValue, SearchAttributeKey, WorkflowIDReusePolicy
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.service import RPCError, RPCStatusCode
from temporalio.testing import WorkflowEnvironment
from temporalio.worker import Worker

from domain.contracts.names import SEARCH_ATTRIBUTES
from domain.contracts.starting import Start
from tests.workflows.fakes.approving import Approving
from tests.workflows.fakes.extracting import Extracting
from tests.workflows.fakes.faults import Faults
from tests.workflows.fakes.importing import Importing
from tests.workflows.fakes.recording import Recording
from workflows.registry import WORKFLOWS
from workflows.sandbox import FAILURES, sandbox
from workflows.visible import typed

KEYS: dict[str, SearchAttributeKey[Any]] = {
    name: SearchAttributeKey.for_datetime(name) if kind == "Datetime" else SearchAttributeKey.for_keyword(name)
    for name, kind in SEARCH_ATTRIBUTES.items()
}
SKIPPING = ("--dynamic-config-value", "frontend.WorkflowTimeSkippingEnabled=true")
FAIRNESS = (
    "--dynamic-config-value",
    "matching.enableFairness=true",
    "--dynamic-config-value",
    "matching.enableMigration=true",
)


@contextlib.asynccontextmanager
async def server() -> AsyncIterator[WorkflowEnvironment]:
    """The dev server in memory, from the environment's own binary."""
    async with await WorkflowEnvironment.start_time_skipping_v2(
        dev_server_existing_path=str(Path(sys.executable).parent / "temporal"),
        dev_server_log_level="error",
        dev_server_startup_timeout=timedelta(seconds=60),
        dev_server_extra_args=[*SKIPPING, *FAIRNESS],
        search_attributes=list(KEYS.values()),
        data_converter=pydantic_data_converter,
    ) as env:
        yield env


@dataclass
class World:
    """A server, a task queue, and what the activities of its workers stand on."""

    env: WorkflowEnvironment
    task_queue: str = field(default_factory=lambda: f"flows-{uuid.uuid4().hex[:8]}")
    faults: Faults = field(default_factory=Faults)

    def __post_init__(self) -> None:
        self.recording = Recording(self.faults)
        self.importing = Importing(self.faults)
        self.extracting = Extracting(self.faults)
        self.approving = Approving(self.faults)

    @property
    def client(self) -> Client:
        return self.env.client

    def worker(self, *, cached: int = 1000) -> Worker:
        """A worker of this world; use it with `async with`. With no cache its successor takes over at once."""
        recording, extracting, approving = self.recording, self.extracting, self.approving
        return Worker(
            self.client,
            task_queue=self.task_queue,
            workflows=list(WORKFLOWS),
            activities=[
                recording.record,
                recording.close,
                self.importing.transcript,
                extracting.start,
                extracting.propose,
                extracting.admit,
                extracting.fail,
                approving.decide,
                approving.expire,
                approving.refuse,
            ],
            workflow_runner=sandbox(strict=True),
            workflow_failure_exception_types=FAILURES,
            max_cached_workflows=cached,
        )

    async def start(self, start: Start, *, skipping: bool = False, **other: Any) -> WorkflowHandle[Any, Any]:
        """Start what `start` says, as a client does. The clock is real until `env.fast_forward` unless `skipping`."""
        with contextlib.nullcontext() if skipping else self.env.with_time_skipping_disabled():
            return await self.client.start_workflow(
                start.workflow,
                start.input,
                id=start.id,
                task_queue=self.task_queue,
                id_reuse_policy=WorkflowIDReusePolicy[start.reuse.upper()],
                search_attributes=typed(start.attributes),
                static_summary=start.summary,
                static_details=start.details,
                priority=Priority(fairness_key=start.fairness_key),
                **other,
            )

    async def status(self, workflow_id: str) -> WorkflowExecutionStatus | None:
        """The status of a workflow, None where there is none."""
        try:
            return (await self.client.get_workflow_handle(workflow_id).describe()).status
        except RPCError as error:
            if error.status != RPCStatusCode.NOT_FOUND:
                raise
            return None

    async def attributes(self, workflow_id: str) -> dict[str, Any]:
        """The project's search attributes of a workflow, by name."""
        described = await self.client.get_workflow_handle(workflow_id).describe()
        return {pair.key.name: pair.value for pair in described.typed_search_attributes if pair.key.name in KEYS}


async def events_of(handle: WorkflowHandle[Any, Any]) -> Counter[str]:
    """How many events of each type a history has."""
    history = await handle.fetch_history()
    return Counter(EventType.Name(event.event_type).removeprefix("EVENT_TYPE_") for event in history.events)


async def eventually(condition: Any, seconds: float = 20) -> Any:
    """Ask an async `condition` until it gives something true, or fail."""
    async with asyncio.timeout(seconds):
        while not (found := await condition()):  # noqa: ASYNC110 (what is awaited happens in another process)
            await asyncio.sleep(0.05)
    return found


async def details_of(handle: WorkflowHandle[Any, Any]) -> str:
    """The current details, as the Temporal UI asks for them."""
    metadata: Any = await handle.query("__temporal_workflow_metadata", result_type=RawValue)
    decoded = json.loads(metadata.payload.data)
    details: str = decoded.get("currentDetails", "")
    return details


async def histories_of(client: Client, workflow_id: str) -> list[WorkflowHandle[Any, Any]]:
    """Every history of a workflow that went on in new ones, the first one first."""
    listed = [one async for one in client.list_workflows(f"WorkflowId = '{workflow_id}'")]
    listed.sort(key=lambda one: one.start_time)
    return [client.get_workflow_handle(one.id, run_id=one.run_id) for one in listed]
