"""Runs, frames, tasks and operations are folds of their events, whatever the events hold and however they are grouped."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.journal.event import Event
from domain.journal.rows import WorkingSet
from domain.projections.fold import fold
from domain.runs.evolve import Step, evolve_frame, evolve_operation, evolve_run, evolve_task
from domain.runs.state import OPERATIONS, RUNS, Operation, Run
from tests.support.events import NOON, happened, ran

KINDS = ("turn.user", "run.opened", "run.closed", "frame.opened", "task.opened", "task.closed", "tool.started", "tool.failed",
         "tool.completed", "source.unknown", "custom.thing")  # fmt: skip
anything = st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.lists(st.text(max_size=3), max_size=3)
names = st.sampled_from(
    [
        "title",
        "format",
        "native_id",
        "kind",
        "outcome",
        "trajectory",
        "tool",
        "command",
        "argv",
        "exit_code",
        "success",
        "success_basis",
    ]
)
data = st.dictionaries(names, anything)


@st.composite
def steps(draw: st.DrawFn) -> list[Step]:
    told: list[Step] = []
    for number in range(draw(st.integers(1, 10))):
        event = happened(
            "p", f"e{number}", draw(st.sampled_from(KINDS)), data=draw(data), frame="f", task="t",
            occurred_at=NOON + timedelta(minutes=draw(st.integers(-5, 5))), workspace=draw(st.none() | st.just("/repo")),
            parent_frame=draw(st.none() | st.just("parent")), operation_id="op",
        )  # fmt: skip
        told.append((event, bytes([number]) * 32, number + 1))
    return told


@pytest.mark.parametrize("evolve", [evolve_run, evolve_frame, evolve_task])
@given(told=steps(), cut=st.integers(0, 10))
def test_steps_may_be_taken_one_by_one_or_together(evolve: Any, told: list[Step], cut: int) -> None:
    together = evolve(None, told)
    one_by_one = None
    for step in told:
        one_by_one = evolve(one_by_one, [step])
    first, rest = told[:cut], told[cut:]
    in_two = evolve(None, first) if first else None
    in_two = evolve(in_two, rest) if rest else in_two
    assert together == one_by_one == in_two
    assert together.version == told[-1][2]


@given(told=steps())
def test_a_fold_never_fails_on_what_the_journal_holds(told: list[Step]) -> None:
    """Producers of old, importers and hostile clients: what is not of the declared kind is not told by a row."""
    operation: Operation | None = None
    for event, _, at in told:
        if event.type.startswith("tool."):
            operation = evolve_operation(operation, event, at)
    if operation is not None:
        assert operation.exit_code is None or type(operation.exit_code) is int
        assert operation.command is None or isinstance(operation.command, str)
        assert operation.argv is None or all(isinstance(word, str) for word in operation.argv)


def test_the_first_ending_wins_and_later_ones_are_counted() -> None:
    start, end = ran("p", "op")
    _, failed = ran("p", "op", exit_code=3)
    after = None
    for at, event in enumerate([start, end, failed, replace(end, event_id="again")], 1):
        after = evolve_operation(after, event, at)
    assert after is not None
    assert (after.state, after.exit_code, after.ended_event, after.late) == ("completed", 0, end.event_id, 2)


def rows_after(*events: Event) -> WorkingSet:
    rows = WorkingSet(closed=True)
    for at, event in enumerate(events, 1):
        fold(rows, event, bytes([at]) * 32, at)
    return rows


def test_a_row_that_is_looked_at_has_taken_all_its_steps() -> None:
    rows = WorkingSet(closed=True)
    for at in range(1, 5):
        fold(rows, happened("p", f"e{at}"), bytes(32), at)
        run = rows.get(RUNS, Run, "r1")
        assert run is not None
        assert (run.events, run.version) == (at, at)


def test_what_commands_say_of_a_run_is_not_what_happened_in_it() -> None:
    spoken = happened("p", "k", "turn.user", source="temporality/extraction")
    rows = rows_after(happened("p", "a"), spoken)
    assert [row.events for _, row in rows.rows()] == [1]


def test_a_trajectory_is_the_order_of_its_events_and_closing_is_outside_it() -> None:
    close = happened("p", "c", "run.closed", source="temporality/run", data={"outcome": "failed", "trajectory": "t1"})
    open_run = rows_after(happened("p", "a"), happened("p", "b")).get(RUNS, Run, "r1")
    closed = rows_after(happened("p", "a"), happened("p", "b"), close).get(RUNS, Run, "r1")
    assert open_run is not None
    assert closed is not None
    assert (closed.digest, closed.state, closed.trajectory_id, closed.closes) == (open_run.digest, "failed", "t1", 1)


def test_operations_of_two_runs_with_one_id_are_two() -> None:
    rows = rows_after(*ran("p", "op", run="r1"), *ran("p", "op", run="r2", exit_code=1))
    states = [row.state for table, row in rows.rows() if table is OPERATIONS]
    assert states == ["completed", "failed"]
