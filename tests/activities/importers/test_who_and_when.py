"""Who&When: agents as turns with their step, code that ran with its exit code, and labels nobody reads on the way."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from activities.importers.recognise import recognise
from domain.extraction.reading import read
from tests.activities.importers.reading import imported
from tests.activities.importers.test_examples import example

HAND_CRAFTED: dict[str, Any] = {
    "history": [
        {"role": "human", "content": "Where is it?"},
        {"role": "Orchestrator (thought)", "content": "I make a plan."},
        {"role": "Orchestrator (-> WebSurfer)", "content": "Search for it."},
        {"role": "WebSurfer", "content": "Found it."},
    ],
    "question": "Where is it?",
    "ground_truth": "There",
    "is_corrected": False,
    "mistake_agent": "Websurfer",
    "mistake_step": "3",
    "mistake_reason": "It found another thing.",
    "question_ID": 7,
}


def test_the_example_tells_turns_steps_and_executions() -> None:
    outcome = imported(example("who-and-when.json"), "w.json")
    (closing,) = outcome.closings
    assert closing.run.startswith("question-ledger-01.") and closing.outcome == "failed"
    assert {event.task for event in outcome.events} == {"question-ledger-01"}
    told = [(event.data["step"], event.data["agent"]) for event in outcome.of("turn.agent")]
    assert told == [(0, "Ledger_Expert"), (2, "Ledger_Expert"), (4, "Checking_Expert"), (5, "Ledger_Expert")]
    assert [event.actor for event in outcome.of("turn.agent")][2] == "agent:who-and-when:Checking_Expert"
    failed, ran = outcome.of("tool.failed")[0], outcome.of("tool.completed")[0]
    assert (failed.data["exit_code"], failed.data["step"], ran.data["exit_code"]) == (1, 1, 0)
    python, shell = outcome.of("tool.started")
    assert python.data["arguments"]["code"][0]["language"] == "python" and "command" not in python.data
    assert shell.data["command"] == "wc -l data/march.csv"
    assert len({event.frame for event in outcome.events if "step" in event.data}) == 6


@pytest.mark.parametrize("told", [orjson.loads(example("who-and-when.json")), HAND_CRAFTED])
def test_labels_stand_in_the_details_alone(told: dict[str, Any]) -> None:
    secret = {**told, "mistake_reason": "LABEL-1", "ground_truth": "LABEL-2", "mistake_agent": "LABEL-3"}
    outcome = imported(orjson.dumps(secret), "w.json")
    opened, *others = outcome.events
    assert opened.data["labels"]["mistake_agent"] == "LABEL-3"
    assert opened.data["labels"]["mistake_step"] == told["mistake_step"]
    assert not any(b"LABEL" in orjson.dumps(event.document()) for event in others)
    assert "LABEL" not in repr(outcome.closings)
    seen = [body.text for reading in read(outcome.events) for body in reading.bodies]
    assert seen and not any("LABEL" in text for text in seen)


def test_hand_crafted_runs_name_the_agent_in_the_role() -> None:
    outcome = imported(orjson.dumps(HAND_CRAFTED), "h.json")
    assert [event.type for event in outcome.events if event.type.startswith("turn.")] == [
        "turn.user", "turn.thought", "turn.agent", "turn.agent",
    ]  # fmt: skip
    _, planned, asked, found = [event for event in outcome.events if event.type.startswith("turn.")]
    assert (planned.data["agent"], asked.data["how"], found.data["agent"]) == (
        "Orchestrator",
        "-> WebSurfer",
        "WebSurfer",
    )


def test_a_history_longer_than_the_head_is_recognised_by_its_roles() -> None:
    long = {**HAND_CRAFTED, "history": [*HAND_CRAFTED["history"], {"role": "WebSurfer", "content": "x" * 100_000}]}
    found = recognise(orjson.dumps(long)[: 64 * 1024])
    assert getattr(found, "format", None) == "who-and-when"


def test_two_runs_on_one_question_are_two_runs() -> None:
    other = {**HAND_CRAFTED, "history": [{"role": "human", "content": "Where was it?"}]}
    first, second = (imported(orjson.dumps(told), "h.json").closings[0] for told in (HAND_CRAFTED, other))
    assert first.run != second.run


@pytest.mark.parametrize("value", [None, 7, "odd", [], {}])
def test_odd_messages_are_kept(value: Any) -> None:
    told = {**HAND_CRAFTED, "history": [*HAND_CRAFTED["history"], value], "extra": {"kept": True}}
    outcome = imported(orjson.dumps(told), "h.json")
    assert outcome.of("source.unknown")[-1].data["record"] == {"kept": True}
    assert outcome.counts.unknown == (1 if isinstance(value, dict) else 2)


def test_a_run_without_history_is_refused() -> None:
    outcome = imported(orjson.dumps({**HAND_CRAFTED, "history": "none"}))
    assert not outcome.events and "no list `history`" in outcome.refused[0].reason
