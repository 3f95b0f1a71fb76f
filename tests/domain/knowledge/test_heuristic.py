"""`kernel-heuristic/execution-observation.v1`, word by word of spec/1, through the very fold an append uses."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.journal.event import Event
from domain.journal.rows import WorkingSet
from domain.knowledge.heuristic import ACTOR, PRODUCER, SOURCE, VERSION, Unavailable, executed, observe
from domain.knowledge.normalise import observation_identity
from domain.knowledge.state import NODES, Node
from domain.projections.batch import Encoded, Unit, fold_batch, recorded
from domain.runs.state import OPERATIONS, Operation
from tests.support.events import happened, knows, ran

KNOWN = observation_identity("p", "/repo", "make test")


def folded(*events: Event) -> tuple[list[Event], WorkingSet]:
    """What one append of `events` to an empty project would write, and the rows after it."""
    rows = WorkingSet()
    while True:
        rows = WorkingSet(rows.loaded)
        batch = fold_batch(rows, [Unit(recorded(events))], {}, Encoded())
        if not batch.missing:
            return [item.event for item in batch.fresh], rows
        rows.loaded.update(dict.fromkeys(batch.missing))


def said(*events: Event) -> list[str]:
    return [event.type for event in folded(*events)[0] if event.source == SOURCE]


def successes(count: int, **ending: Any) -> list[Event]:
    return [event for number in range(count) for event in ran("p", f"op{number}", **ending)]


def test_unknown_is_proposed_once_repeated_confirmed_and_later_used() -> None:
    ladder = ["knowledge.proposed", "knowledge.confirmed", "knowledge.used", "knowledge.used"]
    assert said(*successes(4)) == ladder


def test_the_ladder_does_not_care_which_run_repeats() -> None:
    events = [event for number in range(3) for event in ran("p", "op", run=f"run-{number}")]
    assert said(*events) == ["knowledge.proposed", "knowledge.confirmed", "knowledge.used"]


def test_a_challenged_observation_is_confirmed_by_the_next_success() -> None:
    challenge = knows("p", "challenged", KNOWN, "1", data={"reason_code": "doubt"})
    assert said(*successes(2), challenge, *ran("p", "later")) == [
        "knowledge.proposed",
        "knowledge.confirmed",
        "knowledge.confirmed",
    ]


@pytest.mark.parametrize("ending", ["corrected", "superseded", "invalidated", "disproved"])
def test_a_terminal_observation_emits_nothing(ending: str) -> None:
    over = knows("p", ending, KNOWN, "1", data={"reason_code": "gone"})
    assert said(*successes(1), over, *ran("p", "later"), *ran("p", "again")) == ["knowledge.proposed"]


def test_a_forgotten_observation_stays_hidden() -> None:
    assert said(*successes(1), knows("p", "forgotten", KNOWN, "1"), *ran("p", "later")) == ["knowledge.proposed"]


def test_an_unavailable_lookup_emits_nothing() -> None:
    start, end = ran("p", "op")
    _, rows = folded(start, end)
    operation = rows.get(OPERATIONS, Operation, "r1", "op")
    assert operation is not None
    [check] = executed(end, operation)
    assert observe(end, check, Unavailable()) is None
    assert observe(end, check, None) is not None


@pytest.mark.parametrize(
    "ending",
    [
        {"exit_code": 1},
        {"exit_code": None},
        {"exit_code": None, "success": True},
        {"exit_code": None, "success": False, "success_basis": "format"},
        {"exit_code": None, "success": True, "success_basis": "exit_code"},
        {"exit_code": 2, "success": True, "success_basis": "format"},
    ],
)
def test_no_success_no_observation(ending: dict[str, Any]) -> None:
    assert said(*ran("p", "op", **ending)) == []


@pytest.mark.parametrize("basis", ["format", "flag"])
def test_a_documented_success_counts(basis: str) -> None:
    assert said(*ran("p", "op", exit_code=None, success=True, success_basis=basis)) == ["knowledge.proposed"]


@pytest.mark.parametrize(
    "command", ["ls", "echo make test", "make test | tail", "make test || true", "git checkout main"]
)
def test_what_proves_no_check_is_none(command: str) -> None:
    assert said(*ran("p", "op", command)) == []


def test_a_late_ending_emits_nothing() -> None:
    start, end = ran("p", "op")
    late = replace(end, event_id="late")
    from_elsewhere = replace(end, source="another")
    assert said(start, end, late, from_elsewhere) == ["knowledge.proposed"]


def test_a_success_after_a_failed_ending_of_the_same_call_is_late() -> None:
    start, end = ran("p", "op")
    _, failed = ran("p", "op", exit_code=1)
    assert said(start, replace(failed, event_id="failed"), end) == []


def test_an_ending_without_its_start_says_nothing() -> None:
    assert said(ran("p", "op")[1]) == []


def test_one_line_may_prove_two_checks_and_the_same_one_once() -> None:
    assert said(*ran("p", "op", "make test && make lint")) == ["knowledge.proposed", "knowledge.proposed"]
    assert said(*ran("p", "op", "make test && make test")) == ["knowledge.proposed"]


def test_the_same_check_in_another_workspace_is_another_observation() -> None:
    start, end = ran("p", "op")
    elsewhere = [
        replace(event, workspace="/other", event_id=f"{event.event_id}-2", operation_id="op2") for event in (start, end)
    ]
    assert said(start, end, *elsewhere) == ["knowledge.proposed", "knowledge.proposed"]


def test_argv_is_read_without_a_shell() -> None:
    start, end = ran("p", "op")
    listed = replace(start, data={"tool": "exec", "argv": ["make", "test"]})
    events, _ = folded(listed, end)
    assert [event.data["knowledge"] for event in events if event.source == SOURCE] == [KNOWN]


def test_an_observation_names_its_execution_and_scores_nothing() -> None:
    start, end = ran("p", "op")
    [observed] = [event for event in folded(start, end)[0] if event.source == SOURCE]
    assert (observed.actor, observed.caused_by, observed.run) == (ACTOR, (end.event_id,), "r1")
    assert (observed.data["producer"], observed.data["producer_version"]) == (PRODUCER, VERSION)
    assert observed.data["proposition"] == "`make test` succeeds in /repo"
    assert [(item["ref"], item["type"]) for item in observed.evidence] == [(end.event_id, "check_result")]
    assert observed.evidence[0]["content_hash"]
    assert not {"confidence", "score"} & observed.data.keys()


@given(st.lists(st.tuples(st.integers(0, 4), st.booleans()), max_size=15), st.randoms())
def test_however_calls_interleave_there_is_one_proposal_and_one_event_for_each_success(
    calls: list[tuple[int, bool]], chance: Any
) -> None:
    pairs = [
        ran("p", f"op{i}", run=f"run-{run}", exit_code=0 if passes else 1) for i, (run, passes) in enumerate(calls)
    ]
    pending = [list(pair) for pair in pairs]
    events: list[Event] = []
    while any(pending):
        events.append(chance.choice([queue for queue in pending if queue]).pop(0))
    kinds = said(*events)
    passed = sum(passes for _, passes in calls)
    assert kinds == ["knowledge.proposed", "knowledge.confirmed", *["knowledge.used"] * passed][:passed]
    _, rows = folded(*events)
    node = rows.written.get((NODES, (KNOWN,)))
    assert (node is None) == (passed == 0)
    if isinstance(node, Node):
        assert (node.confirmations, node.uses) == (min(passed - 1, 1), max(passed - 2, 0))


def test_events_that_only_look_like_endings_are_ignored() -> None:
    start, end = ran("p", "op")
    assert said(start, replace(end, operation_id=None), replace(end, run=None, event_id="x")) == []
    assert said(happened("p", "x", "tool.completed", data={"exit_code": 0}, operation_id="never started")) == []
