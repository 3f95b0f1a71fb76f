"""`evolve(state, event) -> state` for runs, frames, tasks and operations.

Only what happened moves a run: events that domain commands wrote about it (knowledge, approvals) do not enter its digest, so a
trajectory stays the same however often it is read.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace

from domain.journal.event import Event
from domain.runs.state import Frame, Operation, Run, Task

_STARTED = frozenset({"tool.started", "mcp.call.started", "delegation.started"})
_ENDED = {
    "tool.completed": "completed",
    "tool.failed": "failed",
    "tool.uncertain": "uncertain",
    "mcp.call.completed": "completed",
    "mcp.call.failed": "failed",
    "delegation.completed": "completed",
    "delegation.failed": "failed",
}
HAPPENED = frozenset({"run", "frame", "task", "turn", "model", "tool", "mcp", "delegation", "context", "hint", "source"})


def happened(event: Event) -> bool:
    """Whether the event belongs to its run's trajectory; `run.closed` says what the trajectory was and is outside it."""
    family = event.type.partition(".")[0]
    guarded = event.source.startswith("temporality/")
    return event.run is not None and event.type != "run.closed" and not guarded and family not in _COMMANDED


_COMMANDED = frozenset(
    {"knowledge", "approval", "ingest", "entity", "relation", "correction", "hypothesis", "prediction", "node", "section",
     "proposal", "rollup", "graduation", "promotion", "access", "case", "audit", "flag", "budget", "migration", "operator_action"}
)  # fmt: skip


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
    data, kind = event.data, event.type
    if kind == "run.closed":
        return replace(
            run, version=at, state=str(data.get("outcome")), trajectory_id=data.get("trajectory"), closes=run.closes + 1,
            last_at=max(run.last_at, event.occurred_at),
        )  # fmt: skip
    opened = data if kind == "run.opened" else {}
    return replace(
        run,
        version=at,
        title=run.title or opened.get("title"),
        format=run.format or opened.get("format"),
        native_id=run.native_id or opened.get("native_id"),
        workspace=run.workspace or event.workspace,
        task_id=run.task_id or event.task,
        opened_at=min(run.opened_at, event.occurred_at),
        last_at=max(run.last_at, event.occurred_at),
        digest=hashlib.sha256(bytes.fromhex(run.digest) + body_hash).hexdigest(),
        events=run.events + 1,
        turns=run.turns + kind.startswith("turn."),
        tool_calls=run.tool_calls + starts(event),
        tool_results=run.tool_results + ends(event),
        errors=run.errors + kind.endswith(".failed"),
        unknown=run.unknown + (kind == "source.unknown"),
    )


def evolve_frame(frame: Frame | None, event: Event, at: int) -> Frame:
    """The frame after an event that happened in it."""
    if frame is None:
        frame = Frame(
            project_id=event.project, frame_id=event.frame or "", version=at, run_id=event.run or "",
            parent_frame_id=event.parent_frame, title=None, kind="turn", opened_at=event.occurred_at,
            last_at=event.occurred_at, events=0, tool_calls=0,
        )  # fmt: skip
    opened = event.data if event.type == "frame.opened" else {}
    return replace(
        frame,
        version=at,
        parent_frame_id=frame.parent_frame_id or event.parent_frame,
        title=frame.title or opened.get("title"),
        kind=opened.get("kind", frame.kind),
        opened_at=min(frame.opened_at, event.occurred_at),
        last_at=max(frame.last_at, event.occurred_at),
        events=frame.events + 1,
        tool_calls=frame.tool_calls + starts(event),
    )


def evolve_task(task: Task | None, event: Event, at: int) -> Task:
    """The task after an event that names it."""
    if task is None:
        task = Task(
            project_id=event.project, task_id=event.task or "", version=at, title=None, state="open",
            opened_at=event.occurred_at, last_at=event.occurred_at, events=0,
        )  # fmt: skip
    title = event.data.get("title") if event.type in ("task.opened", "run.opened") else None
    return replace(
        task,
        version=at,
        title=task.title or title,
        state=str(event.data.get("outcome") or "closed") if event.type == "task.closed" else task.state,
        opened_at=min(task.opened_at, event.occurred_at),
        last_at=max(task.last_at, event.occurred_at),
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
    argv = data.get("argv")
    told = replace(
        operation,
        version=at,
        tool=operation.tool or data.get("tool"),
        command=operation.command or data.get("command"),
        argv=operation.argv or (tuple(argv) if argv else None),
        workspace=operation.workspace or event.workspace,
        frame_id=operation.frame_id or event.frame,
    )
    if starts(event):
        return replace(told, started_event=told.started_event or event.event_id)
    if operation.ended_event is not None:
        return replace(operation, version=at, late=operation.late + 1)
    return replace(
        told,
        state=_ENDED[event.type],
        exit_code=data.get("exit_code"),
        success=data.get("success"),
        success_basis=data.get("success_basis"),
        ended_event=event.event_id,
    )
