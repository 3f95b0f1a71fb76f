"""One attempt to get out, and what came of it in one phrase."""

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from activities.sandbox import Command, Ended, Limits, SandboxPolicy, WorkspaceFiles
from domain.contracts.errors import TemporalityError
from tests.activities.sandbox.probe import PRELUDE
from tests.activities.sandbox.stage import Stage

MIB = 1024 * 1024
SMALL = SandboxPolicy(
    wall_seconds=30.0,
    limits=Limits(memory_bytes=512 * MIB, processes=32, file_bytes=8 * MIB, scratch_bytes=8 * MIB, free_disk_bytes=1),
)

Group = Literal["files", "kernel interfaces", "network", "processes", "credentials", "resources", "file tools"]


@dataclass(frozen=True)
class Attempt:
    """What is tried, in Python inside a sandbox (`probe`) or by a file tool outside (`tool`), and what must come of it."""

    group: Group
    name: str
    expected: str
    probe: str = ""
    tool: Callable[[WorkspaceFiles, Stage], object] | None = None
    policy: SandboxPolicy = SMALL
    judge: Callable[[Stage, Ended], str] | None = None  # says from outside what came of it


def limited(**limits: int) -> SandboxPolicy:
    """The small policy with other limits."""
    return replace(SMALL, limits=replace(SMALL.limits, **limits))


async def conduct(attempt: Attempt, on: Stage) -> str:
    """Makes the attempt and gives what came of it; the secret in any output is the worst that can."""
    if attempt.tool is not None:
        return _by_tool(attempt.tool, on)
    code = f"{PRELUDE}\n{attempt.probe}"
    argv = (sys.executable, "-I", "-S", "-c", code, json.dumps(on.facts))
    try:
        ended = await on.sandbox.run(Command(argv=argv), attempt.policy, on.workspace)
    except TemporalityError as error:
        return f"refused: {type(error).__name__}"
    if on.secret.encode() in ended.stdout.head + ended.stdout.tail + ended.stderr.head + ended.stderr.tail:
        return "it read the secret"
    if on.victim.poll() is not None:
        return "it ended a process of the host"
    if attempt.judge is not None:
        return attempt.judge(on, ended)
    return said(ended)


def said(ended: Ended) -> str:
    """The last line of an attempt, or how it was ended."""
    if ended.killed is not None:
        return f"ended at the limit: {ended.killed}"
    if ended.signal is not None:
        return f"ended by signal {ended.signal}"
    lines = ended.stdout.text().strip().splitlines()
    return lines[-1] if lines and ended.exit_code == 0 else f"exit code {ended.exit_code}: {ended.stderr.text()[-500:]}"


def _by_tool(tool: Callable[[WorkspaceFiles, Stage], object], on: Stage) -> str:
    try:
        result = tool(WorkspaceFiles(on.workspace), on)
    except TemporalityError as error:
        return "it told the secret" if on.secret in str(error) else f"refused: {type(error).__name__}"
    return "it read the secret" if on.secret in repr(result) else f"it worked: {result!r}"
