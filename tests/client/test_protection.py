"""What leaves a caller: no secret, no long text, every origin hashed, and every protocol field as it was."""

import copy
import hashlib
import json
from typing import Any

import pytest

from client.protection import Protection, redacted
from domain.contracts.errors import PayloadTooLarge
from domain.contracts.origin import origin_hash, with_origins
from domain.contracts.redaction import Redactor
from tests.client.conftest import TEST_KEY
from tests.support.artifacts.memory import MemoryArtifactStore

CANARY = "sk-ant-api03-" + "Qm7Lz2Xw9Rt4Vb8Nc1Kd6Hf3Jg5Ps0Ya" * 3
RANDOM_ID = "Zk3vQ9xLm2Rt7Yp4Wc8Bn1Hd6Jf5Gs0A"
EVENT = {
    "event_id": RANDOM_ID,
    "occurred_at": "2026-01-02T03:04:05Z",
    "source": {"id": RANDOM_ID, "integration": "sdk"},
    "context": {
        "run": RANDOM_ID,
        "operation_id": RANDOM_ID,
        "actor": {"id": f"agent:acme:{RANDOM_ID}", "type": "agent"},
    },
    "type": "tool.completed",
    "caused_by": [RANDOM_ID],
    "evidence": [{"ref": RANDOM_ID, "content_hash": "b" * 64}],
    "data": {"tool": "bash", "output": f"key is {CANARY}", "env": {"password": "correct-horse-7"}},
}


def protection(store: MemoryArtifactStore | None = None, key: bytes | None = TEST_KEY) -> Protection:
    return Protection(redactor=Redactor(TEST_KEY), key=key, store=store)


async def test_a_secret_is_nowhere_in_what_leaves() -> None:
    places = [
        {"events": [{**EVENT, "data": {"deep": [[{"text": f"--token={CANARY}"}]]}}]},
        {"title": f"use {CANARY}", "project": "p"},
        {"raw": {"actor": CANARY, "decision_id": CANARY}},
        {f"{CANARY}": 1},
        [f"{CANARY} and text"],
        f"say {CANARY}",
    ]
    for place in places:
        left = await protection().protect(place, "p")
        assert CANARY not in json.dumps(left)
        assert "[redacted:" in json.dumps(left)


async def test_protocol_fields_are_left_as_they_are() -> None:
    before = copy.deepcopy(EVENT)
    left = await protection().protect_event(EVENT, "p")
    assert before == EVENT, "the caller's event is its own"
    assert CANARY not in json.dumps(left)
    assert "correct-horse-7" not in json.dumps(left)
    kept = {name: value for name, value in left.items() if name not in ("data", "origin_hash")}
    assert kept == {name: value for name, value in before.items() if name != "data"}


def test_only_what_looks_like_an_id_is_a_protocol_field() -> None:
    said = {"run": f"the key is {CANARY}", "task": {"text": CANARY}, "caused_by": [f"x {CANARY}"]}
    assert CANARY not in json.dumps(redacted(said, Redactor(TEST_KEY)))


def test_a_producers_own_data_has_no_protocol_fields() -> None:
    assert CANARY not in json.dumps(redacted({"data": {"id": CANARY, "run": CANARY}}, Redactor(TEST_KEY)))


async def test_protecting_again_changes_nothing() -> None:
    store = MemoryArtifactStore()
    batch = {"batch_id": "b", "events": [{**EVENT, "data": {"output": f"{CANARY} " * 600, "note": CANARY}}, None, 5]}
    once = await protection(store).protect(batch, "p")
    assert await protection(store).protect(once, "p") == once
    [body] = store.bodies.values()
    assert CANARY.encode() not in body


async def test_a_long_text_is_put_away_for_the_project() -> None:
    store = MemoryArtifactStore()
    left = await protection(store).protect({"data": {"output": "é" * 10_000}}, "p")
    body = ("é" * 10_000).encode()
    assert left["data"]["output"]["artifact"] == hashlib.sha256(body).hexdigest()
    assert store.bodies == {("p", left["data"]["output"]["artifact"]): body}


async def test_a_long_text_without_a_store_is_refused_with_the_setting_to_set() -> None:
    with pytest.raises(
        PayloadTooLarge, match="a text of 20,000 bytes needs an artifact store; set TEMPORALITY_ARTIFACTS"
    ):
        await protection().protect({"text": "x" * 20_000}, "p")
    with pytest.raises(PayloadTooLarge, match="belongs to no project's workflow"):
        await protection(MemoryArtifactStore()).protect({"text": "x" * 20_000}, None)


async def test_the_origin_is_what_was_said_before_anything_was_taken_out() -> None:
    store = MemoryArtifactStore()
    event = {**EVENT, "data": {"output": CANARY + "x" * 20_000}}
    left = await protection(store).protect({"events": [event]}, "p")
    assert left["events"][0]["origin_hash"] == origin_hash(TEST_KEY, event)
    again = await protection(store).protect(left, "p")
    assert again["events"][0]["origin_hash"] == origin_hash(TEST_KEY, event)


async def test_without_the_key_no_origin_is_sent() -> None:
    left = await protection(key=None).protect({"events": [EVENT]}, "p")
    assert "origin_hash" not in left["events"][0]


@pytest.mark.parametrize(
    ("value", "stamped"),
    [
        ({"events": [{"event_id": "e"}]}, True),
        ({"batch_id": "b", "events": [{"event_id": "e"}]}, True),
        ({"opening": {}, "events": [{"event_id": "e"}], "at": "now"}, True),
        ({"recorded": 1, "duplicates": 0, "refused": 0, "events": [{"index": 0, "status": "recorded"}]}, False),
        ({"events": {"a": 1}}, False),
        ({"batch_id": "b"}, False),
        (None, False),
    ],
)
def test_only_what_is_recorded_gets_origins(value: Any, stamped: bool) -> None:
    after = with_origins(TEST_KEY, value)
    assert (after != value) is stamped
    assert ("origin_hash" in json.dumps(after)) is stamped


def test_the_origin_does_not_depend_on_the_order_of_keys_and_does_on_everything_else() -> None:
    assert origin_hash(TEST_KEY, {"a": 1, "b": [True, None]}) == origin_hash(TEST_KEY, {"b": [True, None], "a": 1})
    hashes = {
        origin_hash(key, record)
        for key in (TEST_KEY, TEST_KEY + b"!")
        for record in ({"a": 1}, {"a": "1"}, {"a": 1.5}, {"a": None}, {}, {"a": "\ud800"}, [{"a": 1}])
    }
    assert len(hashes) == 14
    assert all(len(one) == 64 for one in hashes)
