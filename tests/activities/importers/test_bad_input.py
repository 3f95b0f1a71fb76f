"""Broken, hostile and odd input: each gives a sentence, loses nothing else, and never raises."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import orjson
import pytest

from domain.runs.transcript import Limits
from tests.activities.importers.reading import RUN_TIME, fixture, imported, lines_of
from tests.activities.importers.sessions import SESSION, agent, call, result, session, text, uid, user

DOCUMENTS = ("steps.traj", "results.json", "events.json", "completion.json")


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_truncated_document_is_refused_with_a_sentence(name: str) -> None:
    body = fixture(name)
    outcome = imported(body[: len(body) * 2 // 3], name)
    assert not outcome.events and not outcome.closings
    assert "not complete JSON" in outcome.refused[0].reason and "copy the file again" in outcome.refused[0].reason


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_document_above_the_limit_names_the_setting(name: str) -> None:
    outcome = imported(fixture(name), name, Limits(max_document_bytes=200))
    assert not outcome.events and "TEMPORALITY_MAX_DOCUMENT_BYTES" in outcome.refused[0].reason


@pytest.mark.parametrize("name", DOCUMENTS)
def test_elements_of_another_type_are_kept_or_refused_alone(name: str) -> None:
    told = orjson.loads(fixture(name))
    whole = imported(orjson.dumps(told), name)
    lists = {"steps.traj": ["history", "trajectory"], "completion.json": ["messages"]}
    for value in (None, 7, "odd", [], [[]], {}, {"role": 5}):
        changed = orjson.loads(fixture(name))
        for place in lists.get(name, [None]):
            (changed if place is None else changed[place]).append(value)
        outcome = imported(orjson.dumps(changed), name)
        assert outcome.counts.tool_calls == whole.counts.tool_calls, value
        assert outcome.counts.unknown + len(outcome.refused) > whole.counts.unknown, value


def test_damaged_lines_are_refused_alone() -> None:
    good = lines_of(*session()).splitlines()
    odd = [b"", b"{]", b"not json at all", b'{"a": 1', b"[" * 100_000, b"\xff\xfe\x00", b"nul\x00"]
    body = b"\n".join([*good[:4], *odd, *good[4:], b""])
    outcome = imported(body)
    assert outcome.ids == imported(lines_of(*session())).ids
    assert [item.where for item in outcome.refused] == [f"line {number}" for number in range(6, 12)]
    assert all("not JSON" in item.reason for item in outcome.refused)


def test_a_record_above_the_limit_is_refused_alone() -> None:
    long = user(20, "x" * 5000)
    records = session()
    outcome = imported(lines_of(*records[:3], long, *records[3:]), limits=Limits(max_record_bytes=2000))
    assert outcome.ids == imported(lines_of(*records)).ids
    (refused,) = outcome.refused
    size = len(orjson.dumps(long)) + 1
    assert (
        refused.where == "line 4"
        and f"{size} bytes" in refused.reason
        and "TEMPORALITY_MAX_RECORD_BYTES" in refused.reason
    )


def test_bad_utf8_control_characters_and_surrogates_are_repaired_and_counted() -> None:
    good = user(1, "caf\u00e9")
    body = lines_of(good).replace("\u00e9".encode(), b"\xe9")
    body += (
        b'{"type":"user","sessionId":"%s","uuid":"u2","message":{"role":"user","content":"a\x01b\\u0000c\\ud800d"}}\n'
        % SESSION.encode()
    )
    outcome = imported(body)
    assert [event.data["text"] for event in outcome.of("turn.user")] == ["caf\ufffd", "a\x01b\x00c\ufffdd"]
    assert outcome.counts.anomalies == {"invalid_utf8": 1, "repaired_json": 1}
    assert not outcome.refused


def test_bom_and_crlf_change_nothing() -> None:
    plain = lines_of(*session())
    assert imported(b"\xef\xbb\xbf" + plain.replace(b"\n", b"\r\n")).ids == imported(plain).ids


@pytest.mark.parametrize("depth", [60, 250, 900])
def test_deep_values_are_kept_as_text(depth: int) -> None:
    deep = b'{"k":' * depth + b'"inside"' + b"}" * depth
    body = lines_of(*session()) + (
        b'{"type":"assistant","uuid":"deep","sessionId":"%s","message":{"role":"assistant","content":'
        b'[{"type":"tool_use","id":"d","name":"Deep","input":%s}]}}\n' % (SESSION.encode(), deep)
    )
    outcome = imported(body)
    kept = outcome.of("tool.started")[-1] if depth < 900 else outcome.events[-2]
    assert "inside" in orjson.dumps(kept.data).decode()
    assert len(outcome.ids) == len(imported(lines_of(*session())).ids) + 3


def test_a_document_nested_too_deep_is_refused() -> None:
    body = b'[{"role":"user","content":"x"},{"role":"user","content":' + b"[" * 100_000 + b"]" * 100_000 + b"}]"
    outcome = imported(body)
    assert not outcome.events and "nested too deep" in outcome.refused[0].reason


def test_duplicate_ids_with_other_content_are_both_kept() -> None:
    records = [user(1, "one"), user(1, "two"), user(1, "two"), agent(2, text("x"), parent=1)]
    outcome = imported(lines_of(*records))
    assert [event.data["text"] for event in outcome.of("turn.user")] == ["one", "two", "two"]
    assert outcome.counts.anomalies == {"duplicate_id": 1, "repeated_record": 1}
    assert all(uid(1) in event.data["text"] for event in outcome.of("source.note"))


def test_calls_and_results_that_do_not_match_are_kept_and_noted() -> None:
    records = [
        user(1, "go"),
        agent(2, call("Read", "a"), call("Read", "a", file_path="x"), call("Bash", None, command="ls"), parent=1),
        result(3, "a", "first", 2),
        result(4, "zzz", "of nobody", 3),
        result(5, None, "of the call without id", 2),
        result(6, "a", "second", 5),
        result(7, "a", "third", 6),
        agent(8, call("Read", "open"), parent=7),
    ]
    outcome = imported(lines_of(*records))
    assert [event.operation_id for event in outcome.of("tool.started")] == ["a", "a~2", f"{SESSION}#1", "open"]
    ended = {event.data["output"]: event for event in outcome.of("tool.completed")}
    assert {said: event.operation_id for said, event in ended.items()} == {
        "first": "a", "of nobody": "zzz", "of the call without id": f"{SESSION}#1", "second": "a~2", "third": "a",
    }  # fmt: skip
    assert ended["of nobody"].data.get("success") is None
    assert outcome.counts.anomalies == {
        "duplicate_call_id": 1, "result_without_call": 1, "second_result": 1, "call_without_result": 1,
    }  # fmt: skip
    (waits,) = outcome.notes("call_without_result")
    assert "`open`" in waits.data["text"]


def test_dangling_and_cyclic_parents_are_noted() -> None:
    records = [
        user(1, "a", 3),
        user(2, "b", 1),
        user(3, "c", 2),
        user(4, "d", 4),
        user(5, "e", 99),
        user(6, "f", 7),
        user(7, "g", 5),
    ]
    outcome = imported(lines_of(*records))
    assert len(outcome.of("turn.user")) == 7
    assert outcome.counts.anomalies["cyclic_parents"] == 2 and outcome.counts.anomalies["dangling_parent"] == 1
    circles = [event.data["records"] for event in outcome.notes("cyclic_parents")]
    assert sorted(circles) == [[uid(1), uid(2), uid(3)], [uid(4)]]
    assert uid(99) in outcome.notes("dangling_parent")[0].data["text"]
    alone = imported(lines_of(user(1, "a"), agent(2, text("b"), parent=2), agent(3, text("c"), parent=2)))
    assert alone.counts.anomalies == {"cyclic_parents": 1} and len(alone.of("turn.agent")) == 2


HOSTILE = ("../../etc/passwd", "a\nb\tc", "x" * 2000, "%2F", " ", "\u202e\u0000", "\U0001f600" * 300)


@pytest.mark.parametrize("odd", HOSTILE)
def test_hostile_ids_stay_within_bounds(odd: str) -> None:
    records: list[dict[str, Any]] = [
        user(1, "go", uuid=odd, cwd=odd * 10),
        agent(2, call("Read", odd), uuid=odd + "2", parentUuid=odd),
        result(3, odd, "x", 2, is_error=False),
        user(4, "side", isSidechain=True, agentId=odd, uuid=odd + "4"),
    ]
    for record in records:
        record["sessionId"] = odd
    outcome = imported(lines_of(*records))
    run = outcome.closings[0].run
    assert "/" not in run and "\n" not in run and len(run) <= 128
    assert outcome.events[0].data["native_id"] == odd
    started, ended = outcome.of("tool.started", "tool.completed")
    assert started.operation_id == ended.operation_id and len(str(started.operation_id)) <= 200
    assert started.parent_event_id == outcome.of("turn.user")[0].event_id
    assert imported(lines_of(*records)).ids == outcome.ids


def test_odd_times_never_lose_a_record() -> None:
    told = [
        ("2026-03-01T10:00:00Z", "source", None),
        ("2026-03-01T12:00:00+02:00", "source", None),
        ("2026-03-01 10:00:01", "assumed_utc", "time_without_zone"),
        ("2026-03-01", "order_only", "date_without_time"),
        ("yesterday", "order_only", "unparsable_time"),
        ("2026-02-30T10:00:00Z", "order_only", "unparsable_time"),
        ("9999-12-31T23:59:59-12:00", "order_only", "absurd_time"),
        ("0001-01-01T00:00:00Z", "order_only", "absurd_time"),
        (None, "order_only", None),
        ("", "order_only", "unparsable_time"),
        ({"at": 1}, "order_only", "unparsable_time"),
        (True, "order_only", "unparsable_time"),
        (1772359202, "source", None),
        (1772359203000, "source", None),
        ("1772359204.5", "source", None),
        (12, "order_only", "absurd_time"),
        ("2026-03-01T09:00:00Z", "source", "time_backwards"),
    ]
    records = [user(number, f"t{number}", timestamp=at) for number, (at, _, _) in enumerate(told)]
    outcome = imported(lines_of(*records))
    turns = outcome.of("turn.user")
    assert [event.time_basis for event in turns] == [basis for _, basis, _ in told]
    for before, event, (at, basis, anomaly) in zip([turns[0], *turns], turns, told, strict=False):
        if basis == "order_only":
            assert event.occurred_at == before.occurred_at
            assert ("source_time" in event.data) == (anomaly is not None), at
    found: dict[str, int] = {}
    for _, _, anomaly in told:
        if anomaly:
            found[anomaly] = found.get(anomaly, 0) + 1
    assert outcome.counts.anomalies == found
    assert outcome.counts.first == datetime(2026, 3, 1, 9, tzinfo=UTC)


def test_records_before_the_first_time_take_it() -> None:
    early = [user(number, f"early {number}", timestamp=None) for number in range(1, 4)]
    outcome = imported(lines_of(*early, user(5, "timed")))
    assert {event.occurred_at for event in outcome.events} == {outcome.counts.first}
    assert outcome.of("turn.user")[0].time_basis == "order_only"
    many = [user(number, f"early {number}", timestamp=None) for number in range(1, 200)]
    assert imported(lines_of(*many)).events[0].occurred_at == RUN_TIME


def test_big_numbers_and_floats_are_admitted() -> None:
    body = json.dumps(agent(1, call("F", "x", big=2**70, small=0.5, nan=float("nan")))).encode()
    (started,) = imported(body).of("tool.started")
    assert started.data["arguments"] == {"big": str(2**70), "small": 0.5, "nan": "nan"}
