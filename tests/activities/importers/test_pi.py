"""pi sessions: two clocks, aborted calls, commands of the user, and the tree of newer sessions."""

from __future__ import annotations

from typing import Any

import orjson

from tests.activities.importers.reading import imported, lines_of
from tests.activities.importers.test_examples import example

SESSION = {"type": "session", "id": "s-1", "timestamp": "2026-01-01T10:00:00Z", "cwd": "/repo", "provider": "p"}


def entry(second: int, message: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "message", "timestamp": f"2026-01-01T10:00:{second:02d}Z", "message": message, **more}


def asked(text: str) -> dict[str, Any]:
    return {"role": "user", "content": [{"type": "text", "text": text}]}


def answered(*blocks: dict[str, Any], reason: str = "stop", **more: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": list(blocks), "stopReason": reason, "model": "m", "usage": {}, **more}


def test_the_example_tells_a_session() -> None:
    outcome = imported(example("pi.jsonl"), "pi.jsonl")
    (closing,) = outcome.closings
    assert (closing.run, closing.outcome) == ("6b0f4a52-7d1e-4a9c-9f0a-2f5b1c0d7e11", "completed")
    assert outcome.events[0].data["title"].startswith("The export of March")
    assert (outcome.counts.tool_calls, outcome.counts.tool_results, outcome.counts.errors) == (5, 4, 1)
    (failed,) = outcome.of("tool.failed")
    assert failed.data["exit_code"] == 1 and failed.workspace == "/home/dev/ledger"
    cut = [event for event in outcome.events if event.data.get("aborted") is True]
    assert [event.type for event in cut] == ["turn.agent", "tool.started"]
    assert outcome.notes("call_without_result")[0].data["operation"] == cut[1].operation_id == "call_edit_1"
    started, ended = outcome.of("tool.started")[-1], outcome.of("tool.completed")[-1]
    assert started.actor == "human:pi:user" and started.operation_id == ended.operation_id
    assert (ended.data["exit_code"], "success" in ended.data) == (0, False)
    # the entry's clock counts, the message's is kept
    assert started.occurred_at.isoformat() == "2026-04-06T08:00:52+00:00"
    assert ended.data["message_time"] == 1775462451990
    (compacted,) = outcome.of("context.compacted")
    assert compacted.data["text"].startswith("The export was unsorted")


def test_exit_codes_are_of_commands_that_failed_only() -> None:
    said = "Command exited with code 3"
    calls = [{"type": "toolCall", "id": n, "name": n, "arguments": {"command": "x"}} for n in ("bash", "read")]
    results = [
        {
            "role": "toolResult",
            "toolCallId": n,
            "toolName": n,
            "content": [{"type": "text", "text": said}],
            "isError": e,
        }
        for n, e in (("bash", True), ("read", True))
    ]
    results.append({"role": "toolResult", "toolCallId": "none", "toolName": "bash", "content": said, "isError": False})
    outcome = imported(lines_of(SESSION, entry(1, answered(*calls)), *(entry(2, result) for result in results)))
    assert [event.data.get("exit_code") for event in outcome.of("tool.failed")] == [3, None]
    assert outcome.of("tool.completed")[0].data["success"] is True
    assert outcome.counts.anomalies == {"result_without_call": 1}


def test_cancelled_and_failing_commands_of_the_user() -> None:
    runs = [
        {"role": "bashExecution", "command": "sleep 9", "output": "", "cancelled": True, "exitCode": None},
        {"role": "bashExecution", "command": "false", "output": "", "cancelled": False, "exitCode": 1},
    ]
    outcome = imported(lines_of(SESSION, *(entry(1, run) for run in runs)))
    (cancelled,), (failed,) = outcome.of("tool.completed"), outcome.of("tool.failed")
    assert cancelled.data["interrupted"] is True and "exit_code" not in cancelled.data
    assert failed.data["exit_code"] == 1


def test_a_session_ends_as_its_last_answer_did() -> None:
    for reason, outcome in (
        ("stop", "completed"), ("aborted", "abandoned"), ("error", "failed"), ("length", "budget_exhausted")
    ):  # fmt: skip
        body = lines_of(SESSION, entry(1, asked("Do it.")), entry(2, answered(reason=reason, errorMessage="Why.")))
        assert imported(body).closings[0].outcome == outcome
        again = imported(body + lines_of(entry(3, asked("Go on."))))
        assert again.closings[0].outcome == "completed"


def test_abandoned_branches_of_a_tree_are_marked() -> None:
    entries = [
        entry(1, asked("First."), id="a", parentId=None),
        entry(2, answered({"type": "text", "text": "One way."}), id="b", parentId="a"),
        entry(3, asked("Other."), id="c", parentId="a"),
        entry(4, answered({"type": "text", "text": "Other way."}), id="d", parentId="c"),
        entry(5, asked("Of nobody."), id="e", parentId="zzz"),
    ]
    outcome = imported(lines_of(SESSION, *entries[:4]))
    (left,) = outcome.of("source.branch_abandoned")
    assert (left.data["root"], left.data["records"]) == ("b", 1)
    turns = outcome.of("turn.user", "turn.agent")
    assert turns[3].parent_event_id == turns[2].event_id
    assert imported(lines_of(SESSION, *entries)).counts.anomalies["dangling_parent"] == 1


def test_a_branch_names_the_session_it_came_from_and_unknown_entries_are_kept() -> None:
    parent = "11111111-2222-3333-4444-555555555555"
    forked = {**SESSION, "branchedFrom": f"/sessions/2026-01-01T09-00-00-000Z_{parent}.jsonl"}
    odd = [{"type": "poem", "lines": 4}, entry(1, {"role": "oracle"}), 7, entry(2, answered({"type": "drawing"}))]
    outcome = imported(lines_of(forked, *odd))
    assert outcome.events[0].data["parent_run"] == parent
    assert [event.data["native_type"] for event in outcome.of("source.unknown")[:2]] == ["poem", "message/oracle"]
    assert outcome.counts.unknown == 4
    assert orjson.dumps(outcome.of("source.unknown")[3].data["record"]) == b'{"type":"drawing"}'


def test_two_sessions_in_one_file_are_two_runs() -> None:
    other = {**SESSION, "id": "s-2"}
    outcome = imported(lines_of(SESSION, entry(1, asked("One.")), other, entry(2, asked("Two."))))
    assert [closing.run for closing in outcome.closings] == ["s-1", "s-2"]
    alone = imported(lines_of(entry(1, asked("No session line."))))
    assert alone.format == "pi" and len(alone.closings) == 1
