"""`evolve(state, event) -> state` for runs, frames, tasks and operations.

Only what happened moves a run: events that domain commands wrote about it (knowledge, approvals) do not enter its digest, so a
trajectory stays the same however often it is read.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from domain.contracts.payloads import is_list
from domain.journal.canonical import MAX_INTEGER
from domain.journal.catalogue import GUARDED_FAMILIES
from domain.journal.event import Event
from domain.runs.state import Frame, Operation, Run, Task

_STARTED = frozenset({"tool.started", "mcp.call.started", "delegation.started"})
_ENDED: Mapping[str, str] = {
    "tool.completed": "completed",
    "tool.failed": "failed",
    "tool.uncertain": "uncertain",
    "mcp.call.completed": "completed",
    "mcp.call.failed": "failed",
    "delegation.completed": "completed",
    "delegation.failed": "failed",
}
_TITLED = frozenset({"task.opened", "run.opened"})


def happened(event: Event) -> bool:
    """Whether the event belongs to its run's trajectory; `run.closed` says what the trajectory was and is outside it."""
    return (
        event.run is not None
        and event.type != "run.closed"
        and not event.source.startswith("temporality/")
        and event.type.partition(".")[0] not in GUARDED_FAMILIES
    )


def starts(event: Event) -> bool:
    return event.type in _STARTED


def ends(event: Event) -> bool:
    return event.type in _ENDED


Step = tuple[Event, bytes, int]
"""An event that moves a row, its content hash, and its place in the journal or batch.

Rows that every event of a run moves are evolved by several steps at once: making a row costs more than counting in it.
"""


def evolve_run(run: Run | None, steps: Sequence[Step]) -> Run:
    """The run after one or more `steps`; the same whether they come at once or one by one."""
    event, at = steps[0][0], steps[-1][2]
    if run is None:
        run = Run(
            project_id=event.project, run_id=event.run or "", version=at, title=None, format=None, native_id=None,
            integration=event.integration, workspace=None, task_id=None, state="open", opened_at=event.occurred_at,
            last_at=event.occurred_at, digest="", trajectory_id=None, closes=0, events=0, turns=0, tool_calls=0,
            tool_results=0, errors=0, unknown=0,
        )  # fmt: skip
    title, form, native, workspace, task = run.title, run.format, run.native_id, run.workspace, run.task_id
    opened_at, last_at, state, trajectory, closes = run.opened_at, run.last_at, run.state, run.trajectory_id, run.closes
    digest, events, turns, calls = bytes.fromhex(run.digest), run.events, run.turns, run.tool_calls
    results, errors, unknown = run.tool_results, run.errors, run.unknown
    for event, body_hash, _ in steps:
        kind, occurred = event.type, event.occurred_at
        last_at = occurred if occurred > last_at else last_at
        if kind == "run.closed":
            state, trajectory = str(event.data.get("outcome")), _text(event.data.get("trajectory"))
            closes += 1
            continue
        if kind == "run.opened":
            title = title or _text(event.data.get("title"))
            form = form or _text(event.data.get("format"))
            native = native or _text(event.data.get("native_id"))
        opened_at = occurred if occurred < opened_at else opened_at
        digest = hashlib.sha256(digest + body_hash).digest()
        workspace, task = workspace or event.workspace, task or event.task
        events += 1
        turns += kind.startswith("turn.")
        calls += kind in _STARTED
        results += kind in _ENDED
        errors += kind.endswith(".failed")
        unknown += kind == "source.unknown"
    return Run(
        project_id=run.project_id, run_id=run.run_id, version=at, title=title, format=form, native_id=native,
        integration=run.integration, workspace=workspace, task_id=task, state=state, opened_at=opened_at, last_at=last_at,
        digest=digest.hex(), trajectory_id=trajectory, closes=closes, events=events, turns=turns, tool_calls=calls,
        tool_results=results, errors=errors, unknown=unknown,
    )  # fmt: skip


def evolve_frame(frame: Frame | None, steps: Sequence[Step]) -> Frame:
    """The frame after one or more events that happened in it."""
    event, at = steps[0][0], steps[-1][2]
    if frame is None:
        frame = Frame(
            project_id=event.project, frame_id=event.frame or "", version=at, run_id=event.run or "",
            parent_frame_id=event.parent_frame, title=None, kind="turn", opened_at=event.occurred_at,
            last_at=event.occurred_at, events=0, tool_calls=0,
        )  # fmt: skip
    title, kind, parent = frame.title, frame.kind, frame.parent_frame_id
    opened_at, last_at, calls = frame.opened_at, frame.last_at, frame.tool_calls
    for event, _, _ in steps:
        occurred = event.occurred_at
        opened_at = occurred if occurred < opened_at else opened_at
        last_at = occurred if occurred > last_at else last_at
        parent = parent or event.parent_frame
        calls += event.type in _STARTED
        if event.type == "frame.opened":
            title = title or _text(event.data.get("title"))
            kind = _text(event.data.get("kind")) or kind
    return Frame(
        project_id=frame.project_id, frame_id=frame.frame_id, version=at, run_id=frame.run_id, parent_frame_id=parent,
        title=title, kind=kind, opened_at=opened_at, last_at=last_at, events=frame.events + len(steps), tool_calls=calls,
    )  # fmt: skip


def evolve_task(task: Task | None, steps: Sequence[Step]) -> Task:
    """The task after one or more events that name it."""
    event, at = steps[0][0], steps[-1][2]
    if task is None:
        task = Task(
            project_id=event.project, task_id=event.task or "", version=at, title=None, state="open",
            opened_at=event.occurred_at, last_at=event.occurred_at, events=0,
        )  # fmt: skip
    title, state, opened_at, last_at = task.title, task.state, task.opened_at, task.last_at
    for event, _, _ in steps:
        occurred = event.occurred_at
        opened_at = occurred if occurred < opened_at else opened_at
        last_at = occurred if occurred > last_at else last_at
        if event.type in _TITLED:
            title = title or _text(event.data.get("title"))
        elif event.type == "task.closed":
            state = _text(event.data.get("outcome")) or "closed"
    return Task(
        project_id=task.project_id, task_id=task.task_id, version=at, title=title, state=state, opened_at=opened_at,
        last_at=last_at, events=task.events + len(steps),
    )  # fmt: skip


def evolve_operation(operation: Operation | None, event: Event, at: int) -> Operation:
    """The operation after its start or an ending: the first ending wins, a later one is counted as late."""
    data = event.data
    if operation is None:
        operation = Operation(
            project_id=event.project, run_id=event.run or "", operation_id=event.operation_id or "", version=at,
            frame_id=event.frame, tool=None, command=None, argv=None, workspace=None, state="started", exit_code=None,
            success=None, success_basis=None, started_event=None, ended_event=None, late=0,
        )  # fmt: skip
    started = event.type in _STARTED
    if not started and operation.ended_event is not None:
        return replace(operation, version=at, late=operation.late + 1)
    return Operation(
        project_id=operation.project_id,
        run_id=operation.run_id,
        operation_id=operation.operation_id,
        version=at,
        frame_id=operation.frame_id or event.frame,
        tool=operation.tool or _text(data.get("tool")),
        command=operation.command or _text(data.get("command")),
        argv=operation.argv or _argv(data.get("argv")),
        workspace=operation.workspace or event.workspace,
        state=operation.state if started else _ENDED[event.type],
        exit_code=operation.exit_code if started else _integer(data.get("exit_code")),
        success=operation.success if started else _flag(data.get("success")),
        success_basis=operation.success_basis if started else _text(data.get("success_basis")),
        started_event=(operation.started_event or event.event_id) if started else operation.started_event,
        ended_event=operation.ended_event if started else event.event_id,
        late=operation.late,
    )


# A fold never fails on what the journal holds: what is not of the declared kind is not told by a row.


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _flag(value: Any) -> bool | None:
    return value if isinstance(value, bool) else None


def _integer(value: Any) -> int | None:
    plain = isinstance(value, int) and not isinstance(value, bool)
    return value if plain and -MAX_INTEGER <= value <= MAX_INTEGER else None


def _argv(value: Any) -> tuple[str, ...] | None:
    if not is_list(value) or not value or not all(isinstance(item, str) for item in value):
        return None
    return tuple(str(item) for item in value)
