"""OTLP traces: a trace is a run, calls are spans of tools, what a conversation repeats is said once."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import orjson
import pytest

from domain.runs.transcript import HINT_CLOSE, HINT_OPEN, Limits
from tests.activities.importers.reading import Imported, imported, lines_of
from tests.activities.importers.test_examples import example
from tests.activities.importers.test_sameness import check_longer

START = 1775980800


def attributes(told: dict[str, Any]) -> list[dict[str, Any]]:
    kinds = {bool: "boolValue", int: "intValue", float: "doubleValue", str: "stringValue"}
    return [
        {"key": key, "value": value if isinstance(value, dict) else {kinds[type(value)]: value}}
        for key, value in told.items()
    ]


def span(own: str, parent: str = "", at: tuple[float, float] = (0, 1), **told: Any) -> dict[str, Any]:
    """A span of one trace; `told` holds its attributes, with `_` for the dots, and any of its other fields."""
    held = {key: told.pop(key) for key in ("status", "events", "kind", "name", "traceId") if key in told}
    named = {key.replace("__", "."): value for key, value in told.items()}
    times = [str(round((START + moment) * 1_000_000_000)) for moment in at]
    return {
        "traceId": "t1", "spanId": own, "parentSpanId": parent, "name": own, "startTimeUnixNano": times[0],
        "endTimeUnixNano": times[1], "attributes": attributes(named), **held,
    }  # fmt: skip


def tool(own: str, parent: str = "", at: tuple[float, float] = (0, 1), **told: Any) -> dict[str, Any]:
    return span(own, parent, at, gen_ai__operation__name="execute_tool", gen_ai__tool__name="look", **told)


def export(*spans: dict[str, Any], service: str = "s") -> dict[str, Any]:
    resource = {"attributes": attributes({"service.name": service})}
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [{"scope": {"name": "x"}, "spans": list(spans)}]}]}


def said(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "parts": [{"type": "text", "content": text}]}


def chat(own: str, at: tuple[float, float], given: list[Any], answers: list[Any], **told: Any) -> dict[str, Any]:
    return span(
        own, told.pop("parent", ""), at, gen_ai__operation__name="chat", gen_ai__request__model="m",
        gen_ai__input__messages=json.dumps(given), gen_ai__output__messages=json.dumps(answers), **told,
    )  # fmt: skip


def trace(*spans: dict[str, Any]) -> Imported:
    return imported(lines_of(export(*spans)), "t.json")


def test_the_example_tells_two_traces() -> None:
    outcome = imported(example("otlp.jsonl"), "o.jsonl")
    first, second = outcome.closings
    assert (first.run, second.run) == ("5b8efff798038103d269b633813fc60c", "0af7651916cd43dd8448eb211c80319c")
    events = [event for event in outcome.events if event.run == first.run]
    kinds = [event.type for event in events if event.type.startswith(("turn", "tool", "mcp", "deleg"))]
    # in the order of their times, whatever order they were exported in
    assert kinds == [
        "turn.system", "turn.user", "turn.agent", "tool.started", "tool.failed", "turn.agent", "delegation.started",
        "turn.user", "mcp.call.started", "mcp.call.completed", "turn.agent", "delegation.completed", "turn.agent",
    ]  # fmt: skip
    assert sorted(event.occurred_at for event in events) == [event.occurred_at for event in events]
    (failed,) = outcome.of("tool.failed")
    assert (failed.data["exit_code"], failed.data["duration_ms"], failed.operation_id) == (1, 2500, "call_1")
    (looked,) = outcome.of("mcp.call.completed")
    assert (looked.data["success"], looked.data["success_basis"]) == (True, "flag")
    assert json.loads(looked.data["output"]) == {"reduced": 7}
    (counted,) = outcome.of("tool.completed")
    assert "success" not in counted.data and "exit_code" not in counted.data
    assert len(outcome.of("source.unknown")) == 3 == outcome.counts.unknown and not outcome.counts.anomalies


def test_spans_keep_their_parents_and_frames() -> None:
    outcome = imported(example("otlp.jsonl"), "o.jsonl")
    (agent,) = [event for event in outcome.of("context.changed") if event.data["kind"] == "invoke_agent"]
    (handed,), (given_back,) = outcome.of("delegation.started"), outcome.of("delegation.completed")
    (call,) = outcome.of("mcp.call.started")
    assert handed.parent_frame == agent.frame and call.frame == handed.frame != agent.frame
    assert given_back.operation_id == handed.operation_id and given_back.parent_event_id == handed.event_id
    assert outcome.of("tool.failed")[0].parent_event_id == outcome.of("tool.started")[0].event_id
    assert outcome.of("tool.started")[0].parent_event_id == agent.event_id


def test_repeated_history_is_said_once_and_equal_messages_all_count() -> None:
    a, b, c = said("user", "Again."), said("assistant", "Yes."), said("user", "Again.")
    outcome = trace(
        chat("c1", (0, 1), [said("system", "S"), a], [b]),
        chat("c2", (2, 3), [said("system", "S"), a, b, c], [b]),
        chat("c3", (4, 5), [said("system", "S"), a, b, c, b], [said("assistant", "Bye.")]),
    )
    turns = [event.data["text"] for event in outcome.events if event.type.startswith("turn.")]
    assert turns == ["S", "Again.", "Yes.", "Again.", "Yes.", "Bye."]


def test_messages_in_the_older_forms() -> None:
    events = [
        {"name": "gen_ai.user.message", "attributes": attributes({"content": "By event."})},
        {"name": "gen_ai.choice", "attributes": attributes({"message": '{"role": "assistant", "content": "Chosen."}'})},
        {"name": "exception", "attributes": attributes({"exception.message": "late"})},
    ]
    numbered = {
        "gen_ai__prompt__0__role": "user", "gen_ai__prompt__0__content": "Numbered.",
        "gen_ai__completion__0__content": "First.",
    }  # fmt: skip
    text = {"kvlistValue": {"values": attributes({"type": "text", "content": "Structured."})}}
    message = {"kvlistValue": {"values": attributes({"role": "user", "parts": {"arrayValue": {"values": [text]}}})}}
    outcome = trace(
        span("c1", gen_ai__request__model="m", events=events),
        span("c2", at=(2, 3), gen_ai__operation__name="chat", **numbered),
        span(
            "c3",
            at=(4, 5),
            gen_ai__operation__name="chat",
            gen_ai__input__messages={"arrayValue": {"values": [message]}},
        ),
    )
    assert [event.data["text"] for event in outcome.of("turn.user")] == ["By event.", "Numbered.", "Structured."]
    assert [event.data["text"] for event in outcome.of("turn.agent")] == ["Chosen.", "First."]


def test_success_is_known_by_status_error_type_and_exit_code_only() -> None:
    outcome = trace(
        tool("plain", at=(0, 1)),
        tool("right", at=(1, 2), status={"code": "STATUS_CODE_OK"}),
        tool("wrong", at=(2, 3), status={"code": 2, "message": "no"}),
        tool("typed", at=(3, 4), error__type="Timeout"),
        tool("coded", at=(4, 5), process__exit__code=3, gen_ai__tool__call__result="out"),
        tool("zero", at=(5, 6), process__exit__code=0),
        tool("raised", at=(6, 7), status={"code": 2}, events=[
            {"name": "exception", "attributes": attributes({"exception.message": "boom"})}
        ]),
    )  # fmt: skip
    ended = outcome.of("tool.completed", "tool.failed")
    assert [event.type.partition(".")[2] for event in ended] == [
        "completed", "completed", "failed", "failed", "failed", "completed", "failed",
    ]  # fmt: skip
    assert [event.data.get("success") for event in ended] == [None, True, None, None, None, None, None]
    assert [event.data.get("exit_code") for event in ended] == [None, None, None, None, 3, 0, None]
    assert [event.data.get("error") for event in outcome.of("tool.failed")] == ["no", "Timeout", "out", "boom"]


def test_an_export_that_comes_later_adds_only_what_is_new() -> None:
    asked = [said("user", "Where?")]
    early = export(chat("c1", (1, 2), asked, [said("assistant", "Here.")], parent="root"), tool("look", "root", (3, 4)))
    late = export(
        span("root", at=(0, 9), gen_ai__operation__name="invoke_agent", gen_ai__agent__name="finder"),
        tool("again", "root", (5, 6)),
    )
    short, long = imported(lines_of(early), "o"), imported(lines_of(early, late), "o")
    check_longer(short, long)
    assert long.counts.anomalies == {"time_backwards": 1}
    assert long.of("tool.started")[1].frame != long.of("tool.started")[0].frame


def test_a_span_without_end_waits_and_a_failed_root_fails_the_run() -> None:
    waiting = tool("look", "root")
    del waiting["endTimeUnixNano"]
    outcome = trace(span("root", at=(0, 3), status={"code": 2, "message": "It broke."}), waiting)
    assert len(outcome.notes("call_without_result")) == 1 and outcome.counts.tool_results == 0
    assert (outcome.closings[0].outcome, outcome.closings[0].reason) == ("failed", "It broke.")


def test_lines_without_spans_and_spans_without_ids() -> None:
    odd = {"resourceSpans": [{"scopeSpans": [{"spans": [{"name": "nameless"}, 7]}]}, None]}
    outcome = imported(lines_of(export(tool("look")), {"resourceLogs": []}, odd, [1]), "o.jsonl")
    assert [event.data.get("native_type") for event in outcome.of("source.unknown")] == ["resourceLogs", None]
    assert [item.where for item in outcome.refused] == ["line 3, span 0", "line 3, span 1"]
    assert all("names no trace" in item.reason for item in outcome.refused)
    assert outcome.counts.unknown == 2 and outcome.counts.tool_calls == 1
    nothing = imported(lines_of({"resourceLogs": []}, export(tool("look"))), "o.jsonl")
    assert "no list `resourceSpans`" in nothing.refused[0].reason and nothing.counts.tool_calls == 1


def test_cycles_and_depth_of_spans_end() -> None:
    outcome = trace(tool("a", "b"), tool("b", "a"), tool("c", "c"))
    assert outcome.counts.tool_calls == 3 == outcome.counts.tool_results
    deep: dict[str, Any] = {"stringValue": "inside"}
    for _ in range(70):
        deep = {"arrayValue": {"values": [deep]}}
    assert trace(tool("a", gen_ai__tool__call__arguments=deep)).counts.tool_calls == 1


def test_a_document_on_many_lines_is_read_like_one_line() -> None:
    told = export(tool("look"), chat("c", (2, 3), [said("user", "x")], [said("assistant", "y")]))
    pretty = imported(orjson.dumps(told, option=orjson.OPT_INDENT_2), "o.json")
    assert pretty.ids == imported(lines_of(told), "o.json").ids
    large = imported(orjson.dumps(told, option=orjson.OPT_INDENT_2), "o.json", Limits(max_document_bytes=100))
    assert "TEMPORALITY_MAX_DOCUMENT_BYTES" in large.refused[0].reason
    cut = imported(lines_of(told, told)[:-30], "o.json")
    assert [item.where for item in cut.refused] == ["line 2"] and cut.ids[:3] == pretty.ids[:3]


def test_hints_in_messages_results_and_arguments_are_marked() -> None:
    hint = f"{HINT_OPEN}the moon{HINT_CLOSE}"
    outcome = trace(
        chat("c", (0, 1), [said("user", f"Look. {hint}")], [said("assistant", hint)]),
        tool("look", at=(2, 3), gen_ai__tool__call__arguments=json.dumps({"q": hint}), gen_ai__tool__call__result=hint),
    )
    assert [event.data["text"] for event in outcome.of("turn.user")] == ["Look. "]
    for event in outcome.events:
        shown = [event.data.get(key) for key in ("text", "output", "arguments")]
        if "the moon" in repr(shown):
            assert event.data["hint"] is True, event.type
    assert outcome.of("tool.completed")[0].data["output"] == ""


@pytest.mark.shared
def test_shared_traces_hold_what_a_plain_walk_counts(shared_data: Path) -> None:
    for path in sorted((shared_data / "trajectories" / "otel").glob("*.json")):
        body = path.read_bytes()
        spans = [
            told
            for line in body.splitlines()
            for group in json.loads(line)["resourceSpans"]
            for scope in group["scopeSpans"]
            for told in scope["spans"]
        ]
        outcome = imported(body, path.name)
        counted = Counter(told["traceId"] for told in spans)
        assert Counter(event.run for event in outcome.of("source.unknown")) == counted
        assert {closing.run for closing in outcome.closings} == set(counted) and not outcome.refused
        assert outcome.counts.first is not None
        first = min(int(told["startTimeUnixNano"]) for told in spans) / 1e9
        assert outcome.counts.first.timestamp() == pytest.approx(first, abs=1e-3)
