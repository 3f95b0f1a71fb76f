"""Canonical bytes are RFC 8785's, in the fast way and in the slow one, and what JSON cannot carry is spelt, not lost."""

import hashlib
import json
import math
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import orjson
import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from domain.journal.canonical import MAX_INTEGER, NotAdmitted, admit, canonical, is_plain, plainly
from domain.journal.chain import GENESIS, link
from domain.journal.event import Event, id_refusal, stamp
from domain.projections.batch import prepare
from tests.support.events import NOON, happened

texts = st.text(max_size=20)
integers = st.integers(-MAX_INTEGER, MAX_INTEGER)
scalars = st.none() | st.booleans() | integers | texts | st.floats(-MAX_INTEGER, MAX_INTEGER)
documents = st.dictionaries(
    texts,
    st.recursive(scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4)),
    max_size=5,
)
wild = st.recursive(
    scalars | st.integers() | st.floats() | st.text(st.characters(), max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(st.characters(), max_size=8), inner, max_size=4)
    ),
)


@given(documents)
def test_what_json_can_carry_is_written_as_rfc_8785_writes_it(document: dict[str, Any]) -> None:
    assert canonical(document) == rfc8785.dumps(document)


@given(documents)
def test_the_fast_way_is_taken_only_where_reading_back_gives_the_document(document: dict[str, Any]) -> None:
    body = plainly(document) if is_plain(document) else None
    if body is not None:
        assert body == rfc8785.dumps(document)
        assert orjson.loads(body) == document


@given(st.dictionaries(st.text(st.characters(), max_size=8), wild, max_size=4))
def test_anything_json_like_has_one_form_that_is_stable_when_read_back(document: dict[str, Any]) -> None:
    body = canonical(document)
    assert canonical(json.loads(body)) == body


def test_what_cannot_be_carried_is_spelt() -> None:
    told = {"big": 2**70, "large": 1e20, "nan": math.nan, "inf": -math.inf, "half": "\ud800!", 1: "key"}
    assert json.loads(canonical(told)) == {
        "big": str(2**70),
        "large": "1e+20",
        "nan": "nan",
        "inf": "-inf",
        "half": "\ufffd!",
        "1": "key",
    }


def test_astral_pairs_written_as_surrogates_are_one_character() -> None:
    assert admit("\ud83d\ude00") == "😀"


def test_too_deep_is_refused_with_what_to_do() -> None:
    deep: Any = "x"
    for _ in range(70):
        deep = [deep]
    with pytest.raises(NotAdmitted, match="64 levels; flatten it"):
        canonical({"data": deep})


def test_a_value_without_json_form_is_refused() -> None:
    with pytest.raises(NotAdmitted, match="type bytes has no JSON form"):
        canonical({"data": b"x"})


@given(st.dictionaries(texts, scalars | st.floats() | st.integers(), max_size=4), texts)
def test_what_is_folded_is_what_is_read_back(data: dict[str, Any], workspace: str) -> None:
    item = prepare(happened("p", "a", "custom.thing", data=data, workspace=workspace))
    again = Event.from_document(orjson.loads(item.body))
    assert item.read == again
    assert prepare(item.read).body == item.body


@pytest.mark.parametrize(
    ("at", "stamped"),
    [
        (datetime(1, 1, 1, tzinfo=UTC), "0001-01-01T00:00:00.000000Z"),
        (datetime(987, 6, 5, tzinfo=UTC), "0987-06-05T00:00:00.000000Z"),
        (datetime(2026, 3, 1, 12, 0, 0, 5, timezone(timedelta(hours=5, minutes=30))), "2026-03-01T06:30:00.000005Z"),
        (datetime(9999, 12, 31, 23, 59, 59, 999999, UTC), "9999-12-31T23:59:59.999999Z"),
    ],
)
def test_one_instant_has_one_spelling_that_is_read_back(at: datetime, stamped: str) -> None:
    assert stamp(at) == stamped
    assert datetime.fromisoformat(stamped) == at


def test_a_time_without_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="without zone"):
        stamp(datetime(2026, 1, 1))  # noqa: DTZ001


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"operation_id": "a\x00b"}, "context.operation_id: it holds U+0000"),
        ({"frame": "\udc00"}, "context.frame: it holds half a surrogate pair"),
        ({"task": "ж" * 600}, "context.task: it takes 1200 bytes and 1024 are allowed"),
    ],
)
def test_an_id_no_column_holds_is_refused(fields: dict[str, str], says: str) -> None:
    refusal = id_refusal(happened("p", "a", **fields))
    assert refusal is not None
    assert refusal.startswith(says)
    with pytest.raises(NotAdmitted):
        prepare(happened("p", "a", **fields))


def test_hostile_but_storable_ids_are_left_alone() -> None:
    for strange in ("a/b", "line\nbreak", "x" * 1024, "ж" * 512, "'; DROP TABLE x; --", "\ufffd"):
        assert id_refusal(happened("p", strange)) is None


def test_the_chain_covers_place_time_and_content() -> None:
    content = hashlib.sha256(b"body").digest()
    first = link(GENESIS, 1, NOON, content)
    microseconds = int(NOON.timestamp()) * 1_000_000
    said = GENESIS + (1).to_bytes(8, "big") + microseconds.to_bytes(8, "big") + content
    assert first == hashlib.sha256(said).digest()
    others = (
        link(first, 1, NOON, content),
        link(GENESIS, 2, NOON, content),
        link(GENESIS, 1, NOON + timedelta(microseconds=1), content),
    )
    assert len({first, *others}) == 4
