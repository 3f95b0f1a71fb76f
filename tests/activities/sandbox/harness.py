"""A worker in miniature, in a process of its own: runs one command in a sandbox and prints what came of it as JSON.

Its first argument is JSON: `workspace`, `code` (Python for the sandbox, run by this interpreter) and `argv` for it.
"""

import asyncio
import json
import sys
from pathlib import Path

from activities.sandbox import Command, Limits, Sandbox, SandboxPolicy, Workspace
from domain.contracts.errors import TemporalityError

MIB = 1024 * 1024


async def _run(request: dict[str, str]) -> dict[str, object]:
    limits = Limits(memory_bytes=512 * MIB, processes=32, free_disk_bytes=1)
    command = Command(argv=(sys.executable, "-I", "-S", "-c", request["code"], request.get("argument", "")))
    try:
        workspace = Workspace.at(Path(request["workspace"]))
        ended = await Sandbox.find().run(command, SandboxPolicy(wall_seconds=30.0, limits=limits), workspace)
    except TemporalityError as error:
        return {"refused": type(error).__name__, "says": str(error)}
    return {
        "exit_code": ended.exit_code,
        "signal": ended.signal,
        "killed": ended.killed,
        "stdout": ended.stdout.text(),
        "stderr": ended.stderr.text(),
    }


if __name__ == "__main__":
    print(json.dumps(asyncio.run(_run(json.loads(sys.argv[1])))), flush=True)
