"""One server and one worker for all tests of workflows, and a project of its own for each test."""

import asyncio
import functools
import inspect
import re
from collections.abc import AsyncIterator, Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
from temporalio.testing import WorkflowEnvironment

from tests.workflows.world import World, server

HERE = Path(__file__).parent
TEST_SECONDS = 60.0


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


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A workflow that never ends fails its test instead of holding up the others."""
    for item in items:
        test = getattr(item, "obj", None)
        if item.path.parent == HERE and inspect.iscoroutinefunction(test):
            setattr(item, "obj", _within_a_minute(test))  # noqa: B010 (not every item has one)


def _within_a_minute(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., Coroutine[Any, Any, None]]:
    @functools.wraps(test)
    async def timed(*args: Any, **kwargs: Any) -> None:
        async with asyncio.timeout(TEST_SECONDS):
            await test(*args, **kwargs)

    return timed
