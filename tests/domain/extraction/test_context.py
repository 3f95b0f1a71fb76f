"""The compact context: everything spec/2 section 7 names, bounded, with exact places, and without hints."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.extraction.context import ContextItem, ExtractionContext, Limits, compact
from domain.extraction.material import material
from domain.extraction.reading import masked, visible
from domain.journal.event import Event
from domain.runs.events import body_hash
from tests.domain.extraction.journal import Journal, command, happened

SHA = "a" * 64


def a_run() -> list[Event]:
    text = {"artifact": SHA, "bytes": 90_000, "preview": "the beginning"}
    return [
        happened("a", 0, "run.opened", {"title": "Find the cent"}, task="T-1"),
        happened("a", 1, "turn.user", {"text": "Find it."}, frame="f1"),
        happened("a", 2, "turn.thought", {"text": "Hm."}),
        *command("a", 3, "pytest -q", "1 failed", 1),
        *command("a", 5, "cat money.py", "round(x, 2)"),
        *command("a", 7, "echo 'the cause is money.py'", "the cause is money.py"),
        happened("a", 9, "mcp.call.started", {"tool": "db", "arguments": {"q": "select 1", "n": 1}}, operation_id="m"),
        happened("a", 10, "mcp.call.completed", {"tool": "db", "output": text, "success": True}, operation_id="m"),
        happened("a", 11, "tool.started", {"tool": "Task", "arguments": {"prompt": "look"}}, operation_id="t"),
        happened("a", 12, "tool.completed", {"tool": "Task", "output": "I looked"}, operation_id="t"),
        happened("a", 13, "context.changed", {"text": "cwd is /w"}),
        happened("a", 14, "hint.injected", {"knowledge": "claim/v1/x", "text": "SECRET one"}),
        happened("a", 15, "turn.user", {"text": "SECRET two", "hint": True}),
        happened("a", 16, "turn.user", {"text": "Go on <temporality-hints>SECRET three</temporality-hints> now."}),
        happened("a", 17, "turn.system", {"text": "system prompt"}),
        happened("a", 18, "context.compacted", {"text": "a summary by the agent"}),
        happened("a", 19, "turn.agent", {"text": "It was the rounding."}),
        happened("a", 20, "run.closed", {"outcome": "completed", "trajectory": "t1", "result": "It was the rounding."}),
    ]


def by_event(context: ExtractionContext) -> dict[str, ContextItem]:
    return {item.event_id: item for item in context.items}


def test_every_kind_of_happening_is_there_with_what_it_is() -> None:
    context = compact(a_run(), {SHA: "the beginning and the end"})
    assert (context.title, context.task, context.trajectory, context.outcome) == (
        "Find the cent",
        "T-1",
        "t1",
        "completed",
    )
    items = by_event(context)
    seen = {event: (item.kind, item.role, item.type) for event, item in items.items()}
    assert seen == {
        "a-1": ("user_message", "user", "user_statement"),
        "a-2": ("agent_thought", "agent", "agent_message"),
        "a-3": ("tool_call", "agent", "tool_call"),
        "a-4": ("tool_result", "tool", "check_result"),
        "a-5": ("tool_call", "agent", "tool_call"),
        "a-6": ("tool_result", "tool", "command_result"),
        "a-7": ("tool_call", "agent", "tool_call"),
        "a-8": ("report", "tool", "agent_report"),
        "a-9": ("tool_call", "mcp", "tool_call"),
        "a-10": ("tool_result", "mcp", "tool_result"),
        "a-11": ("tool_call", "agent", "tool_call"),
        "a-12": ("report", "tool", "agent_report"),
        "a-13": ("state_change", "system", "state_change"),
        "a-14": ("hint", "system", "hint"),
        "a-15": ("hint", "user", "hint"),
        "a-16": ("user_message", "user", "user_statement"),
        "a-19": ("agent_message", "agent", "agent_message"),
        "a-20": ("final_result", "agent", "agent_report"),
    }
    failed = items["a-4"]
    assert (failed.command, failed.exit_code, failed.success, failed.operation_id) == ("pytest -q", 1, False, "a-op-3")
    assert items["a-10"].text == "the beginning and the end" and items["a-1"].frame == "f1"
    assert context.cut.previews_only == 0 and compact(a_run()).cut.previews_only == 1


def test_hints_are_listed_apart_and_shown_to_nobody() -> None:
    context = compact(a_run())
    assert [hint.text for hint in context.hints] == ["SECRET one", "SECRET two", "SECRET three"]
    assert context.hints[0].knowledge == "claim/v1/x"
    assert "SECRET" not in context.shown().model_dump_json()
    assert not any(item.hint for item in context.shown().items)
    said = by_event(context)["a-16"]
    assert said.text == "Go on \n now."
    assert [piece.offset for piece in said.pieces] == [0, 57]
    whole = next(event.data["text"] for event in a_run() if event.event_id == "a-16")
    texts = {cited.event_id: cited for cited in material(a_run())}
    assert "SECRET" not in texts["a-16"].text and len(texts["a-16"].text) == 62
    assert texts["a-15"].hint and texts["a-16"].content_hash == body_hash(whole)


def test_the_kernels_observations_are_in_sight() -> None:
    journal = Journal()
    journal.append(command("a", 1, "pytest -q", "6 passed"))
    seen = [item for item in compact(journal.of_run("a")).items if item.kind == "observation"]
    assert len(seen) == 1 and seen[0].knowledge and seen[0].knowledge.startswith("auto/")


def test_a_context_survives_its_json() -> None:
    context = compact(a_run())
    written = context.model_dump_json()
    assert ExtractionContext.model_validate_json(written) == context
    assert '"schema":"temporality.extraction-context/1"' in written


def noisy(results: int, size: int) -> list[Event]:
    events: list[Event] = [happened("a", 0, "turn.user", {"text": "The task. " + "x" * size})]
    for number in range(1, 2 * results, 2):
        events.extend(command("a", number, f"cat {number}", "".join(f"{number} line {n}\n" for n in range(size // 8))))
    return [*events, happened("a", 2 * results + 1, "turn.agent", {"text": "The end."})]


@pytest.mark.parametrize(("results", "size", "limits"), [
    (5, 200, Limits()),
    (5, 40_000, Limits()),
    (300, 8_000, Limits()),
    (40, 4_000, Limits(items=10, characters=2_000, result_characters=1_000, message_characters=500)),
    (3, 10, Limits(items=2, characters=100)),
])  # fmt: skip
def test_a_context_keeps_its_limits_and_counts_what_it_leaves_out(results: int, size: int, limits: Limits) -> None:
    events = noisy(results, size)
    context = compact(events, limits=limits)
    everything = compact(events, limits=Limits(10**6, 10**9, 10**9, 10**9))
    kept = sum(item.characters for item in context.items)
    assert len(context.items) <= limits.items and kept <= limits.characters
    assert context.cut.items_seen == len(everything.items) == len(context.items) + context.cut.items_dropped
    assert kept + context.cut.characters_dropped == sum(item.characters for item in everything.items)
    assert context.items[0].text.startswith("The task.") and context.items[-1].text == "The end."
    data: dict[str, Any] = {event.event_id: event.data for event in events}
    for item in context.items:
        for piece in item.pieces:
            whole = data[item.event_id][piece.field]
            assert whole[piece.offset : piece.offset + len(piece.text)] == piece.text


PARTS = st.lists(
    st.sampled_from(["a", "\n", "<temporality-hints>", "</temporality-hints>", "<TEMPORALITY-HINTS x='1'>", "é😀"])
)


@given(parts=PARTS)
def test_masking_keeps_every_offset(parts: list[str]) -> None:
    text = "".join(parts)
    blanked = masked(text)
    assert len(blanked) == len(text) and "<temporality-hints" not in blanked.lower()
    for offset, part in visible(text):
        assert text[offset : offset + len(part)] == part == blanked[offset : offset + len(part)]
