"""Importing again gives the same events, a longer copy adds only what is new, and equal records all count."""

from __future__ import annotations

import hashlib
import hmac
from pathlib import Path

import orjson
import pytest

from tests.activities.importers.reading import Imported, fixture, imported, lines_of, records_of
from tests.activities.importers.sessions import agent, session, text, user

SHARED_FORMATS = (
    "claude-code",
    "swe-agent",
    "tau-bench",
    "openhands-v0",
    "openai-chat",
    "pi",
    "mini-swe-agent",
    "who-and-when",
)


def said(outcome: Imported) -> list[object]:
    return [event.document() for event in outcome.events]


@pytest.mark.parametrize("name", ["steps.traj", "results.json", "events.json", "completion.json"])
def test_importing_a_document_again_says_the_same(name: str) -> None:
    body = fixture(name)
    once, again = imported(body, name), imported(orjson.dumps(orjson.loads(body)), name)
    assert said(once) == said(again)
    assert [event.origin_hash for event in once.events] == [event.origin_hash for event in again.events]


@pytest.mark.shared
def test_importing_shared_files_again_says_the_same(shared_data: Path) -> None:
    for form in SHARED_FORMATS:
        for path in sorted((shared_data / "trajectories" / form).iterdir()):
            if path.name.startswith("LICENSE") or (form == "aider" and path.suffix == ".json"):
                continue
            body = path.read_bytes()
            assert said(imported(body, path.name)) == said(imported(body, path.name)), path.name


def at_the_end(outcome: Imported) -> set[tuple[str, str]]:
    return {event.key for event in outcome.events if event.sequence is None}


def check_longer(short: Imported, long: Imported) -> None:
    """Everything but what the short copy's end showed is in the longer copy, word for word."""
    told = {event.key: event.document() for event in long.events}
    ends = at_the_end(short)
    for event in short.events:
        if event.key not in ends:
            assert told[event.key] == event.document()
        elif event.key in told:
            # it stands at the end of either copy, so only its time differs
            assert told[event.key]["data"] == event.data


@pytest.mark.shared
def test_every_longer_copy_of_a_session_holds_the_shorter(shared_data: Path) -> None:
    for name in ("5c0375b4-57a5-4f26-b12d-d022ee4e51b7", "edge_cases", "every-line-type", "coverage-test-fix"):
        lines = (shared_data / "trajectories" / "claude-code" / f"{name}.jsonl").read_bytes().splitlines(keepends=True)
        whole = imported(b"".join(lines), name)
        for end in {1, 2, 3, len(lines) // 3, len(lines) // 2, len(lines) - 1}:
            check_longer(imported(b"".join(lines[:end]), name), whole)


def test_longer_copies_of_documents_hold_the_shorter() -> None:
    events = orjson.loads(fixture("events.json"))
    for end in range(1, len(events)):
        check_longer(imported(orjson.dumps(events[:end]), "e"), imported(orjson.dumps(events), "e"))
    steps = orjson.loads(fixture("steps.traj"))
    shorter = {**steps, "trajectory": steps["trajectory"][:1], "history": steps["history"][:5]}
    check_longer(imported(orjson.dumps(shorter), "s"), imported(orjson.dumps(steps), "s"))
    runs = orjson.loads(fixture("results.json"))
    check_longer(imported(orjson.dumps(runs[:1]), "r"), imported(orjson.dumps(runs), "r"))
    chat = orjson.loads(fixture("completion.json"))["messages"]
    check_longer(imported(orjson.dumps(chat[:3]), "c"), imported(orjson.dumps(chat), "c"))


def test_a_cut_last_line_is_completed_once() -> None:
    body = lines_of(*session())
    lines = body.splitlines(keepends=True)
    cut = imported(b"".join(lines[:-1]) + lines[-1][:-20])
    whole = imported(body)
    assert [item.reason.split(":")[0] for item in cut.refused] == ["cut last line"]
    check_longer(cut, whole)
    assert len(set(whole.ids) - set(cut.ids)) == 2
    # a last line that only lacks its line end is whole
    assert imported(body.rstrip(b"\n")).ids == whole.ids


def test_equal_records_of_a_run_all_count() -> None:
    repeated = {"type": "user", "sessionId": "s", "message": {"role": "user", "content": "Thanks."}}
    outcome = imported(lines_of(*[repeated] * 5))
    assert len(outcome.of("turn.user")) == 5 and len(set(outcome.ids)) == len(outcome.ids)
    singletons = imported(lines_of(user(1, "x"), *[7] * 4))
    assert singletons.counts.unknown == 4


def test_the_same_record_in_two_runs_is_two_events() -> None:
    records = [user(1, "same", sessionId="a"), user(1, "same", sessionId="b")]
    outcome = imported(lines_of(*records))
    assert len({event.event_id for event in outcome.of("turn.user")}) == 2


def test_runs_without_an_id_are_named_by_file_and_first_record() -> None:
    body = fixture("events.json")
    (one,), (two,) = imported(body, "one.json").closings, imported(body, "two.json").closings
    assert one.run != two.run and one.run == imported(body, "one.json").closings[0].run
    (named,) = imported(body, "one.json", run="my run").closings
    assert named.run == "my%20run" and named.source == "openhands-v0/my%20run"


def test_a_named_file_of_several_runs_keeps_them_apart() -> None:
    runs = [closing.run for closing in imported(fixture("results.json"), "r", run="mine").closings]
    assert runs[0] == "mine" and runs[1].startswith("mine~task-3.trial-1.")


def test_equal_runs_of_a_file_stay_apart() -> None:
    conversation = {"messages": [{"role": "user", "content": "x"}, {"role": "assistant", "content": "y"}]}
    outcome = imported(lines_of(conversation, conversation, conversation), "many.jsonl")
    runs = [closing.run for closing in outcome.closings]
    assert len(set(runs)) == 3 and len(set(outcome.ids)) == 12


def test_origin_hashes_are_keyed_and_over_the_raw_record() -> None:
    body = lines_of(*session())
    keyed, plain = imported(body, origin_key=b"k" * 32), imported(body)
    assert keyed.ids == plain.ids
    assert not {event.origin_hash for event in keyed.events} & {event.origin_hash for event in plain.events}
    record = next(records_of(body))
    (asked,) = keyed.of("turn.user")
    expected = hmac.new(b"k" * 32, record.raw + b"\0" + record.part.encode(), hashlib.sha256).hexdigest()
    assert asked.origin_hash == expected


def test_opening_a_run_says_the_same_in_every_copy() -> None:
    records = [user(1, "First words."), agent(2, text("x"), parent=1), user(3, "Other words.", 2)]
    copies = [imported(lines_of(*records[:end])).events[0] for end in (1, 2, 3)]
    assert len({orjson.dumps(copy.document()) for copy in copies}) == 1
    assert copies[0].type == "run.opened" and copies[0].data["title"] == "First words."
