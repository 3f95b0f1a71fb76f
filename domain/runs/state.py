"""Runs, frames, tasks and operations as the journal tells them: rows, one class per table."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from domain.journal.rows import Table


@dataclass(frozen=True, slots=True)
class Run:
    """A durable attempt. `state` is open or the outcome of its last close; counts are of events in the journal."""

    project_id: str
    run_id: str
    version: int
    title: str | None
    format: str | None
    native_id: str | None
    integration: str
    workspace: str | None
    task_id: str | None
    state: str
    opened_at: datetime
    last_at: datetime
    # sha256 over the run's event hashes in order, hex; grows with every event that happened
    digest: str
    # the digest at the last close
    trajectory_id: str | None
    closes: int
    events: int
    turns: int
    tool_calls: int
    tool_results: int
    errors: int
    unknown: int


@dataclass(frozen=True, slots=True)
class Frame:
    """A bounded semantic step of a run."""

    project_id: str
    frame_id: str
    version: int
    run_id: str
    parent_frame_id: str | None
    title: str | None
    kind: str
    opened_at: datetime
    last_at: datetime
    events: int
    tool_calls: int


@dataclass(frozen=True, slots=True)
class Task:
    """A work item that may span runs."""

    project_id: str
    task_id: str
    version: int
    title: str | None
    state: str
    opened_at: datetime
    last_at: datetime
    events: int


@dataclass(frozen=True, slots=True)
class Operation:
    """One tool call. `state`: started, completed, failed, uncertain. The first ending wins; later ones are counted as late."""

    project_id: str
    run_id: str
    operation_id: str
    version: int
    frame_id: str | None
    tool: str | None
    command: str | None
    argv: tuple[str, ...] | None
    workspace: str | None
    state: str
    exit_code: int | None
    success: bool | None
    success_basis: str | None
    started_event: str | None
    ended_event: str | None
    late: int


RUNS = Table("runs", Run, ("run_id",))
FRAMES = Table("frames", Frame, ("frame_id",))
TASKS = Table("tasks", Task, ("task_id",))
OPERATIONS = Table("operations", Operation, ("run_id", "operation_id"))
