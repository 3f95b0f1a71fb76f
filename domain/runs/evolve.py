"""`evolve(state, event) -> state` for runs, frames, tasks and operations.

Only what happened moves a run: events that domain commands wrote about it (knowledge, approvals) do not enter its digest, so a
trajectory stays the same however often it is read.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
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


def evolve_run(run: Run | None, event: Event, body_hash: bytes, at: int) -> Run:
    """The run after `event`; `body_hash` is the event's content hash, `at` its place in the journal or batch."""
    if run is None:
        run = Run(
            project_id=event.project, run_id=event.run or "", version=at, title=None, format=None, native_id=None,
            integration=event.integration, workspace=None, task_id=None, state="open", opened_at=event.occurred_at,
            last_at=event.occurred_at, digest="", trajectory_id=None, closes=0, events=0, turns=0, tool_calls=0,
            tool_results=0, errors=0, unknown=0,
        )  # fmt: skip
    kind, occurred = event.type, event.occurred_at
    if kind == "run.closed":
        return replace(
            run, version=at, state=str(event.data.get("outcome")), trajectory_id=_text(event.data.get("trajectory")),
            closes=run.closes + 1, last_at=max(run.last_at, occurred),
        )  # fmt: skip
    title, form, native = run.title, run.format, run.native_id
    if kind == "run.opened":
        data = event.data
        title = title or _text(data.get("title"))
        form = form or _text(data.get("format"))
        native = native or _text(data.get("native_id"))
    # spelt out, because this runs for every event there is: replace() takes three times as long
    return Run(
        project_id=run.project_id,
        run_id=run.run_id,
        version=at,
        title=title,
        format=form,
        native_id=native,
        integration=run.integration,
        workspace=run.workspace or event.workspace,
        task_id=run.task_id or event.task,
        state=run.state,
        opened_at=run.opened_at if run.opened_at <= occurred else occurred,
        last_at=run.last_at if run.last_at >= occurred else occurred,
        digest=hashlib.sha256(bytes.fromhex(run.digest) + body_hash).hexdigest(),
        trajectory_id=run.trajectory_id,
        closes=run.closes,
        events=run.events + 1,
        turns=run.turns + kind.startswith("turn."),
        tool_calls=run.tool_calls + (kind in _STARTED),
        tool_results=run.tool_results + (kind in _ENDED),
        errors=run.errors + kind.endswith(".failed"),
        unknown=run.unknown + (kind == "source.unknown"),
    )


def evolve_frame(frame: Frame | None, event: Event, at: int) -> Frame:
    """The frame after an event that happened in it."""
    occurred = event.occurred_at
    if frame is None:
        frame = Frame(
            project_id=event.project, frame_id=event.frame or "", version=at, run_id=event.run or "",
            parent_frame_id=event.parent_frame, title=None, kind="turn", opened_at=occurred, last_at=occurred, events=0,
            tool_calls=0,
        )  # fmt: skip
    title, kind = frame.title, frame.kind
    if event.type == "frame.opened":
        title = title or _text(event.data.get("title"))
        kind = _text(event.data.get("kind")) or kind
    return Frame(
        project_id=frame.project_id,
        frame_id=frame.frame_id,
        version=at,
        run_id=frame.run_id,
        parent_frame_id=frame.parent_frame_id or event.parent_frame,
        title=title,
        kind=kind,
        opened_at=frame.opened_at if frame.opened_at <= occurred else occurred,
        last_at=frame.last_at if frame.last_at >= occurred else occurred,
        events=frame.events + 1,
        tool_calls=frame.tool_calls + (event.type in _STARTED),
    )


def evolve_task(task: Task | None, event: Event, at: int) -> Task:
    """The task after an event that names it."""
    occurred = event.occurred_at
    if task is None:
        task = Task(
            project_id=event.project, task_id=event.task or "", version=at, title=None, state="open", opened_at=occurred,
            last_at=occurred, events=0,
        )  # fmt: skip
    title, state = task.title, task.state
    if event.type in _TITLED:
        title = title or _text(event.data.get("title"))
    elif event.type == "task.closed":
        state = _text(event.data.get("outcome")) or "closed"
    return Task(
        project_id=task.project_id,
        task_id=task.task_id,
        version=at,
        title=title,
        state=state,
        opened_at=task.opened_at if task.opened_at <= occurred else occurred,
        last_at=task.last_at if task.last_at >= occurred else occurred,
        events=task.events + 1,
    )


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
