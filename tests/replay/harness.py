"""Replay recorded histories in fresh processes, one per hash seed, as a worker that has just started would.

A set's order is the same within a process and differs between seeds: only a new process finds code that relies on it.
"""

import argparse
import asyncio
import importlib
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from temporalio.client import WorkflowHistory
from temporalio.worker import Replayer

from tests.replay.converter import converter
from workflows.registry import WORKFLOWS
from workflows.sandbox import FAILURES, sandbox

ROOT = Path(__file__).resolve().parents[2]
HISTORIES = Path(__file__).with_name("histories")
SEEDS = (0, 1, 2)


@dataclass(frozen=True, slots=True)
class Broken:
    """One history that did not replay under one hash seed, and what Temporal said."""

    history: str
    seed: int
    why: str


def replay_all(folder: Path = HISTORIES, workflows: Sequence[str] = (), seeds: Sequence[int] = SEEDS) -> list[Broken]:
    """Replay every `*.json` of `folder` under each seed; `workflows` (module:Class) stand in for the project's own.

    Raises RuntimeError where a process ended without an answer.
    """
    command = [sys.executable, "-m", "tests.replay.harness", str(folder), *workflows]
    environments = [{**os.environ, "PYTHONHASHSEED": str(seed)} for seed in seeds]
    running = [subprocess.Popen(command, cwd=ROOT, env=env, stdout=subprocess.PIPE, text=True) for env in environments]
    broken: list[Broken] = []
    for seed, process in zip(seeds, running, strict=True):
        said, _ = process.communicate()
        # The SDK's core writes its own log lines to the same stream, before the answer.
        *_, last = ["", *said.splitlines()]
        if not last.startswith("{"):
            raise RuntimeError(f"replay under hash seed {seed} ended with {process.returncode} and no answer")
        answer = json.loads(last)
        broken += [Broken(name, seed, why) for name, why in answer.items() if why]
    return broken


async def _replay_here(histories: Sequence[Path], workflows: Sequence[type[Any]]) -> dict[str, str]:
    """What went wrong with each history, '' where nothing did."""
    answer: dict[str, str] = {}
    for path in histories:
        replayer = Replayer(
            workflows=workflows,
            data_converter=converter(),
            workflow_runner=sandbox(),
            workflow_failure_exception_types=FAILURES,
        )
        told = path.read_text()
        started = json.loads(told)["events"][0]["workflowExecutionStartedEventAttributes"]
        # A workflow may read its own id, so that it replays under the one it had.
        history = WorkflowHistory.from_json(started.get("workflowId", path.stem), told)
        result = await replayer.replay_workflow(history, raise_on_replay_failure=False)
        answer[path.name] = str(result.replay_failure or "")
    return answer


def _load(name: str) -> type[Any]:
    module, _, attribute = name.partition(":")
    loaded: type[Any] = getattr(importlib.import_module(module), attribute)
    return loaded


def main() -> None:
    """Replay in this process and print a JSON object of history name to what went wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.replay.harness", description=main.__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("workflows", nargs="*", help="module:Class, instead of the project's workflows")
    asked = parser.parse_args()
    workflows = [_load(name) for name in asked.workflows] or list(WORKFLOWS)
    answer = asyncio.run(_replay_here(sorted(asked.folder.glob("*.json")), workflows))
    sys.stdout.write(f"\n{json.dumps(answer)}\n")
    sys.stdout.flush()
    # The SDK aborts now and then in the interpreter's shutdown.
    os._exit(0)


if __name__ == "__main__":
    main()
