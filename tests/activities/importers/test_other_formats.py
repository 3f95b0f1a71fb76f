"""SWE-agent, tau-bench, OpenHands V0 and OpenAI chat, on small files made by hand."""

from __future__ import annotations

import json
from typing import Any

import orjson

from tests.activities.importers.reading import RUN_TIME, fixture, imported, lines_of


def test_swe_agent_steps_and_messages_tell_one_run() -> None:
    outcome = imported(fixture("steps.traj"), "steps.traj")
    assert outcome.format == "swe-agent"
    assert dict(outcome.tools) == {"bash": 1, "edit": 1, "submit": 1} and outcome.counts.tool_results == 3
    assert [event.data["text"].strip() for event in outcome.of("turn.agent")] == [
        "I look around.",
        "I edit.",
        "I submit.",
    ]
    assert [event.data["demonstration"] for event in outcome.of("turn.system") if "role" in event.data] == [True]
    (asked,) = outcome.of("turn.user")
    assert asked.data["text"].startswith("We solve")
    assert (
        outcome.events[0].data["title"] == "The answer is wrong"
        and outcome.events[0].data["environment"] == "made_by_hand"
    )
    started = {event.data["tool"]: event for event in outcome.of("tool.started")}
    assert started["bash"].data["command"] == "ls" and started["edit"].data["call_id"] == "call_1"
    assert started["edit"].workspace == "/repo" and started["bash"].operation_id == f"{outcome.closings[0].run}#1"
    assert [event.data.get("duration_ms") for event in outcome.of("tool.completed")] == [None, 250, None]
    assert (outcome.closings[0].outcome, outcome.closings[0].result) == ("completed", "diff")
    assert {(event.occurred_at, event.time_basis) for event in outcome.events} == {(RUN_TIME, "order_only")}


def test_swe_agent_keeps_what_stands_in_one_place_only() -> None:
    told = json.loads(fixture("steps.traj"))
    told["history"].insert(5, {"role": "assistant", "content": "I forgot the format.", "agent": "main"})
    told["trajectory"].insert(
        1, {"action": "pwd", "observation": "/repo", "response": "Unheard.", "thought": "Unheard."}
    )
    told["history"].insert(6, {"role": "user", "content": "Use the format.", "agent": "main"})
    told["extra"] = {"kept": True}
    outcome = imported(orjson.dumps(told), "steps.traj")
    texts = [event.data["text"].strip() for event in outcome.of("turn.agent")]
    assert texts == ["I look around.", "I forgot the format.", "Unheard.", "I edit.", "I submit."]
    assert outcome.of("source.unknown")[0].data["record"] == {"kept": True}
    # the harness speaks in the user's name: only what came before the first answer was asked by a user
    assert len(outcome.of("turn.user")) == 1 and outcome.of("turn.system")[-1].data["text"] == "Use the format."
    only_messages = imported(orjson.dumps({"history": told["history"]}), "steps.traj")
    assert only_messages.counts.tool_calls == 2 == only_messages.counts.tool_results


def test_swe_agent_ends_as_its_status_says() -> None:
    told = json.loads(fixture("steps.traj"))
    for status, outcome in (
        ("submitted (exit_cost)", "completed"), ("exit_cost", "budget_exhausted"), ("exit_context", "budget_exhausted"),
        ("exit_error", "failed"), ("early_exit", "abandoned"), (None, "completed"),
    ):  # fmt: skip
        told["info"]["exit_status"] = status
        assert imported(orjson.dumps(told)).closings[0].outcome == outcome, status


def test_tau_bench_is_one_run_for_each_task_and_trial() -> None:
    outcome = imported(fixture("results.json"), "results.json")
    first, second = outcome.closings
    assert (first.outcome, first.reason, second.outcome) == ("completed", "reward 1.0", "failed")
    assert first.run.startswith("task-3.trial-0.") and second.run.startswith("task-3.trial-1.")
    assert len({event.task for event in outcome.events}) == 1
    (failed,) = outcome.of("tool.failed")
    assert failed.data["error"] == "Error: booking not found"
    # a call id that comes again is another call
    assert [event.operation_id for event in outcome.of("tool.started")] == ["call_1", "call_1", "call_1~2"]
    assert [event.operation_id for event in outcome.of("tool.completed")] == ["call_1", "call_1~2"]
    assert outcome.counts.anomalies == {"duplicate_call_id": 1}
    # the same words twice are two turns
    assert [e.data["text"] for e in outcome.of("turn.user") if e.run == second.run] == [
        "Please cancel.",
        "Thanks.",
        "Thanks.",
    ]
    judged = [
        event.data["record"]["reward"] for event in outcome.of("source.note") if event.data["kind"] == "evaluation"
    ]
    assert judged == [1.0, 0.0]


def test_tau_bench_dialogues_show_calls_by_their_results() -> None:
    said = "user: Hi: I ask\nmore\nassistant: None\ntool: Error: nothing\nassistant: I try again.\ntool: found\n"
    said += "assistant: Done."
    outcome = imported(lines_of({"messages_display": said}, {"messages_display": said}), "few.jsonl")
    assert len({closing.run for closing in outcome.closings}) == 2
    events = [event for event in outcome.events if event.run == outcome.closings[0].run]
    assert [event.type for event in events] == [
        "run.opened", "frame.opened", "turn.user", "tool.started", "tool.failed", "turn.agent", "tool.started",
        "tool.completed", "turn.agent",
    ]  # fmt: skip
    assert events[2].data["text"] == "Hi: I ask\nmore"


def test_openhands_exit_codes_and_what_runs_still() -> None:
    outcome = imported(fixture("events.json"), "events.json")
    checked, serving = outcome.of("tool.completed")
    assert (checked.data["exit_code"], checked.operation_id, checked.workspace) == (0, "toolu_1", "/workspace")
    assert serving.data["running"] is True and "exit_code" not in serving.data and "success" not in serving.data
    (failed,) = outcome.of("tool.failed")
    assert (failed.data["exit_code"], failed.data["error"]) == (2, "bad")
    started = outcome.of("tool.started")
    assert [event.data["command"] for event in started] == ["make check", "make serve", "make lint"]
    assert [event.workspace for event in started] == [None, "/workspace", "/workspace"]
    assert failed.operation_id == started[2].operation_id and failed.parent_event_id == started[2].event_id
    assert {event.time_basis for event in outcome.events} == {"assumed_utc"}
    assert outcome.counts.anomalies == {"time_without_zone": 10}
    assert outcome.of("source.unknown")[0].data["native_type"] == "sing"
    assert (outcome.closings[0].outcome, outcome.closings[0].reason) == ("completed", "the agent finished")


def test_openhands_old_rows_are_paired_by_order() -> None:
    history: list[dict[str, Any]] = [
        {"content": "Fix it.", "action": "message", "wait_for_response": False},
        {"command": "ls", "thought": "First.", "action": "run"},
        {"content": "a", "command": "ls", "command_id": 1, "exit_code": 0, "observation": "run"},
        {"code": "1/0", "thought": "", "action": "run_ipython"},
        {"content": "ZeroDivisionError", "observation": "error"},
        {"outputs": {}, "thought": "Done.", "action": "finish"},
    ]
    row = {"issue": {"title": "A bug"}, "instruction": "Fix it.", "base_commit": "", "git_patch": "diff",
           "history": history, "success": True, "result_explanation": "fixed", "error": None}  # fmt: skip
    outcome = imported(lines_of(row, {**row, "success": False}, {**row, "error": "it crashed"}), "rows.jsonl")
    assert [closing.outcome for closing in outcome.closings] == ["completed", "failed", "failed"]
    first = [event for event in outcome.events if event.run == outcome.closings[0].run]
    assert first[0].data["title"] == "A bug" and outcome.closings[0].result == "fixed"
    assert [event.data["exit_code"] for event in first if event.type == "tool.completed"] == [0]
    (failed,) = (event for event in first if event.type == "tool.failed")
    assert failed.data["tool"] == "run_ipython"
    assert not outcome.notes("call_without_result") and not outcome.notes("result_without_call")
    alone = imported(orjson.dumps(row, option=orjson.OPT_INDENT_2), "row.json")
    assert alone.format == "openhands-v0" and alone.counts.tool_calls == 2


def test_openai_chat_log_of_one_completion() -> None:
    outcome = imported(fixture("completion.json"), "completion.json")
    assert outcome.format == "openai-chat"
    assert [event.type for event in outcome.events] == [
        "run.opened", "turn.system", "frame.opened", "turn.user", "turn.user", "tool.started", "tool.completed",
        "model.completed", "turn.thought", "turn.agent", "context.changed",
    ]  # fmt: skip
    (started,) = outcome.of("tool.started")
    assert started.data["command"] == "ls" and started.operation_id == "c1"
    (ended,) = outcome.of("tool.completed")
    assert ended.data["output"] == "a.py" and "success" not in ended.data
    # messages have no times: they take the one of the log, in order only
    assert {event.occurred_at.timestamp() for event in outcome.events} == {1767225600.5}
    assert outcome.of("turn.user")[0].time_basis == "order_only" and outcome.of("turn.agent")[0].time_basis == "source"


def test_openai_chat_in_its_other_shapes() -> None:
    told = json.loads(fixture("completion.json"))
    messages = told["messages"]
    bare = imported(orjson.dumps(messages, option=orjson.OPT_INDENT_2), "bare.json")
    lines = imported(lines_of(*messages), "lines.jsonl")
    assert [event.type for event in bare.events] == [event.type for event in lines.events]
    many = imported(lines_of({"messages": messages}, {"messages": messages, "session_id": "s-1"}), "many.jsonl")
    assert [closing.counts.tool_calls for closing in many.closings] == [1, 1] and many.closings[1].run == "s-1"
    legacy = [
        {"role": "user", "content": "x"},
        {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}},
        {"role": "function", "name": "f", "content": "1"},
    ]
    assert imported(orjson.dumps(legacy)).counts.tool_results == 1
    told["response"]["choices"][0]["finish_reason"] = "length"
    assert imported(orjson.dumps(told)).closings[0].outcome == "budget_exhausted"
