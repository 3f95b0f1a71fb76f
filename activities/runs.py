"""Opening and closing runs in the journal: a run is closed once for each trajectory, and only the journal knows which that is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from activities.postgres.journal import Journal
from domain.contracts.errors import NotFound
from domain.contracts.ids import digest_id
from domain.journal.event import Event, TimeBasis
from domain.journal.rows import WorkingSet
from domain.runs.state import RUNS, Run

SOURCE = "temporality/run"


@dataclass(frozen=True, slots=True)
class Closing:
    """How a run ended, as its producer tells it."""

    project: str
    run: str
    at: datetime
    outcome: str
    reason: str | None = None
    result: object = None
    time_basis: TimeBasis = "source"


@dataclass(frozen=True, slots=True)
class Closed:
    """The run as it stands closed in the journal."""

    outcome: str
    trajectory: str
    events: int
    tool_calls: int


async def close(journal: Journal, closing: Closing) -> Closed:
    """Close the run at its present trajectory; a run already closed there keeps its first ending. Raises `NotFound`."""
    seen: list[Run] = []

    def decide(rows: WorkingSet, late: bool) -> Sequence[Event]:
        run = rows.get(RUNS, Run, closing.run)
        if run is None:
            raise NotFound(f"run {closing.run}: nothing of it was recorded, so there is nothing to close")
        seen.append(run)
        return () if run.trajectory_id == run.digest else (closed_event(closing, run),)

    await journal.transact(closing.project, decide)
    run = seen[-1]
    outcome = run.state if run.trajectory_id == run.digest else closing.outcome
    return Closed(outcome, run.digest, run.events, run.tool_calls)


def closed_event(closing: Closing, run: Run) -> Event:
    """`run.closed`: its id holds the trajectory, so a longer copy is closed again and the same one is not."""
    told = {"reason": closing.reason, "result": closing.result}
    return Event(
        project=closing.project,
        source=SOURCE,
        event_id=digest_id("run.closed", closing.run, run.digest),
        type="run.closed",
        occurred_at=closing.at,
        time_basis=closing.time_basis,
        data={"outcome": closing.outcome, "trajectory": run.digest, **{k: v for k, v in told.items() if v is not None}},
        run=closing.run,
        task=run.task_id,
        workspace=run.workspace,
    )


def at_first_time(event: Event, run: Run | None, run_time: datetime) -> Event:
    """An event of a format without times gets the run's first import's time also when a longer copy brings it (DESIGN "Dates")."""
    if run is None or event.time_basis != "order_only" or event.occurred_at != run_time:
        return event
    return replace(event, occurred_at=run.opened_at)
