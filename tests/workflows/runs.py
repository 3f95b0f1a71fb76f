"""What tests say to an observed run."""

from typing import Any

from temporalio.client import WorkflowHandle

from domain.contracts.observed_run import CompleteAnswer, ObservedRunInput, Progress, RecordAnswer
from domain.contracts.starting import observed_run_start
from tests.workflows.world import World

Handle = WorkflowHandle[Any, Any]


def event(number: int, text: str = "hello") -> dict[str, Any]:
    return {"event_id": f"e{number}", "type": "turn.user", "data": {"text": text}}


def batch(begin: int, end: int, text: str = "hello") -> dict[str, Any]:
    return {"events": [event(number, text) for number in range(begin, end)]}


async def open_run(world: World, project: str, run: str = "r1", *, skipping: bool = False, **other: Any) -> Handle:
    asked = ObservedRunInput(project=project, run=run, title="mend the cache", **other)
    return await world.start(observed_run_start(asked), skipping=skipping)


async def record(handle: Handle, sent: Any) -> RecordAnswer:
    return RecordAnswer.model_validate(await handle.execute_update("record", sent))


async def complete(handle: Handle, sent: Any = ()) -> CompleteAnswer:
    return CompleteAnswer.model_validate(await handle.execute_update("complete", {} if sent == () else sent))


async def progress(handle: Handle) -> Progress:
    return Progress.model_validate(await handle.query("progress"))
