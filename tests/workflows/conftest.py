"""One server and one worker for all tests of workflows, and a project of its own for each test."""

import re
from collections.abc import AsyncIterator

import pytest
from temporalio.testing import WorkflowEnvironment

from tests.workflows.world import World, server


@pytest.fixture(scope="session")
async def env() -> AsyncIterator[WorkflowEnvironment]:
    """A Temporal server that skips time."""
    async with server() as running:
        yield running


@pytest.fixture(scope="session")
async def world(env: WorkflowEnvironment) -> AsyncIterator[World]:
    """The shared world, with its worker running."""
    shared = World(env)
    async with shared.worker():
        yield shared


@pytest.fixture
def project(request: pytest.FixtureRequest) -> str:
    """A project that no other test uses."""
    return re.sub(r"[^a-z0-9]+", "-", request.node.name.removeprefix("test_").lower()).strip("-")[:120]
