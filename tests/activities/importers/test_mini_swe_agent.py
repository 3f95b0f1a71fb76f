"""mini-swe-agent: one fenced block is a call, the return code is its exit code, the harness speaks in the user's name."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

import orjson
import pytest

from activities.importers.recognise import recognise
from tests.activities.importers.reading import imported
from tests.activities.importers.test_examples import example
from tests.activities.importers.test_sameness import check_longer

LEGACY: list[dict[str, Any]] = [
    {"role": "system", "content": "Answer with ONE ```mswea_bash_command block."},
    {"role": "user", "content": "Please solve this issue: It breaks.\nOften."},
    {"role": "assistant", "content": "THOUGHT\n```mswea_bash_command\nmake check\n```"},
    {"role": "user", "content": "<returncode>2</returncode>\n<output>\nbad\n</output>"},
]


def test_the_example_tells_a_run() -> None:
    outcome = imported(example("mini-swe-agent.json"), "m.json")
    (closing,) = outcome.closings
    assert (closing.outcome, closing.reason) == ("completed", "Submitted")
    assert closing.result is not None and closing.result.startswith("diff --git")
    assert outcome.events[0].data["title"] == "`ledger rates` prints the reduced rate twice."
    assert outcome.events[0].data["model"] == "example-small"
    codes = [event.data.get("exit_code") for event in outcome.of("tool.completed", "tool.failed")]
    assert codes == [0, 1, 0, None] and outcome.counts.errors == 1
    # two blocks are no action, and what the harness answers is no statement of the user
    assert outcome.counts.tool_calls == 4 and len(outcome.of("turn.user")) == 1
    assert outcome.of("turn.system")[1].data["text"].startswith("Please always provide EXACTLY ONE")
    assert outcome.of("model.completed")[0].data["usage"] == {"prompt_tokens": 410, "completion_tokens": 40}
    assert outcome.of("tool.failed")[0].time_basis == "source"
    assert outcome.notes("outcome")[0].data["record"]["info"]["mini_version"] == "1.14.0"


def test_a_legacy_file_is_a_bare_list() -> None:
    outcome = imported(orjson.dumps(LEGACY), "l.json")
    (started,), (failed,) = outcome.of("tool.started"), outcome.of("tool.failed")
    assert started.data["command"] == "make check" and started.operation_id == failed.operation_id
    assert (failed.data["exit_code"], failed.data["error"]) == (2, "bad\n")
    assert (outcome.closings[0].outcome, outcome.events[0].data["title"]) == ("completed", "It breaks.")
    submitted = [
        *LEGACY,
        {"role": "assistant", "content": "```bash\necho COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT && git diff\n```"},
        {"role": "user", "content": "the diff"},
    ]
    longer = imported(orjson.dumps(submitted), "l.json")
    assert longer.closings[0].result == "the diff"
    check_longer(outcome, longer)


def test_tool_calls_and_actions_of_newer_files() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "bash", "arguments": '{"command": "ls"}'}}
    messages = [
        *LEGACY[:2],
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {
            "role": "tool",
            "tool_call_id": "c1",
            "content": "a.py",
            "extra": {"returncode": 0, "timestamp": 1775900002.0},
        },
        {
            "role": "assistant",
            "content": "Two.",
            "extra": {"actions": [{"command": "a"}, {"command": "b"}, {"odd": 1}]},
        },
        {"role": "user", "content": "<returncode>0</returncode>\n<output>\nfirst", "extra": {"returncode": 0}},
        {"role": "user", "content": "second"},
        {"role": "exit", "content": "limits", "extra": {"exit_status": "LimitsExceeded", "submission": ""}},
    ]
    told = {"info": {"exit_status": "LimitsExceeded"}, "messages": messages, "trajectory_format": "mini-swe-agent-2"}
    outcome = imported(orjson.dumps(told), "t.json")
    assert [event.data["command"] for event in outcome.of("tool.started")] == ["ls", "a", "b"]
    assert [event.data["output"] for event in outcome.of("tool.completed")] == ["a.py", "first", "second"]
    assert outcome.of("tool.completed")[2].data.get("exit_code") is None
    assert outcome.closings[0].outcome == "budget_exhausted" and not outcome.counts.anomalies


@pytest.mark.parametrize("value", [None, 7, "odd", [], {}, {"role": 5}, {"role": "oracle", "content": "x"}])
def test_odd_messages_are_kept(value: Any) -> None:
    told = orjson.loads(example("mini-swe-agent.json"))
    told["messages"].append(value)
    outcome = imported(orjson.dumps(told), "m.json")
    assert outcome.counts.unknown == 1 and outcome.counts.tool_calls == 4


def test_a_document_without_messages_is_refused() -> None:
    outcome = imported(orjson.dumps({"trajectory_format": "mini-swe-agent-1.1", "messages": 7}))
    assert not outcome.events and "neither a list of messages" in outcome.refused[0].reason


@pytest.mark.shared
def test_shared_files_hold_what_a_plain_walk_counts(shared_data: Path) -> None:
    files = sorted((shared_data / "trajectories" / "mini-swe-agent").glob("*.json"))
    assert len(files) == 2
    for path in files:
        text = path.read_text()
        messages = orjson.loads(text)
        outcome = imported(path.read_bytes(), path.name)
        roles = Counter(message["role"] for message in messages)
        assert len(outcome.of("turn.agent")) == roles["assistant"] == outcome.counts.tool_calls
        assert outcome.counts.tool_results == roles["user"] - 1
        codes = [int(code) for code in re.findall(r'"<returncode>(-?\d+)</returncode>', text)]
        ended = outcome.of("tool.completed", "tool.failed")
        assert [event.data["exit_code"] for event in ended if "exit_code" in event.data] == codes
        assert outcome.counts.errors == sum(code != 0 for code in codes)
        assert not outcome.counts.anomalies and outcome.counts.first is None


def test_a_long_first_message_does_not_hide_the_format() -> None:
    long = [LEGACY[0], {"role": "user", "content": "x" * 100_000}, *LEGACY[2:]]
    found = recognise(orjson.dumps(long)[: 64 * 1024])
    assert getattr(found, "format", None) == "mini-swe-agent"
