"""What an observed run hands in is answered event by event: recorded, duplicate, or refused with a sentence, and the rest is recorded."""

import math
import random
from typing import Any

import pytest

from activities.postgres.rebuild import rebuild
from activities.postgres.verify import verify
from domain.contracts.observed_run import Complete, RecordAnswer
from domain.contracts.origin import origin_hash
from domain.ports.recording import CLOSE_RUN, RECORD_EVENTS, CloseRequest, RecordRequest, RunOpening
from tests.support.events import NOON
from tests.support.installation import ORIGIN_KEY, Installation

# a key of a well-known form, made for this test
SECRET = "sk-ant-" + "api03-" + "Zk3vQx81LmTb7Yc5RwHn2PdEs9Ju4GaVfXo6Ki0BtMhCy"


def opening(project: str, **fields: Any) -> RunOpening:
    return RunOpening.model_validate({"project": project, "run": "r1", "at": NOON, "workspace": "/repo", **fields})


async def record(installation: Installation, project: str, *events: Any, **fields: Any) -> RecordAnswer:
    request = RecordRequest(opening=opening(project, **fields), events=list(events), at=NOON)
    return await installation.call(RECORD_EVENTS, request)


def said(event_id: str, **fields: Any) -> dict[str, Any]:
    return {"event_id": event_id, "type": "turn.user", "data": {"text": event_id}, **fields}


def deep(levels: int) -> Any:
    value: Any = "x"
    for _ in range(levels):
        value = [value]
    return value


async def test_a_batch_is_answered_event_by_event(installation: Installation, project: str) -> None:
    answer = await record(installation, project, said("a"), said("b"), said("a"))
    assert [(item.index, item.event_id, item.status, item.seq) for item in answer.events] == [
        (0, "a", "recorded", 2), (1, "b", "recorded", 3), (2, "a", "duplicate", 2),
    ]  # fmt: skip
    assert (answer.recorded, answer.duplicates, answer.refused) == (2, 1, 0)
    again = await record(installation, project, said("a"), said("b"))
    assert (again.recorded, again.duplicates) == (0, 2)
    types = installation.rows("SELECT type FROM journal.events WHERE project_id = %s ORDER BY seq", project)
    assert types == [("run.opened",), ("turn.user",), ("turn.user",)]


WRONG: dict[str, tuple[Any, str]] = {
    "null": (None, "an event is a JSON object, not null"),
    "a string": ("hello", "an event is a JSON object, not str"),
    "a list": ([1, 2], "an event is a JSON object, not list"),
    "a number": (7, "an event is a JSON object, not int"),
    "nothing in it": ({}, "event_id: Field required"),
    "an unknown field": (said("x", colour="red"), "colour: Extra inputs are not permitted"),
    "an id that is no text": (said("x") | {"event_id": 7}, "event_id: Input should be a valid string"),
    "an empty id": (said(""), "event_id: String should have at least 1 character"),
    "a long id": (said("x" * 2000), "event_id: String should have at most 512 characters"),
    "an id with U+0000": (said("a\x00b"), "event_id: it holds U+0000"),
    "half a surrogate pair": (
        said("x", context={"operation_id": "\ud800"}),
        "context.operation_id: it holds half a surrogate pair",
    ),
    "half a pair as its id": (said("\udfff"), "event_id: it holds half a surrogate pair"),
    "half a pair as its source": (said("x", source={"id": "\udfff"}), "source.id: it holds half a surrogate pair"),
    "a context that is a list": (said("x", context=[1]), "context: Input should be a valid dictionary"),
    "another project": (said("x", context={"project": "elsewhere"}), "it names project `elsewhere`"),
    "another run": (said("x", context={"run": "r2"}), "and run `r2`; this is run `r1`"),
    "no run": (said("x", context={"run": None}), "and run `none`"),
    "a reserved source": (said("x", source={"id": "temporality/kernel-heuristic"}), "is reserved for the system"),
    "an actor that is none": (
        said("x", context={"actor": {"id": "me", "type": "human"}}),
        "context.actor.id: String should match",
    ),
    "a time without zone": (
        said("x", occurred_at="2026-03-01T12:00:00"),
        "occurred_at: Input should have timezone info",
    ),
    "a time that is none": (said("x", occurred_at="yesterday"), "occurred_at: Input should be a valid datetime"),
    "a time before all time": (said("x", occurred_at="0001-01-01T00:00:00+05:00"), "outside the years 1 to 9999"),
    "a time after all time": (said("x", occurred_at="9999-12-31T23:59:59-05:00"), "outside the years 1 to 9999"),
    "a guarded family": (said("x", type="knowledge.confirmed"), "is written by domain commands only"),
    "an unknown type of it": (said("x", type="knowledge.whatever"), "is written by domain commands only"),
    "the opening": (said("x", type="run.opened"), "`run.opened` is written by the system"),
    "the closing": (said("x", type="run.closed"), "end it with `complete`"),
    "a type that is none": (said("x", type="Turn User"), "type: String should match pattern"),
    "data that is a list": (said("x", data=[1]), "data: Input should be a valid dictionary"),
    "a wrong field of it": (said("x", type="tool.started", data={"tool": 7}), "tool: Input should be a valid string"),
    "a version of tomorrow": (said("x", type_version=4), "newer than this installation knows"),
    "too deep": (said("x", data={"text": "x", "deep": deep(90)}), "nested deeper than 64 levels; flatten it"),
    "far too deep": (said("x", data={"deep": deep(900)}), "nested deeper than 64 levels"),
    "a huge sequence": (said("x", context={"sequence": 10**40}), "context.sequence"),
    "a boundless key": (said("x") | {"k" * 40_000: 1}, "Extra inputs are not permitted"),
}


@pytest.mark.parametrize("name", WRONG)
async def test_what_is_wrong_with_one_event_refuses_that_event_only(
    installation: Installation, project: str, name: str
) -> None:
    raw, sentence = WRONG[name]
    answer = await record(installation, project, said("before"), raw, said("after"))
    assert [item.status for item in answer.events] == ["recorded", "refused", "recorded"]
    assert sentence in (answer.events[1].reason or "")
    assert len(answer.events[1].reason or "") < 400
    RecordAnswer.model_validate_json(answer.model_dump_json())


async def test_every_wrong_thing_at_once_loses_nothing_else(
    installation: Installation, project: str, rng: random.Random
) -> None:
    batch = [raw for raw, _ in WRONG.values()] + [said(f"good-{i}") for i in range(20)]
    rng.shuffle(batch)
    answer = await record(installation, project, *batch)
    assert (answer.recorded, answer.refused) == (20, len(WRONG))
    assert (await verify(installation.database, project, full=True)).ok
    assert (await rebuild(installation.database, project)).identical


async def test_odd_but_lawful_content_is_kept_and_rebuilds(installation: Installation, project: str) -> None:
    odd: dict[str, Any] = {
        "nan": math.nan,
        "inf": math.inf,
        "big": 10**400,
        "minus": -(2**63),
        "float": 1.0,
        "nul": "\x00",
        "half": "\udfff",
    }
    odd["ключ"] = {"": None}
    call = {"context": {"operation_id": "op"}}
    answer = await record(
        installation, project, said("a", data={"text": "odd", **odd}), said("custom", type="weather.changed", data=odd),
        said("s", type="tool.started", data={"tool": "ba\x00sh", "command": "make test"}, **call),
        said("e", type="tool.completed", data={"tool": "bash", "exit_code": 10**30}, **call),
        said("e2", type="tool.completed", data={"tool": "bash", "exit_code": 0.0}, context={"operation_id": "op2"}),
        said("hostile/../\n id"), said("old", occurred_at="0007-01-01T00:00:00Z"), said("before epoch", occurred_at=-5),
    )  # fmt: skip
    assert [item.reason for item in answer.events if item.status != "recorded"] == []
    assert (await verify(installation.database, project, full=True)).problems == []
    assert (await rebuild(installation.database, project)).identical


async def test_other_content_under_a_recorded_id_names_its_place(installation: Installation, project: str) -> None:
    await record(installation, project, said("a"))
    answer = await record(installation, project, said("a", data={"text": "other"}), said("b"))
    assert [item.status for item in answer.events] == ["refused", "recorded"]
    assert answer.events[0].reason == "event a of this source is recorded as 2 with other content; give it its own id"


async def test_a_client_with_the_key_and_one_without_say_the_same_event(
    installation: Installation, project: str
) -> None:
    event = said("a", data={"text": f"token {SECRET}"})
    redacted = said("a", data={"text": "token [redacted]"}, origin_hash=origin_hash(ORIGIN_KEY, event))
    await record(installation, project, redacted)
    assert (await record(installation, project, event)).duplicates == 1


async def test_an_origin_hash_that_is_none_is_not_believed(installation: Installation, project: str) -> None:
    for odd in ("zz", 7, None, ["ab" * 32], "AB" * 32):
        assert (await record(installation, project, said("a", origin_hash=odd))).refused == 0
    assert installation.rows("SELECT count(*) FROM journal.events WHERE project_id = %s", project) == [(2,)]


async def test_a_secret_of_a_bare_client_is_not_in_postgres(installation: Installation, project: str) -> None:
    quote = {"ref": "a", "type": "user_statement", "quote": f"it said {SECRET}"}
    await record(
        installation, project, said("a", data={"text": SECRET, "deep": [{"token": SECRET}], SECRET: 1}, evidence=[quote]),
        said("b", type="tool.started", data={"tool": "bash", "command": f"curl -H 'x-api-key: {SECRET}'"},
             context={"operation_id": "op", "workspace": f"/home/{SECRET}"}), title=f"Run with {SECRET}",
    )  # fmt: skip
    close = CloseRequest(opening=opening(project), complete=Complete(reason=f"over {SECRET}", result=SECRET), at=NOON)
    await installation.call(CLOSE_RUN, close)
    dump = repr(
        installation.rows("SELECT convert_from(body, 'UTF8') FROM journal.events WHERE project_id = %s", project)
    )
    for table in ("runs", "operations", "frames"):
        dump += repr(installation.rows(f"SELECT t::text FROM projection.{table} t WHERE project_id = %s", project))
    assert "redacted" in dump
    assert SECRET not in dump


async def test_long_texts_become_references_whose_bodies_are_kept(installation: Installation, project: str) -> None:
    text = "a line of output\n" * 2_000
    await record(installation, project, said("a", data={"text": text}))
    [(body,)] = installation.rows(
        "SELECT convert_from(body, 'UTF8') FROM journal.events WHERE project_id = %s AND event_id = 'a'", project
    )
    sha256 = body.partition('"artifact":"')[2][:64]
    assert await installation.artifacts.get(project, sha256) == text.encode()
    assert len(body) < 4_000


async def test_a_run_closes_once_for_each_trajectory(installation: Installation, project: str) -> None:
    await record(installation, project, said("a"))
    request = CloseRequest(opening=opening(project), complete=Complete(outcome="failed", reason="it broke"), at=NOON)
    first = await installation.call(CLOSE_RUN, request)
    again = await installation.call(CLOSE_RUN, request.model_copy(update={"complete": Complete(outcome="completed")}))
    assert (first.outcome, again) == ("failed", first)
    await record(installation, project, said("b"))
    later = await installation.call(CLOSE_RUN, request.model_copy(update={"complete": Complete(outcome="completed")}))
    assert (later.outcome, later.trajectory == first.trajectory) == ("completed", False)
    assert installation.rows("SELECT closes, state FROM projection.runs WHERE project_id = %s", project) == [
        (2, "completed")
    ]


async def test_a_run_that_recorded_nothing_closes_too(installation: Installation, project: str) -> None:
    request = CloseRequest(opening=opening(project), complete=Complete(outcome="abandoned"), at=NOON)
    assert (await installation.call(CLOSE_RUN, request)).outcome == "abandoned"


async def test_an_event_that_takes_the_openings_id_changes_no_answer(installation: Installation, project: str) -> None:
    await record(installation, project, said("a"))
    [(opened,)] = installation.rows(
        "SELECT event_id FROM journal.events WHERE project_id = %s AND type = 'run.opened'", project
    )
    answer = await record(installation, project, said(opened), said("b"))
    assert [item.status for item in answer.events] == ["refused", "recorded"]
