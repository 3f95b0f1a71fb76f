"""Does the work of the lanes as a platform and an operator would, and keeps every answer it was given.

It only ever asks again with the same ids, as the documented clients do: whatever else has to happen after a kill, happens by itself.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from temporalio.client import Client

from client import RecordOptions, RunRecorder, decide
from client.artifacts.folder import FolderArtifactStore
from client.asking import Patience, until_answered
from client.starting import start_options
from domain.contracts.approval import Decision, DecisionAnswer
from domain.contracts.extraction import ExtractionAnswer
from domain.contracts.imports import ImportAnswer, ImportInput
from domain.contracts.names import TASK_QUEUE
from domain.contracts.observed_run import Complete, CompleteAnswer, EventAnswer, ObservedRunInput
from domain.contracts.starting import Start, import_start
from tests.faults.inputs import WHEN, File, Lane, Observed

T = TypeVar("T")

PATIENCE: Final = Patience(in_all=240.0, one_attempt=60.0, longest_wait=1.0)
ACTOR: Final = "human:example.org:reviewer"
VERDICTS: Final = ("approve", "reject", "edit", "approve")
"""The verdict on a lane's first, second, third and fourth proposal, and so on; the last proposal of a lane is left open."""


@dataclass
class Answers:
    """What callers were told, by what they asked."""

    imports: dict[str, ImportAnswer] = field(default_factory=dict[str, ImportAnswer])
    records: dict[str, list[EventAnswer]] = field(default_factory=dict[str, list[EventAnswer]])
    closes: dict[str, CompleteAnswer] = field(default_factory=dict[str, CompleteAnswer])
    extractions: dict[str, ExtractionAnswer] = field(default_factory=dict[str, ExtractionAnswer])
    decisions: dict[str, DecisionAnswer] = field(default_factory=dict[str, DecisionAnswer])
    second_thoughts: dict[str, DecisionAnswer] = field(default_factory=dict[str, DecisionAnswer])


@dataclass
class Scenario:
    """The lanes at work on one site. `undecided` are the approvals nobody decided, by project."""

    client: Client
    artifacts: FolderArtifactStore
    answers: Answers = field(default_factory=Answers)
    undecided: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    told: list[tuple[float, str]] = field(default_factory=list[tuple[float, str]])

    async def work(self, lanes: Sequence[Lane], stagger_seconds: float = 0.0) -> None:
        """All lanes beside one another, each step by step and begun `stagger_seconds` after the one before it."""
        async with asyncio.TaskGroup() as group:
            for lane in lanes:
                group.create_task(self._lane(lane), name=lane.project)
                await asyncio.sleep(stagger_seconds)

    async def _lane(self, lane: Lane) -> None:
        """What one step taught is decided while the next run is already recorded; it closes only after that."""
        open_approvals: list[str] = []
        decided = 0
        for step in lane.steps:
            # the newest stays open until there is a newer one, so that exactly one is left at the end
            due, open_approvals = open_approvals[:-1], open_approvals[-1:]
            async with asyncio.TaskGroup() as group:
                group.create_task(self._decide_all(lane.project, due, decided))
                recording = None
                if isinstance(step, Observed):
                    recording = group.create_task(self._record(lane.project, step))
            decided += len(due)
            self.told.append((time.time(), f"{lane.project}: {len(due)} decisions, {type(step).__name__} begins"))
            recorder = recording.result() if recording is not None else None
            if isinstance(step, File):
                extractions = await self._import(lane.project, step)
            else:
                assert recorder is not None
                extractions = await self._complete(lane.project, step, recorder)
            for workflow_id in extractions:
                open_approvals += await self._extracted(workflow_id)
            self.told.append((time.time(), f"{lane.project}: step done"))
        await self._decide_all(lane.project, open_approvals[:-1], decided)
        self.undecided[lane.project] = open_approvals[-1:]

    async def _import(self, project: str, file: File) -> list[str]:
        sha256 = await self.artifacts.put(project, file.body)
        request = ImportInput(
            project=project,
            file=file.name,
            sha256=sha256,
            bytes=len(file.body),
            requested_at=WHEN,
            import_id=f"{project}-{file.import_id}",
        )
        answer = await self._ended(import_start(request), ImportAnswer)
        self.answers.imports[request.import_id] = answer
        return [run.extraction for run in answer.runs if run.extraction]

    async def _record(self, project: str, observed: Observed) -> RunRecorder:
        run = ObservedRunInput(project=project, run=observed.run, title=f"the report, {observed.run}")
        recorder = RunRecorder(self.client, run, RecordOptions(patience=PATIENCE))
        answers = [answer for batch in observed.batches for answer in await recorder.record(batch)]
        self.answers.records[f"{project}/{observed.run}"] = answers
        return recorder

    async def _complete(self, project: str, observed: Observed, recorder: RunRecorder) -> list[str]:
        answer = await recorder.complete(Complete(outcome="completed", reason="all was said"))
        self.answers.closes[f"{project}/{observed.run}"] = answer
        return [answer.extraction] if answer.extraction else []

    async def _extracted(self, workflow_id: str) -> list[str]:
        """The approvals that the extraction asks for, once it has ended; one that was asked before asks for none again."""
        if workflow_id in self.answers.extractions:
            return []
        handle = self.client.get_workflow_handle(workflow_id, result_type=ExtractionAnswer)
        answer = await _patiently(handle.result, workflow_id)
        self.answers.extractions[workflow_id] = answer
        return answer.approvals

    async def _decide_all(self, project: str, approvals: Sequence[str], before: int) -> None:
        for place, approval in enumerate(approvals, before):
            verdict = VERDICTS[place % len(VERDICTS)]
            replacement = f"Proposal {place} of {project}, as a reviewer would say it." if verdict == "edit" else None
            decision = Decision.model_validate(
                {"decision": verdict, "actor": ACTOR, "decision_id": f"first-{approval}", "replacement": replacement}
            )
            self.answers.decisions[approval] = await decide(self.client, project, approval, decision, PATIENCE)
            other = decision.model_copy(
                update={"decision": "reject", "decision_id": f"second-{approval}", "replacement": None}
            )
            self.answers.second_thoughts[approval] = await decide(self.client, project, approval, other, PATIENCE)

    async def _ended(self, start: Start, gives: type[T]) -> T:
        async def begin() -> Any:
            return await self.client.start_workflow(
                start.workflow,
                start.input,
                task_queue=TASK_QUEUE,
                result_type=gives,
                **start_options(start),
            )

        handle = await _patiently(begin, start.id)
        return await _patiently(handle.result, start.id)


async def _patiently(ask: Callable[[], Awaitable[T]], what: str) -> T:
    return await until_answered(ask, PATIENCE, f"waiting for {what}")
