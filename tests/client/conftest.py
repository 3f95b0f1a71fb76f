"""One dev server for the client's tests, a client that carries the converter, and a worker with the fakes."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass

import pytest
from temporalio.client import Client
from temporalio.testing import WorkflowEnvironment
from temporalio.worker import Worker
from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner, SandboxRestrictions

from client.converter import data_converter
from client.protection import protection
from domain.contracts.names import SEARCH_ATTRIBUTES, TASK_QUEUE
from tests.client.fakes import FakeApproval, FakeObservedRun
from tests.support.artifacts.memory import MemoryArtifactStore
from tests.support.temporal import dev_server

TEST_KEY = b"a key of 32 bytes for tests only"


@dataclass(frozen=True)
class Caller:
    """A client as a platform has it, and the store its long texts go to."""

    client: Client
    store: MemoryArtifactStore


@pytest.fixture(scope="session")
async def environment() -> AsyncGenerator[WorkflowEnvironment]:
    async with dev_server(search_attributes=SEARCH_ATTRIBUTES) as env:
        yield env


@pytest.fixture(scope="session")
def store() -> MemoryArtifactStore:
    return MemoryArtifactStore()


@pytest.fixture(scope="session")
async def caller(environment: WorkflowEnvironment, store: MemoryArtifactStore) -> Caller:
    """A client without a worker behind it."""
    address = environment.client.service_client.config.target_host
    converter = data_converter(protection(TEST_KEY, store))
    return Caller(await Client.connect(address, data_converter=converter), store)


def runner() -> SandboxedWorkflowRunner:
    restrictions = SandboxRestrictions.default.with_passthrough_modules("domain", "client")
    return SandboxedWorkflowRunner(restrictions=restrictions)


@pytest.fixture
async def served(caller: Caller) -> AsyncGenerator[Caller]:
    """The same client, with a worker."""
    async with Worker(
        caller.client, task_queue=TASK_QUEUE, workflows=[FakeObservedRun, FakeApproval], workflow_runner=runner()
    ):
        yield caller
