"""Claude Code sessions: turns by who said them, calls with their results, frames, sidechains, branches."""

from __future__ import annotations

import pytest

from tests.activities.importers.reading import imported, lines_of
from tests.activities.importers.sessions import SESSION, agent, call, record, result, session, text, uid, user


def test_a_session_is_a_run_with_its_turns_calls_and_results() -> None:
    outcome = imported(lines_of(*session()))
    assert [event.type for event in outcome.events] == [
        "run.opened", "frame.opened", "turn.user", "model.completed", "turn.agent", "tool.started", "tool.failed",
        "model.completed", "tool.started", "tool.completed", "model.completed", "tool.started", "tool.completed",
        "model.completed", "turn.agent",
    ]  # fmt: skip
    assert [event.sequence for event in outcome.events] == list(range(1, 16))
    opened, frame, asked = outcome.events[:3]
    assert opened.data["native_id"] == SESSION and opened.run == SESSION and opened.source == f"claude-code/{SESSION}"
    assert (
        frame.data
        == {
            "title": "Make the tests pass.",
            "kind": "turn",
        }
        and frame.frame == asked.frame
    )
    assert asked.actor == "human:claude-code:user" and asked.workspace == "/repo"
    (failed,) = outcome.of("tool.failed")
    assert (failed.data["exit_code"], failed.operation_id) == (1, "toolu_a")
    passed = outcome.of("tool.completed")[1]
    assert (passed.data["success"], passed.data["success_basis"], passed.data["output"]) == (True, "format", "1 passed")
    started = outcome.of("tool.started")[0]
    assert started.data["command"] == "pytest -q" and started.data["native_id"] == uid(2)
    # parents are event ids: the result hangs on the record that called
    assert failed.parent_event_id in {
        event.event_id for event in outcome.events if event.data.get("native_id") == uid(2)
    }
    (closing,) = outcome.closings
    assert (closing.outcome, closing.run, closing.counts.tool_calls, closing.counts.errors) == (
        "completed",
        SESSION,
        3,
        1,
    )


@pytest.mark.parametrize(
    ("block", "told"),
    [
        ({"content": "Command running in background with ID: b1"}, {"stdout": "", "backgroundTaskId": "b1"}),
        ({"content": "Command running in background with ID: b1"}, None),
        ({"content": "half"}, {"stdout": "half", "interrupted": True}),
        ({"content": ""}, {"stdout": "", "returnCodeInterpretation": "No matches found"}),
    ],
)
def test_a_command_that_did_not_end_well_known_has_no_success(block: dict[str, str], told: object) -> None:
    records = [
        user(1, "go"),
        agent(2, call("Bash", "t", command="make test"), parent=1),
        result(3, "t", block["content"], 2, told=told),
    ]
    (ended,) = imported(lines_of(*records)).of("tool.completed")
    assert "success" not in ended.data and "exit_code" not in ended.data


def test_who_said_what_is_told_apart() -> None:
    records = [
        user(1, "Hello <system-reminder>Use tools.</system-reminder> there"),
        user(2, [text("expanded command")], 1, isMeta=True),
        user(3, "[Request interrupted by user]", 2),
        user(4, "What it was about.", 3, isCompactSummary=True),
        user(5, "<local-command-stdout>ok</local-command-stdout>", 4),
        agent(6, {"type": "thinking", "thinking": "hm"}, text("Yes."), parent=5),
        {"type": "attachment", "uuid": uid(7), "sessionId": SESSION, "parentUuid": uid(6),
         "attachment": {"type": "queued_command", "prompt": "And this.", "commandMode": "prompt"}},
    ]  # fmt: skip
    outcome = imported(lines_of(*records))
    assert [event.data["text"] for event in outcome.of("turn.user")] == ["Hello ", " there", "And this."]
    assert [event.data["text"] for event in outcome.of("turn.system")] == [
        "<system-reminder>Use tools.</system-reminder>", "expanded command", "[Request interrupted by user]",
        "<local-command-stdout>ok</local-command-stdout>",
    ]  # fmt: skip
    assert [event.data["text"] for event in outcome.of("context.compacted")] == ["What it was about."]
    assert [event.data["text"] for event in outcome.of("turn.thought", "turn.agent")] == ["hm", "Yes."]


def test_hints_are_cut_out_and_marked() -> None:
    block = "<temporality-hints>\nRun `make x` first.\n</temporality-hints>"
    records = [
        user(1, f"Before. {block} After."),
        user(2, f"<system-reminder>Note. {block}</system-reminder>", 1),
        agent(3, call("Read", "t", file_path="/hints"), parent=2),
        result(4, "t", f"Line one\n{block}\nline two", 3),
        user(5, "said by a flag", 4, hint=True),
        {"type": "attachment", "uuid": uid(6), "sessionId": SESSION,
         "attachment": {"type": "hook_additional_context", "content": block}},
    ]  # fmt: skip
    outcome = imported(lines_of(*records))
    hinted = [event for event in outcome.events if event.data.get("hint")]
    assert [event.type for event in hinted] == ["turn.system"] * 4 + ["context.changed"]
    assert [event.data["text"] for event in outcome.of("turn.user")] == ["Before. ", " After."]
    (ended,) = outcome.of("tool.completed")
    assert ended.data["output"] == "Line one\n\nline two"
    assert not any("make x" in str(event.data) for event in outcome.events if not event.data.get("hint"))


def test_usage_of_a_message_on_several_lines_is_said_once() -> None:
    first = agent(2, text("a"), parent=1, message="m")
    second = agent(3, call("Read", "t"), parent=2, message="m")
    third = agent(4, text("b"), parent=3, message="m")
    third["message"]["usage"]["output_tokens"] = 9
    told = imported(lines_of(user(1, "go"), first, second, third)).of("model.completed")
    assert [event.data["usage"] for event in told] == [{"input_tokens": 10, "output_tokens": 2}, {"output_tokens": 7}]
    assert sum(event.data["usage"]["output_tokens"] for event in told) == 9


def test_a_delegation_holds_its_sidechain() -> None:
    records = [
        user(1, "Do two things."),
        agent(2, call("Task", "t1", prompt="Look at A.", description="A", subagent_type="scout"), parent=1),
        agent(3, call("Task", "t2", prompt="Look at B.", description="B"), parent=2, message="msg_2"),
        user(10, "Look at B.", None, isSidechain=True),
        user(20, "Look at A.", None, isSidechain=True),
        agent(11, call("Read", "r1", file_path="b"), parent=10, isSidechain=True),
        agent(21, text("A is fine."), parent=20, isSidechain=True),
        result(12, "r1", "B", 11) | {"isSidechain": True},
        result(4, "t1", "A is fine.", 2),
        result(5, "t2", "B is fine.", 3),
        agent(6, text("Both are fine."), parent=5),
        user(30, "Alone.", None, isSidechain=True),
    ]
    outcome = imported(lines_of(*records))
    frames = {event.data["title"]: event for event in outcome.of("frame.opened")}
    assert {title: event.data["kind"] for title, event in frames.items()} == {
        "Do two things.": "turn", "A": "delegation", "B": "delegation", "Alone.": "sidechain",
    }  # fmt: skip
    main = frames["Do two things."].frame
    assert {frames[title].parent_frame for title in ("A", "B", "Alone.")} == {main}
    assert frames["A"].operation_id == "t1"
    reading = outcome.of("tool.started", "tool.completed")
    assert {event.frame for event in reading} == {frames["B"].frame}
    assert [event.frame for event in outcome.of("turn.agent")] == [frames["A"].frame, main]
    assert [event.data["agent"] for event in outcome.of("delegation.started") if "agent" in event.data] == ["scout"]
    # what an agent asks another is no statement of the user
    assert [event.data["text"] for event in outcome.of("turn.user")] == ["Do two things."]
    assert outcome.counts.tool_calls == 3 == outcome.counts.tool_results


def test_an_abandoned_branch_is_told_at_the_end() -> None:
    records = [
        user(1, "One."),
        agent(2, text("1"), parent=1),
        user(3, "Two, badly said.", 2),
        agent(4, text("2?"), parent=3),
        user(5, "Two.", 2),
        agent(6, text("2"), parent=5),
    ]
    (branch,) = imported(lines_of(*records)).of("source.branch_abandoned")
    assert (branch.data["root"], branch.data["leaf"], branch.data["records"]) == (uid(3), uid(4), 2)
    assert branch.sequence is None
    again = imported(lines_of(*records, user(7, "Three.", 6)))
    assert [event.key for event in again.of("source.branch_abandoned")] == [branch.key]


def test_parallel_results_and_compactions_are_no_branches() -> None:
    parallel = [
        user(1, "One."),
        agent(2, call("Read", "a"), parent=1, message="m"),
        agent(3, call("Read", "b"), parent=2, message="m"),
        result(4, "a", "A", 2),
        result(5, "b", "B", 3),
        agent(6, text("Both."), parent=4),
    ]
    assert not imported(lines_of(*parallel)).of("source.branch_abandoned")
    boundary = {"type": "system", "subtype": "compact_boundary", "uuid": uid(7), "parentUuid": None,
                "logicalParentUuid": uid(6), "sessionId": SESSION, "content": "compacted"}  # fmt: skip
    compacted = imported(lines_of(*parallel, boundary, user(8, "Go on.", 7), agent(9, text("Yes."), parent=8)))
    assert not compacted.of("source.branch_abandoned") and len(compacted.of("context.compacted")) == 1


def test_a_rewind_to_the_start_abandons_the_first_beginning() -> None:
    records = [user(1, "Bad."), agent(2, text("?"), parent=1), user(3, "Good."), agent(4, text("!"), parent=3)]
    (branch,) = imported(lines_of(*records)).of("source.branch_abandoned")
    assert (branch.data["root"], branch.data["records"]) == (uid(1), 2)


def test_several_sessions_in_a_file_are_several_runs() -> None:
    records = [
        {"type": "summary", "summary": "about", "leafUuid": uid(9)},
        user(1, "A"),
        user(2, "B", sessionId="other"),
        agent(3, text("a"), parent=1),
        {"mode": "normal", "type": "mode", "sessionId": "other"},
    ]
    outcome = imported(lines_of(*records))
    assert [(closing.run, closing.counts.events) for closing in outcome.closings] == [(SESSION, 6), ("other", 4)]
    (summary,) = outcome.of("context.changed")
    assert summary.run == SESSION and summary.time_basis == "order_only"
    (unknown,) = outcome.of("source.unknown")
    assert unknown.run == "other" and unknown.data["native_type"] == "mode"


def test_a_subagents_own_file_is_a_run_under_its_session() -> None:
    made = [
        user(1, "Look.", isSidechain=True, agentId="a1"),
        agent(2, text("Seen."), parent=1, isSidechain=True, agentId="a1"),
    ]
    outcome = imported(lines_of(*made))
    (closing,) = outcome.closings
    assert closing.native == f"{SESSION}/a1" and "/" not in closing.run
    assert outcome.events[0].data["parent_run"] == SESSION


def test_the_end_by_interruption_is_an_abandoned_run() -> None:
    stopped = [*session(), user(9, [text("[Request interrupted by user for tool use]")], 8)]
    (closing,) = imported(lines_of(*stopped)).closings
    assert closing.outcome == "abandoned"


def test_what_no_reader_knows_is_kept_whole() -> None:
    records = [*session(), record(9, "astral", {"a": [1, {"b": None}]}, 8), 42, "text", [1], {"silly": "this"}]
    outcome = imported(lines_of(*records))
    assert [event.data["record"] for event in outcome.of("source.unknown")][1:] == [42, "text", [1], {"silly": "this"}]
    assert outcome.of("source.unknown")[0].data["record"]["message"] == {"a": [1, {"b": None}]}
    assert outcome.counts.unknown == 5 and not outcome.refused
    odd_block = imported(lines_of(user(1, "x"), agent(2, {"type": "dance", "steps": 3}, parent=1)))
    assert odd_block.of("source.unknown")[0].data == {
        "native_type": "block/dance", "record": {"type": "dance", "steps": 3},
        "native_id": uid(2), "native_parent": uid(1),
    }  # fmt: skip
