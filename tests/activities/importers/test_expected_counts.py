"""Every shared transcript against counts that were taken without the importers."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import orjson
import pytest

from activities.importers.recognise import READERS, SIDECAR, NotATranscript, recognise
from activities.importers.sidecar import Sidecar, read_sidecar
from domain.runs.evolve import ends, starts
from domain.runs.transcript import Fact, Limits
from tests.activities.importers.reading import Imported, imported, records_of, runs_of

pytestmark = pytest.mark.shared

CALLING = ("run", "run_ipython", "read", "write", "edit", "browse")
Figure = Callable[[Imported, bytes], Any]


def _expected(shared_data: Path, form: str) -> dict[str, Any]:
    told = json.loads((shared_data / "trajectories" / "expected_counts.json").read_text())
    found = {name: value for name, value in told.items() if name.startswith(f"{form}/")}
    assert found, f"no counts for {form}"
    return found


def _body(shared_data: Path, name: str) -> bytes:
    return (shared_data / "trajectories" / name).read_bytes()


def _called(outcome: Imported) -> set[str | None]:
    return {event.data.get("call_id") for event in outcome.events if starts(event)}


def _answered(outcome: Imported) -> set[str | None]:
    return {event.data.get("call_id") for event in outcome.events if ends(event)}


def _objects(body: bytes) -> list[dict[str, Any]]:
    """The records of a JSONL file as the facts carry them: whole, once each, in order."""
    values = [orjson.loads(fact.raw) for fact in records_of(body)]
    return [value for value in values if isinstance(value, dict)]


CLAUDE_CODE: dict[str, Figure] = {
    "lines": lambda _, body: len(_objects(body)),
    "types": lambda _, body: dict(Counter(str(value.get("type", "null")) for value in _objects(body))),
    "sidechain": lambda _, body: sum(1 for fact in records_of(body) if fact.sidechain),
    "bad_lines": lambda outcome, _: len(outcome.refused),
    "sessions": lambda outcome, _: len(outcome.closings),
    "tool_use": lambda outcome, _: len(_called(outcome)),
    "tool_result": lambda outcome, _: len(_answered(outcome)),
    "tools": lambda outcome, _: dict(outcome.tools),
    "errors": lambda outcome, _: outcome.counts.errors,
    "use_without_result": lambda outcome, _: len(_called(outcome) - _answered(outcome)),
    "result_without_use": lambda outcome, _: len(_answered(outcome) - _called(outcome)),
    "dup_uuid": lambda o, _: o.counts.anomalies.get("duplicate_id", 0) + o.counts.anomalies.get("repeated_record", 0),
    "dangling_parent": lambda outcome, _: outcome.counts.anomalies.get("dangling_parent", 0),
}


def test_claude_code_sessions_hold_what_was_counted(shared_data: Path) -> None:
    for name, expected in _expected(shared_data, "claude-code").items():
        body = _body(shared_data, name)
        outcome = imported(body, name)
        found = {key: CLAUDE_CODE[key](outcome, body) for key in expected if key not in ("first", "last")}
        assert found == {key: value for key, value in expected.items() if key in found}, name
        for key, at in (("first", outcome.counts.first), ("last", outcome.counts.last)):
            told = expected[key]
            if told.startswith("["):
                # no time at all: its text is kept where it stood
                assert any(event.data.get("source_time") == told for event in outcome.events)
            else:
                assert at == datetime.fromisoformat(told), (name, key)


def test_swe_agent_trajectories_hold_what_was_counted(shared_data: Path) -> None:
    for name, expected in _expected(shared_data, "swe-agent").items():
        outcome = imported(_body(shared_data, name), name)
        calls, results = outcome.of("tool.started"), outcome.of("tool.completed")
        (closing,) = outcome.closings
        history = len(orjson.loads(_body(shared_data, name))["history"])
        found = {
            # where there are no steps, the calls are those of the messages
            "steps": len(calls) if expected["steps"] else 0,
            "tool_calls": sum(1 for call in calls if "call_id" in call.data),
            "empty_obs": sum(1 for result in results if result.data["output"] == ""),
            "with_time": sum(1 for result in results if "duration_ms" in result.data),
            "exit_status": closing.reason,
            "has_submission": closing.result is not None,
            "history": history,
        }
        assert found == expected, name
        assert len(calls) == (expected["steps"] or expected["tool_calls"]) == len(results)
        assert outcome.counts.first is None and {event.time_basis for event in outcome.events} == {"order_only"}
        assert not any("exit_code" in event.data or "success" in event.data for event in outcome.events)


def test_tau_bench_results_hold_what_was_counted(shared_data: Path) -> None:
    name = "tau-bench/gpt-4o-airline.json"
    expected = _expected(shared_data, "tau-bench")[name]
    body = _body(shared_data, name)
    outcome = imported(body, name)
    found = {
        "runs": len({closing.run for closing in outcome.closings}),
        "tasks": len({event.task for event in outcome.events}),
        "success": sum(1 for closing in outcome.closings if closing.outcome == "completed"),
        "messages": sum(1 for _ in records_of(body)),
        "tool_calls": outcome.counts.tool_calls,
        "tool_msgs": outcome.counts.tool_results,
        "errors": outcome.counts.errors,
        "transfers": outcome.tools["transfer_to_human_agents"],
    }
    assert found == expected
    assert not outcome.notes("call_without_result") and not outcome.notes("result_without_call")


def test_tau_bench_dialogues_are_runs(shared_data: Path) -> None:
    name = "tau-bench/MockAirlineDomainEnv-few_shot.jsonl"
    expected = _expected(shared_data, "tau-bench")[name]
    body = _body(shared_data, name)
    outcome = imported(body, name)
    assert len(outcome.closings) == expected["dialogues"]
    assert sorted({key for value in _objects(body) for key in value}) == expected["keys"]
    # each line that begins with a role is a turn, a call's result, or the call itself
    text = "\n".join(value["messages_display"] for value in _objects(body)).splitlines()
    assert sum(1 for line in text if line.startswith("tool: ")) == outcome.counts.tool_results
    assert sum(1 for line in text if line.startswith("user: ")) == len(outcome.of("turn.user"))


def _openhands(records: list[list[Fact]]) -> dict[str, Any]:
    """The counts of one run's records, each by the fact that says what it was."""
    actions: Counter[str] = Counter()
    observations: Counter[str] = Counter()
    codes: Counter[str] = Counter()
    for facts in records:
        fact = max(facts, key=lambda fact: (fact.type.startswith("tool."), not fact.type.startswith("model.")))
        kind = str(fact.data.get("kind", "message"))
        acted = (
            fact.type.startswith("turn.") or fact.type.endswith(".started") or "action" in fact.data.get("record", {})
        )
        (actions if acted else observations)[kind] += 1
        if "exit_code" in fact.data or fact.data.get("running"):
            codes[str(fact.data.get("exit_code", -1))] += 1
    return {
        "actions": dict(actions),
        "observations": dict(observations),
        "exit_codes": dict(codes),
        "events": len(records),
    }


def test_openhands_trajectories_hold_what_was_counted(shared_data: Path) -> None:
    for name, expected in _expected(shared_data, "openhands-v0").items():
        body = _body(shared_data, name)
        found = [_openhands(records) for records in runs_of(body)]
        assert found == expected, name
        outcome = imported(body, name)
        calls = [sum(n for kind, n in run["actions"].items() if kind in CALLING) for run in expected]
        assert [closing.counts.tool_calls for closing in outcome.closings] == calls
        assert not outcome.notes("call_without_result") and not outcome.notes("result_without_call")
        assert outcome.counts.tool_results == outcome.counts.tool_calls


PI: dict[str, Figure] = {
    "lines": lambda _, body: len(_objects(body)),
    "tool_calls": lambda outcome, _: outcome.counts.tool_calls,
    "tool_results": lambda outcome, _: outcome.counts.tool_results,
    "errors": lambda outcome, _: outcome.counts.errors,
    "compactions": lambda outcome, _: len(outcome.of("context.compacted")),
}


def test_pi_sessions_hold_what_was_counted(shared_data: Path) -> None:
    for name, expected in _expected(shared_data, "pi").items():
        body = _body(shared_data, name)
        outcome = imported(body, name)
        assert {key: PI[key](outcome, body) for key in expected} == expected, name
        # every call without a result stands in an answer that was cut short
        open_calls = {event.data["operation"] for event in outcome.notes("call_without_result")}
        cut = {event.operation_id for event in outcome.of("tool.started") if event.data.get("aborted")}
        assert open_calls == cut and len(cut) == expected["tool_calls"] - expected["tool_results"]


WHO_AND_WHEN: dict[str, Figure] = {
    "steps": lambda outcome, _: len({event.data["step"] for event in outcome.events if "step" in event.data}),
    "mistake_agent": lambda outcome, _: outcome.events[0].data["labels"]["mistake_agent"],
    "mistake_step": lambda outcome, _: outcome.events[0].data["labels"]["mistake_step"],
}


def test_who_and_when_runs_hold_what_was_counted(shared_data: Path) -> None:
    files = _expected(shared_data, "who-and-when")
    assert len(files) == 60
    agents = 0
    for name, expected in files.items():
        body = _body(shared_data, name)
        outcome = imported(body, name)
        assert {key: WHO_AND_WHEN[key](outcome, body) for key in expected} == expected, name
        assert outcome.closings[0].outcome == "failed" and not outcome.counts.anomalies and not outcome.counts.unknown
        executed = sum(m["content"].startswith("exitcode: ") for m in orjson.loads(body)["history"])
        assert outcome.counts.tool_calls == outcome.counts.tool_results == executed, name
        at_fault = [e for e in outcome.events if e.data.get("step") == int(expected["mistake_step"])]
        agents += any(event.data["agent"] == expected["mistake_agent"] for event in at_fault)
    # three labels name another agent than the one that wrote the step
    assert agents == 57


def _codex_names(body: bytes) -> dict[str, int]:
    """Calls by the name their own item gives them; one that names a function within is counted as null."""
    calls = (fact for run in runs_of(body) for facts in run for fact in facts if fact.type.endswith(".started"))
    payloads = (orjson.loads(fact.raw)["payload"] for fact in calls)
    return dict(Counter(str(payload.get("name", "null")) for payload in payloads))


CODEX: dict[str, Figure] = {
    "lines": lambda _, body: len(_objects(body)),
    "bad": lambda outcome, _: len(outcome.refused),
    "calls": lambda outcome, _: outcome.counts.tool_calls,
    "outputs": lambda outcome, _: outcome.counts.tool_results,
    "names": lambda _, body: _codex_names(body),
    # by id: one fixture has one id for many results
    "unmatched": lambda outcome, _: len(_called(outcome) ^ _answered(outcome)),
    # those of `metadata` in the flat form; the fixtures are enveloped
    "exit_codes": lambda outcome, _: dict(
        Counter(str(e.data["exit_code"]) for e in outcome.of("tool.completed") if "metadata" in str(e.data["output"]))
    ),
}


def test_codex_rollouts_hold_what_was_counted(shared_data: Path) -> None:
    for name, expected in _expected(shared_data, "codex").items():
        body = _body(shared_data, name)
        outcome = imported(body, name)
        assert {key: CODEX[key](outcome, body) for key in expected} == expected, name
        assert outcome.counts.unknown == 0 and len(outcome.closings) == 1


def _aider(body: bytes, outcome: Imported) -> dict[str, Any]:
    """The counts of a history. They were taken by the first characters of a line; what a model wrote (headings, a
    quotation, blocks of an edit) begins alike, so it is added from the model's own turns.
    """
    written = "\n".join(event.data["text"] for event in outcome.of("turn.agent")).splitlines()
    raws = [fact.raw.decode().splitlines() for fact in records_of(body)]
    said = [line for lines in raws for line in lines]
    users = [line for fact in records_of(body) if fact.type == "turn.user" for line in fact.raw.decode().splitlines()]
    return {
        "chats": len(outcome.closings),
        "user_lines": len(users) + sum(line.startswith("#### ") for line in written),
        # an empty line between two things that Aider tells says nothing
        "tool_lines": sum(line.startswith("> ") and bool(line[2:].strip()) for line in said)
        + sum(line.startswith("> ") and not line[2:].strip() for line in body.decode().splitlines()),
        "search_blocks": outcome.tools["edit"] + sum(line.startswith("> <<<<<<< SEARCH") for line in said),
        "applied": sum(fact.raw.startswith(b"> Applied edit to") for fact in records_of(body)),
    }


def test_aider_histories_hold_what_was_counted(shared_data: Path) -> None:
    for name, expected in _expected(shared_data, "aider").items():
        if name.endswith(".md"):
            body = _body(shared_data, name)
            assert _aider(body, imported(body, name)) == expected, name


def test_aider_sidecars_tell_what_was_counted(shared_data: Path) -> None:
    folder = shared_data / "trajectories"
    for name, expected in _expected(shared_data, "aider").items():
        if name.endswith(".md"):
            continue
        with (folder / name).open("rb") as stream:
            sidecar = read_sidecar(name, stream, Limits())
        assert isinstance(sidecar, Sidecar)
        history = (folder / name).with_suffix(".md")
        outcome = imported(history.read_bytes(), history.name, sidecar=sidecar)
        assert not outcome.refused and len(outcome.notes("outcome")) == len(outcome.closings) == len(sidecar.results)
        (chosen,) = [result for result in sidecar.results if "of_all_results" in result.record]
        told = {key: chosen.record["of_all_results"].get(key) for key in expected}
        assert told == expected, name
        place = sidecar.results.index(chosen)
        assert outcome.closings[place].outcome == ("completed" if expected["resolved"] else "failed")
        assert outcome.closings[place].result == chosen.record["model_patch"]


def test_openai_chats_hold_what_a_plain_walk_counts(shared_data: Path) -> None:
    files = sorted((shared_data / "trajectories" / "openai-chat").glob("*.json"))
    assert files
    for path in files:
        told = json.loads(path.read_text())
        messages = list(told if isinstance(told, list) else told["messages"])
        if isinstance(told, dict):
            messages += [choice["message"] for choice in told["response"]["choices"]]
        calls = [call["function"]["name"] for message in messages for call in message.get("tool_calls") or []]
        roles = Counter(message["role"] for message in messages)
        outcome = imported(path.read_bytes(), path.name)
        assert dict(outcome.tools) == dict(Counter(calls)), path.name
        assert outcome.counts.tool_results == roles["tool"]
        assert len(outcome.of("turn.user")) == roles["user"] and len(outcome.of("turn.system")) == roles["system"]
        assert len(outcome.notes("call_without_result")) == len(calls) - roles["tool"]
        assert outcome.counts.errors == 0 and outcome.counts.unknown == 0
        if isinstance(told, dict):
            assert outcome.counts.last is not None and outcome.counts.last.timestamp() == pytest.approx(
                told["timestamp"]
            )


def test_no_other_shared_file_is_taken_for_a_transcript(shared_data: Path) -> None:
    # the folder of each format's files has its name, but for one
    ours = {"otel" if reader.format == "otlp" else reader.format: reader.format for reader in READERS}
    seen: Counter[str] = Counter()
    for path in sorted(shared_data.rglob("*")):
        if not path.is_file():
            continue
        head = path.read_bytes()[: 64 * 1024]
        found = recognise(head)
        sniffed = [reader.format for reader in READERS if reader.sniff(head)]
        form = ours.get(path.parent.name)
        sidecar = form == "aider" and path.suffix == ".json"
        if form is not None and not path.name.startswith("LICENSE") and not sidecar:
            assert not isinstance(found, NotATranscript) and sniffed == [found.format] == [form], path.name
            seen[found.format] += 1
        else:
            assert isinstance(found, NotATranscript) and found.verdict == "skipped", path.name
            assert (found.reason == SIDECAR) == sidecar and not sniffed, path.name
            seen[found.reason] += 1
    assert seen["claude-code"] == 10 and seen["swe-agent"] == 8 and seen["aider"] == 7 == seen[SIDECAR]
