"""What the tests of the sandbox share: a workspace, a sandbox, and one way to run Python in it.

They load the machine on purpose (fork bombs, memory, floods of output), so they run with the faults, beside no other test.
"""

import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from activities.sandbox import Command, Ended, Sandbox, SandboxPolicy, Workspace

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.faults)


Run = Callable[..., Awaitable[Ended]]


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """A folder of the test's own."""
    (tmp_path / "workspace").mkdir()
    return Workspace.at(tmp_path / "workspace")


@pytest.fixture
def sandbox() -> Sandbox:
    """The sandbox of this machine."""
    return Sandbox.find()


@pytest.fixture
def run(sandbox: Sandbox, workspace: Workspace) -> Run:
    """`await run("true")`, `await run(shell="...")`, `await run(python="...")`, with a policy and more of a command."""

    async def once(*argv: str, python: str | None = None, policy: SandboxPolicy | None = None, **more: object) -> Ended:
        if python is not None:
            argv = (sys.executable, "-I", "-S", "-c", python, *argv)
        return await sandbox.run(Command(argv=argv, **more), policy or SandboxPolicy(), workspace)  # pyright: ignore[reportArgumentType]

    return once
