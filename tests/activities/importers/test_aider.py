"""Aider histories: whose words a line holds, edits and checks as calls, answers of a person, and copies that grow."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from activities.importers.readers.aider import Aider
from activities.importers.readers.aider_blocks import Block, Blocks
from activities.importers.readers.aider_units import units
from domain.runs.transcript import HINT_CLOSE, HINT_OPEN, Limits, Refused
from tests.activities.importers.reading import Imported, imported
from tests.activities.importers.test_examples import example

HEADER = "# aider chat started at 2026-01-01 10:00:00"


def asked(*texts: str) -> str:
    return "".join(f"#### {text}  \n" for text in texts)


def told(*texts: str) -> str:
    return "".join(f"> {text}  \n" for text in texts)


def edit(path: str, search: str, replace: str = "new") -> str:
    return f"{path}\n```python\n<<<<<<< SEARCH\n{search}\n=======\n{replace}\n>>>>>>> REPLACE\n```\n"


def chat(*blocks: str, announced: str = "Models: m with diff edit format, weak model w") -> Imported:
    body = f"\n{HEADER}\n\n{told(announced)}\n" + "\n".join(blocks)
    return imported(body.encode(), "history.md")


def test_the_example_tells_two_chats() -> None:
    outcome = imported(example("aider.md"), "a.md")
    first, second = outcome.closings
    assert (first.outcome, second.outcome) == ("completed", "budget_exhausted")
    assert second.reason == "Only 4 reflections allowed, stopping." and first.run != second.run
    opened = outcome.of("run.opened")
    assert [event.data["model"] for event in opened] == ["example-small", "example-large"]
    assert opened[0].data["title"] == "A credit note with a comma in its amount is read as 0."
    assert dict(outcome.tools) == {"edit": 5, "test": 2, "lint": 1} and outcome.counts.errors == 3
    assert not outcome.notes("call_without_result")
    # the user's own `>` and `####` are the user's, the model's headings and quotations the model's
    assert "\n> load('1,50') gives 0\n#### and it should" in outcome.of("turn.user")[0].data["text"]
    assert "#### Files" in outcome.of("turn.agent")[0].data["text"]
    assert "> It splits at the comma." in outcome.of("turn.agent")[0].data["text"]
    usage = outcome.of("model.completed")[0].data
    assert (usage["usage"], usage["cost"]) == ({"prompt_tokens": 1200, "completion_tokens": 40}, "0.006000")
    # one local time for each chat
    assert outcome.of("context.changed")[0].time_basis == "assumed_utc"
    assert outcome.counts.anomalies == {"time_without_zone": 2}


def test_answers_of_a_person_are_approvals() -> None:
    outcome = imported(example("aider.md"), "a.md")
    answers = [event for event in outcome.of("context.changed") if event.data["kind"] == "approval"]
    assert [event.data["approved"] for event in answers] == [True, True, False]
    assert answers[0].data["about"] == ["ledger/amounts.py"] and answers[0].actor == "human:aider:user"
    newer = chat(asked("x"), "y\n", told("a.py", "Add file to the chat? (Y)es/(N)o/(D)on't ask again [Yes]: n"))
    (answer,) = [event for event in newer.of("context.changed") if event.data["kind"] == "approval"]
    assert (answer.data["question"], answer.data["approved"]) == ("Add file to the chat?", False)


def test_edits_end_as_aider_says() -> None:
    reply = edit("a.py", "one") + edit("a.py", "two") + edit("b.py", "three") + edit("c.py", "four")
    outcome = chat(asked("x"), reply, told("Applied edit to b.py", "Applied edit to a.py"), edit("a.py", "five"))
    ended = outcome.of("tool.completed")
    started = {event.operation_id: event.data["arguments"]["search"] for event in outcome.of("tool.started")}
    assert [started[event.operation_id] for event in ended] == ["three", "one", "two"]
    assert {event.data["success_basis"] for event in ended} == {"format"}
    # what Aider says nothing about stays open
    open_calls = [event.data["operation"] for event in outcome.notes("call_without_result")]
    assert [started[f"{outcome.closings[0].run}{own}"] for own in open_calls] == ["four", "five"]


def test_an_edit_in_another_form_is_seen_through_its_result() -> None:
    outcome = chat(asked("x"), "whole.py\n```\nall of it\n```\n", told("Applied edit to whole.py"))
    (started,), (ended,) = outcome.of("tool.started"), outcome.of("tool.completed")
    assert started.data["arguments"] == {"path": "whole.py"} and started.operation_id == ended.operation_id


def test_a_block_that_could_not_be_matched_fails_and_only_it() -> None:
    report = (
        "# 1 SEARCH/REPLACE block failed to match!", "",
        "## SearchReplaceNoExactMatch: This SEARCH block failed to exactly match lines in a.py",
        "<<<<<<< SEARCH", "two", "=======", "new", ">>>>>>> REPLACE",
    )  # fmt: skip
    reply = edit("a.py", "one") + edit("a.py", "two")
    outcome = chat(asked("x"), reply, told(*report))
    started = {event.operation_id: event.data["arguments"]["search"] for event in outcome.of("tool.started")}
    (failed,) = outcome.of("tool.failed")
    assert started[failed.operation_id] == "two" and not outcome.of("tool.completed")
    assert len(outcome.notes("call_without_result")) == 1
    others = chat(asked("x"), reply, told(*report, "# The other 1 SEARCH/REPLACE block was applied successfully."))
    (done,) = others.of("tool.completed")
    assert done.data["success"] is True and not others.notes("call_without_result")


def test_a_check_failed_where_aider_asks_to_fix_it_and_printed_codes_are_output() -> None:
    check = ("Test Script: make check;", "boom", "Return Code: 0", "Applied edit to nothing.py")
    outcome = chat(asked("x"), "y\n", told(*check, "Attempt to fix test errors? yes"), "z\n", told(*check))
    (failed,), (ended,) = outcome.of("tool.failed"), outcome.of("tool.completed")
    assert failed.data["error"] == ended.data["output"] == "\n".join(check[1:])
    assert not {"exit_code", "success"} & ended.data.keys() and "exit_code" not in failed.data
    assert [event.data["command"] for event in outcome.of("tool.started")] == ["make check"] * 2


def test_usage_in_both_spellings() -> None:
    newer = "Tokens: 8.1k sent, 2k cache hit, 1,204 received. Cost: $0.03 message, $0.10 session."
    outcome = chat(
        asked("x"), told(newer, "Tokens: 12 sent, 3 received."), "y\n", announced="Main model: big with diff"
    )
    usage = [event.data["usage"] for event in outcome.of("model.completed")]
    assert usage == [
        {"prompt_tokens": 8100, "completion_tokens": 1204},
        {"prompt_tokens": 12, "completion_tokens": 3},
    ]
    assert outcome.events[0].data["model"] == "big" and outcome.of("model.completed")[0].data["cost"] == "0.03"


def test_a_history_that_lost_its_trailing_spaces_is_read_by_its_marks() -> None:
    body = "\n".join(line.rstrip() for line in example("aider.md").decode().split("\n"))
    outcome, whole = imported(body.encode(), "a.md"), imported(example("aider.md"), "a.md")
    assert outcome.counts.tool_calls == whole.counts.tool_calls
    assert len(outcome.closings) == 2 and outcome.closings[1].outcome == "budget_exhausted"


def test_words_before_the_first_chat_and_empty_chats() -> None:
    outcome = imported(f"{HEADER}\n\n{HEADER}\n\n{asked('x')}".encode(), "a.md")
    assert len({closing.run for closing in outcome.closings}) == 2
    stray = list(Aider().read(io.BytesIO(b"stray words\n" + example("aider.md")), Limits()))
    assert not any(isinstance(item, Refused) for item in stray)


def test_bad_bytes_long_lines_and_a_cut_end() -> None:
    body = f"\n{HEADER}\n\n{asked('caf')}".encode().replace(b"caf", b"caf\xe9") + b"\n" + b"x" * 5000 + b"\nafter\n"
    outcome = imported(body, "a.md", Limits(max_record_bytes=1000))
    assert outcome.of("turn.user")[0].data["text"] == "caf\ufffd" and outcome.counts.anomalies["invalid_utf8"] == 1
    (refused,) = outcome.refused
    assert (refused.where, "5001 bytes" in refused.reason) == ("line 6", True)
    assert "TEMPORALITY_MAX_RECORD_BYTES" in refused.reason
    assert outcome.of("turn.agent")[0].data["text"] == "after"
    cut = chat(asked("x"), "The model sa")
    assert cut.refused[0].reason.startswith("cut last line") and not cut.of("turn.agent")
    assert not chat(asked("x")[:-1]).refused


def test_hints_are_marked() -> None:
    hint = f"{HINT_OPEN}the moon{HINT_CLOSE}"
    outcome = chat(
        asked(f"Look. {hint}"), f"I repeat: {hint}\n\n" + edit("a.py", hint), told("Test Script: make;", hint)
    )
    for event in outcome.events:
        shown = [event.data.get(key) for key in ("text", "output", "error", "arguments")]
        if "the moon" in repr(shown):
            assert event.data.get("hint") is True and event.type != "turn.user", event.type
    assert outcome.of("tool.completed")[0].data["output"] == ""


def test_a_longer_copy_holds_every_whole_record_of_the_shorter() -> None:
    lines = example("aider.md").splitlines(keepends=True)
    whole = {event.key: event.document() for event in imported(b"".join(lines), "a.md").events}
    whole_ends = 0
    for end in range(8, len(lines)):
        short = imported(b"".join(lines[:end]), "a.md")
        placed = [event for event in short.events if event.sequence is not None]
        new = [event for event in placed if event.key not in whole]
        # only the last record of the shorter copy may be cut
        assert new == placed[len(placed) - len(new) :] or not new
        assert len({event.origin_hash for event in new}) == len(new) <= 4
        if b" prompt tokens, " in lines[end - 1] or lines[end - 1].startswith(b"> Applied edit"):
            # a copy that ends where Aider had said something whole repeats nothing
            assert not new, end
            whole_ends += 1
        for event in placed:
            if event.key in whole and event.type != "run.opened":
                assert whole[event.key] == event.document(), end
    assert whole_ends == 8


@given(st.lists(st.sampled_from([
    "Applied edit to a.py", "Test Script: make;", "Attempt to fix test errors? yes", "## Running: lint",
    "# Fix any errors below, if possible.", "words", "", "Only 4 reflections allowed, stopping.",
    "10 prompt tokens, 2 completion tokens, $0.1 cost", "# 1 SEARCH/REPLACE block failed to match!", "Really? no",
]), max_size=14))  # fmt: skip
@settings(max_examples=200)
def test_units_hold_each_line_once(texts: list[str]) -> None:
    found = list(units(texts))
    assert [text for unit in found for text in unit.texts] == texts
    assert [(unit.start, unit.stop) for unit in found] == [
        (start, start + len(unit.texts))
        for unit, start in zip(found, [0, *(unit.stop for unit in found)], strict=False)
    ]


@given(st.lists(st.sampled_from(
    [HEADER, "> told  ", "#### asked  ", "#### heading", "> quoted", "", "words", "```", ">", "####   "]
), max_size=30))  # fmt: skip
@settings(max_examples=200)
def test_blocks_hold_each_line_that_is_not_empty_once(lines: list[str]) -> None:
    body = "".join(f"{line}\n" for line in lines).encode()
    blocks = [block for block in Blocks(io.BytesIO(body), Limits()) if isinstance(block, Block)]
    held = [line for block in blocks for line in block.lines if line.strip()]
    assert held == [line for line in lines if line.strip()]


@pytest.mark.shared
def test_shared_histories_pair_every_edit(shared_data: Path) -> None:
    files = sorted((shared_data / "trajectories" / "aider").glob("*.md"))
    assert len(files) == 7
    for path in files:
        text = path.read_text()
        outcome = imported(path.read_bytes(), path.name)
        blocks = sum(line.startswith("<<<<<<< SEARCH") for line in text.splitlines())
        assert outcome.tools["edit"] == blocks, path.name
        assert not outcome.notes("call_without_result") and outcome.counts.tool_results == outcome.counts.tool_calls
        assert outcome.tools["test"] == text.count("> Test Script: ")
        assert outcome.tools["lint"] == text.count("> ## Running: ")
        answers = [event for event in outcome.of("context.changed") if event.data["kind"] == "approval"]
        assert len(answers) == sum(line.endswith("? yes  ") for line in text.splitlines())
