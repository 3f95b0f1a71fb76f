"""Codex rollouts: calls from response items alone, exit codes from wherever the format tells them, events beside them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.activities.importers.reading import Imported, imported, lines_of
from tests.activities.importers.test_examples import example

META = {"type": "session_meta", "payload": {"id": "s-1", "timestamp": "2026-01-01T10:00:00Z", "cwd": "/repo"}}


def item(**payload: Any) -> dict[str, Any]:
    return {"type": "response_item", "payload": payload}


def event(kind: str, **payload: Any) -> dict[str, Any]:
    return {"type": "event_msg", "payload": {"type": kind, **payload}}


def prompt(text: str) -> dict[str, Any]:
    return item(type="message", role="user", content=[{"type": "input_text", "text": text}])


def called(native: str, name: str = "shell", **arguments: Any) -> dict[str, Any]:
    return item(type="function_call", call_id=native, name=name, arguments=json.dumps(arguments))


def output(native: str, text: Any) -> dict[str, Any]:
    return item(type="function_call_output", call_id=native, output=text)


def rollout(*records: dict[str, Any]) -> Imported:
    timed = [
        {"timestamp": f"2026-01-01T10:00:{number:02d}Z", **record} for number, record in enumerate([META, *records])
    ]
    return imported(lines_of(*timed), "rollout.jsonl")


def test_the_envelope_example_tells_a_session() -> None:
    outcome = imported(example("codex.jsonl"), "c.jsonl")
    (closing,) = outcome.closings
    assert (closing.run, closing.outcome) == ("019c2a10-1111-7222-8333-444455556666", "completed")
    opened = outcome.events[0].data
    assert (opened["title"], opened["model"]) == ("Which tests of the ledger are slow?", "example-coder")
    # three calls by items; their events add none, nor does a search of the model's provider
    assert (outcome.counts.tool_calls, outcome.counts.tool_results, outcome.counts.errors) == (3, 3, 1)
    slow, looked = outcome.of("tool.completed")[0], outcome.of("mcp.call.completed")[0]
    assert (slow.data["exit_code"], slow.data["duration_ms"], slow.workspace) == (0, 2400, "/home/dev/ledger")
    assert (looked.data["success"], looked.data["success_basis"], looked.operation_id) == (True, "flag", "call_c")
    (failed,) = outcome.of("tool.failed")
    assert (failed.data["exit_code"], failed.data["error"]) == (1, "1 failed, 1 passed in 2.00s\n")
    (ended,) = [e for e in outcome.of("context.changed") if e.data["kind"] == "exec_command_end"]
    assert ended.operation_id == "call_a" and ended.data["record"]["exit_code"] == 0
    assert len(outcome.of("turn.user")) == 1 == len(outcome.of("turn.agent")) == len(outcome.of("turn.thought"))
    # the same total again is no further answer of the model
    assert [e.data["usage"]["total_tokens"] for e in outcome.of("model.completed")] == [960]


def test_the_flat_example_tells_one_time_and_exit_codes() -> None:
    outcome = imported(example("codex-flat.jsonl"), "f.jsonl")
    (closing,) = outcome.closings
    assert closing.run == "7c1f1c1e-2b3a-4d5e-8f60-718293a4b5c6"
    assert outcome.events[0].data["title"].startswith("`python -m ledger.report` fails")
    assert [e.data.get("exit_code") for e in outcome.of("tool.failed", "tool.completed")] == [1, 0, 0]
    (failed,) = outcome.of("tool.failed")
    assert failed.data["duration_ms"] == 200 and failed.data["error"].startswith("Traceback")
    shell = outcome.of("tool.started")[0]
    assert shell.data["argv"] == ["bash", "-lc", "python -m ledger.report empty.csv"]
    assert shell.workspace == "/home/dev/ledger"
    # results in another order than the calls find their own
    assert [e.operation_id for e in outcome.of("tool.completed")] == ["call_2", "call_3"]
    assert {e.occurred_at.isoformat() for e in outcome.events} == {"2025-09-12T08:30:00+00:00"}
    assert [e.time_basis for e in outcome.of("turn.user")] == ["order_only"]
    assert "<environment_context>" in outcome.of("turn.system")[0].data["text"]
    states = [e for e in outcome.of("context.changed") if e.data["kind"] == "record_type/state"]
    assert len(states) == 4 and outcome.counts.unknown == 0


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (json.dumps({"output": "x", "metadata": {"exit_code": 2, "duration_seconds": 1.5}}), (2, "x", 1500)),
        ("Exit code: 0\nWall time: 0.1 seconds\nOutput:\nx", (0, "x", 100)),
        ("Exit code: 7\nWall time: 1 second\nTotal output lines: 900\nOutput:\nx", (7, "x", 1000)),
        ("Chunk ID: ab12\nWall time: 2.5 seconds\nProcess exited with code 3\nOriginal token count: 5\nOutput:\nx", (3, "x", 2500)),
        ("Wall time: 2.5 seconds\nProcess running with session ID 4\nOutput:\nx", (None, "x", 2500)),
        ("x\nExit code: 0", (None, "x\nExit code: 0", None)),
        ("Exit code: 0", (None, "Exit code: 0", None)),
        ('{"output": 5, "metadata": {}}', (None, '{"output": 5, "metadata": {}}', None)),
        ('{"output": "x", "metadata": {"exit_code": true, "duration_seconds": "?"}}', (None, "x", None)),
    ],
)  # fmt: skip
def test_exit_codes_of_a_commands_output(text: str, expected: tuple[int | None, str, int | None]) -> None:
    outcome = rollout(called("a", command=["ls"]), output("a", text))
    (ended,) = outcome.of("tool.completed", "tool.failed")
    said = ended.data.get("output", ended.data.get("error"))
    assert (ended.data.get("exit_code"), said, ended.data.get("duration_ms")) == expected
    assert ended.type == ("tool.failed" if expected[0] else "tool.completed")
    assert "success" not in ended.data


def test_what_only_looks_like_an_exit_code_is_none() -> None:
    """A tool that runs no command may print what it likes."""
    text = "Exit code: 0\nWall time: 0.1 seconds\nOutput:\nx"
    (ended,) = rollout(called("a", "fetch_page", url="x"), output("a", text)).of("tool.completed")
    assert ended.data["output"] == text and not {"exit_code", "success"} & ended.data.keys()


def test_events_of_an_end_attach_to_their_own_call() -> None:
    outcome = rollout(
        called("a", command=["one"]),
        called("b", command=["two"]),
        event("exec_command_end", call_id="b", exit_code=4, duration={"secs": 1, "nanos": 0}),
        event("exec_command_end", call_id="nobody", exit_code=9),
        event("item_completed", item={"type": "CommandExecution", "id": "a", "exit_code": 0}),
        output("a", "first"),
        output("b", "second"),
        called("c", "apply_patch", input="*** Begin Patch"),
        event("patch_apply_end", call_id="c", success=False),
        output("c", "no such file"),
        called("d", command=["late"]),
        output("d", "done"),
        event("exec_command_end", call_id="d", exit_code=0),
    )
    codes = {e.operation_id: e.data.get("exit_code") for e in outcome.of("tool.completed", "tool.failed")}
    assert codes == {"a": 0, "b": 4, "c": None, "d": None}
    assert [e.operation_id for e in outcome.of("tool.failed")] == ["b", "c"]
    assert outcome.counts.tool_calls == 4 and not outcome.counts.anomalies
    ends = [(e.data["call_id"], e.operation_id) for e in outcome.of("context.changed") if "call_id" in e.data]
    assert ends == [("b", "b"), ("nobody", None), ("a", "a"), ("c", "c"), ("d", "d")]


def test_mcp_calls_fail_by_error_and_by_flag() -> None:
    outcome = rollout(
        called("a", "mcp__tracker__find"), event("mcp_tool_call_end", call_id="a", result={"Err": "gone"}), output("a", "x"),
        called("b", "mcp__tracker__find"), event("mcp_tool_call_end", call_id="b", result={"Ok": {"isError": True}}),
        output("b", "y"),
    )  # fmt: skip
    assert [e.data["error"] for e in outcome.of("mcp.call.failed")] == ["x", "y"]


def test_other_calls_and_shapes_of_outputs() -> None:
    outcome = rollout(
        item(
            type="local_shell_call", call_id="l", action={"type": "exec", "command": ["ls"], "working_directory": "/w"}
        ),
        output("l", {"content": "listed", "success": True}),
        item(type="custom_tool_call", call_id="p", name="apply_patch", input="*** Begin Patch"),
        item(
            type="custom_tool_call_output", call_id="p", output=[{"type": "input_text", "text": "ok"}, {"type": "odd"}]
        ),
        called("s", "spawn_agent", agent_type="explorer", message="Look."),
        output("s", '{"agent_id":"x"}'),
        called("i", command=["sleep"]),
        output("i", "aborted by user after 3.2s"),
    )
    assert outcome.of("tool.started")[0].data["argv"] == ["ls"] and outcome.of("tool.started")[0].workspace == "/w"
    listed, patched, stopped = outcome.of("tool.completed")
    assert listed.data["success"] is True and patched.data["output"] == "ok\n[odd]"
    assert stopped.data["interrupted"] is True and "success" not in stopped.data
    assert outcome.of("delegation.started")[0].data["agent"] == "explorer"
    assert len(outcome.of("delegation.completed")) == 1


def test_a_session_ends_as_its_last_turn_did() -> None:
    aborted, broken = event("turn_aborted", reason="interrupted"), event("task_complete", error={"message": "Quota."})
    for records, ended in (
        ((aborted,), ("abandoned", "the session ends where a turn was aborted")),
        ((aborted, prompt("Go on.")), ("completed", None)),
        ((broken,), ("failed", "Quota.")),
        ((event("error", message="No route."),), ("failed", "No route.")),
        ((event("error", message="No route."), event("task_complete")), ("completed", None)),
    ):
        closing = rollout(prompt("Do it."), *records).closings[0]
        assert (closing.outcome, closing.reason) == ended


def test_a_subagent_names_its_parent_and_a_fork_stays_one_run() -> None:
    spawned = {"subagent": {"thread_spawn": {"parent_thread_id": "t-0"}}}
    meta = {"type": "session_meta", "payload": {"id": "t-1", "source": spawned}}
    copied = {"type": "session_meta", "payload": {"id": "t-0"}}
    outcome = imported(lines_of(*({"timestamp": "2026-01-01T10:00:00Z", **r} for r in (meta, copied, prompt("x")))))
    assert outcome.events[0].data["parent_run"] == "t-0"
    assert [closing.run for closing in outcome.closings] == ["t-1"]


def test_unknown_items_and_events_are_kept_and_counted() -> None:
    outcome = rollout(
        item(type="poem"), event("song"), {"type": "nonsense", "payload": {}}, item(type="message", role="oracle"),
        item(type="message", role="user", content=[{"type": "input_image", "image_url": "data:,x"}]),
    )  # fmt: skip
    kinds = [e.data["native_type"] for e in outcome.of("source.unknown")]
    assert kinds == ["poem", "event_msg/song", "nonsense", "message/oracle"]
    assert outcome.of("turn.user")[0].data["text"] == "[input_image]"


def test_what_the_harness_says_in_the_users_name_is_no_statement() -> None:
    outcome = rollout(
        prompt("<user_instructions>\nAlways.\n</user_instructions>"),
        prompt("# AGENTS.md instructions for /repo"),
        item(type="agent_message", author="a", recipient="b", content=[{"type": "input_text", "text": "I found it."}]),
        prompt("What I want."),
    )
    assert [e.data["text"] for e in outcome.of("turn.user")] == ["What I want."]
    assert outcome.events[0].data["title"] == "What I want." and len(outcome.of("turn.system")) == 3
