"""Record the histories that the replay gate replays: `.venv/bin/python -m tests.replay.record [NAME...]`.

Recorded once and then kept: a history is recorded again only where nobody has open workflows of its kind. Names of
machines, processes and files are taken out; nothing else is changed.
"""

import asyncio
import json
import os
import re
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from temporalio.client import WorkflowFailureError, WorkflowHandle

from domain.contracts.approval import ApprovalInput
from domain.contracts.errors import ExtractionRefused, JournalUnavailable
from domain.contracts.extraction import ExtractionInput
from domain.contracts.ids import digest_id
from domain.contracts.imports import ImportInput
from domain.contracts.starting import approval_start, extraction_start, import_start
from tests.workflows.runs import batch, complete, event, open_run, record
from tests.workflows.world import World, eventually, histories_of, server

HISTORIES = Path(__file__).with_name("histories")
IDENTITY = re.compile(r"\d+@[\w.-]+")
Handle = WorkflowHandle[Any, Any]


async def observed_run(world: World, project: str) -> Handle:
    """Updates and signals, good and bad, at once; then a completion, and its extraction."""
    handle = await open_run(world, project)
    await asyncio.gather(*(record(handle, batch(n, n + 3)) for n in range(0, 12, 3)))
    for sent in (None, "x", [1], {"events": "e"}, {"events": [event(20), None]}):
        await handle.signal("record", sent)
    await handle.signal("complete", 3)
    world.faults.fail("journal.close_run", project, ExtractionRefused("once"))
    with suppress(Exception):
        await complete(handle)
    await complete(handle)
    return handle


async def observed_run_rolls_over(world: World, project: str) -> Handle:
    """Steady signals through several histories, then a completion by signal."""
    handle = await open_run(world, project, history_events=30)
    for number in range(40):
        await handle.signal("record", batch(number, number + 1))
    await handle.signal("complete", {})
    return handle


async def observed_run_abandoned(world: World, project: str) -> Handle:
    """One batch and then nothing."""
    handle = await open_run(world, project, idle_seconds=2)
    await record(handle, batch(0, 1))
    return handle


async def observed_run_cancelled(world: World, project: str) -> Handle:
    """An operator cancels it while the journal does not answer."""
    handle = await open_run(world, project)
    world.faults.fail("journal.close_run", project, JournalUnavailable())
    await record(handle, batch(0, 1))
    await handle.cancel()
    return handle


async def import_of_many_runs(world: World, project: str) -> Handle:
    """A file of more runs than one history starts extractions for, one of them with an id that cannot be used."""
    world.importing.plan[project] = 51
    world.importing.broken.add(project)
    world.extracting.all_known.add(project)
    sha256 = digest_id(project, size=64)
    file = ImportInput(
        project=project, file="s.jsonl", sha256=sha256, bytes=9, requested_at=datetime.now(UTC), import_id="i1"
    )
    return await world.start(import_start(file))


async def extraction(world: World, project: str) -> Handle:
    """Three candidates and their approvals."""
    world.extracting.plan[project] = 3
    return await world.start(extraction_start(_extraction(project)))


async def extraction_fails(world: World, project: str) -> Handle:
    """The proposal is refused, and the failure recorded."""
    world.faults.fail("extraction.propose", project, JournalUnavailable(), ExtractionRefused("no provider"))
    return await world.start(extraction_start(_extraction(project)))


async def extraction_cancelled(world: World, project: str) -> Handle:
    """An operator cancels it while candidates are proposed."""
    held = world.faults.hold("extraction.propose", project)
    handle = await world.start(extraction_start(_extraction(project)))

    async def proposing() -> bool:
        return world.faults.calls["extraction.propose", project] > 0

    await eventually(proposing)
    await handle.cancel()
    with suppress(WorkflowFailureError):
        await handle.result()
    held.set()
    return handle


async def approval_decided(world: World, project: str) -> Handle:
    """Refused signals, racing updates, and one that wins."""
    handle = await _approval(world, project, 3600)
    for sent in (None, "approve", _decision("agent:example.org:a1")):
        await handle.signal("decide", sent)
    people = [f"human:example.org:{name}" for name in ("anna", "olga", "ida")]
    await asyncio.gather(*(handle.execute_update("decide", _decision(who)) for who in people))
    return handle


async def approval_expires(world: World, project: str) -> Handle:
    """Nobody decides."""
    return await _approval(world, project, 2)


async def approval_rolls_over(world: World, project: str) -> Handle:
    """So many refused signals that it goes on in a new history, where a signal decides."""
    handle = await _approval(world, project, 3600, history_events=40)
    for _ in range(20):
        await handle.signal("decide", None)

    async def moved() -> bool:
        return len(await histories_of(world.client, handle.id)) > 1

    await eventually(moved, seconds=60)
    await handle.signal("decide", _decision("human:example.org:anna"))
    return handle


SCENARIOS: tuple[Callable[[World, str], Awaitable[Handle]], ...] = (
    observed_run,
    observed_run_rolls_over,
    observed_run_abandoned,
    observed_run_cancelled,
    import_of_many_runs,
    extraction,
    extraction_fails,
    extraction_cancelled,
    approval_decided,
    approval_expires,
    approval_rolls_over,
)


def _extraction(project: str) -> ExtractionInput:
    return ExtractionInput(project=project, run="r1", trajectory=digest_id(project, size=64), extractor="rules/1")


async def _approval(world: World, project: str, seconds: float, **other: Any) -> Handle:
    deadline = datetime.now(UTC) + timedelta(seconds=seconds)
    asked = ApprovalInput(
        project=project, approval="a1", deadline=deadline, title="a claim", proposed_by_run="r1", **other
    )
    world.approving.request(asked)
    return await world.start(approval_start(asked))


def _decision(actor: str) -> dict[str, str]:
    return {"decision": "approve", "actor": actor, "decision_id": f"d-{actor}"}


async def _keep(world: World, name: str, handle: Handle) -> None:
    """Write every history of the workflow's chain; of one chain at most the first two and the last."""
    with suppress(WorkflowFailureError):
        await handle.result()
    chain = await histories_of(world.client, handle.id)
    for number, one in enumerate(chain):
        if number < 2 or one is chain[-1]:
            told = json.loads((await one.fetch_history()).to_json())
            suffix = f"-{number + 1}" if len(chain) > 1 else ""
            text = json.dumps(_anonymous(told), separators=(",", ":"), ensure_ascii=False)
            (HISTORIES / f"{name}{suffix}.json").write_text(text + "\n")


def _anonymous(value: Any) -> Any:
    """`value` without the names of machines, processes and files."""
    if isinstance(value, dict):
        return {key: _anonymous(part) for key, part in value.items() if key != "stackTrace"}
    if isinstance(value, list):
        return [_anonymous(part) for part in value]
    return IDENTITY.sub("worker", value) if isinstance(value, str) else value


async def _main(names: list[str]) -> None:
    HISTORIES.mkdir(exist_ok=True)
    async with server() as env:
        world = World(env, task_queue="temporality")
        async with world.worker():
            for scenario in SCENARIOS:
                name = scenario.__name__.replace("_", "-")
                if not names or name in names:
                    await _keep(world, name, await scenario(world, name))
                    print(f"recorded {name}", flush=True)


if __name__ == "__main__":
    asyncio.run(_main(sys.argv[1:]))
    # The SDK aborts now and then in the interpreter's shutdown.
    os._exit(0)
