"""Long texts leave a value as references, and nothing else about the value changes."""

import hashlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.contracts.errors import MalformedMessage, PayloadTooLarge
from domain.contracts.payloads import INLINE_BYTES, Artifact, bounded, check_out, size_of

LONG = "é" * 9000

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=40),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=20,
)


def restored(value: Any, bodies: dict[str, bytes]) -> Any:
    if isinstance(value, dict):
        if value.keys() == {"artifact", "bytes", "preview"}:
            return bodies[value["artifact"]].decode()
        return {key: restored(item, bodies) for key, item in value.items()}
    return [restored(item, bodies) for item in value] if isinstance(value, list) else value


def test_a_long_text_becomes_a_reference_wherever_it_stands() -> None:
    value = {"events": [{"data": {"output": LONG, "short": "x"}}, [LONG + "!"]], "n": 1}
    checked, bodies = check_out(value)
    body = LONG.encode()
    output = checked["events"][0]["data"]["output"]
    assert output == {"artifact": hashlib.sha256(body).hexdigest(), "bytes": 18_000, "preview": LONG[:2000]}
    assert Artifact.model_validate(output).bytes == 18_000
    assert checked["events"][0]["data"]["short"] == "x"
    assert bodies == [body, body + b"!"]
    assert value["events"][0]["data"]["output"] == LONG, "the caller's value is its own"


def test_the_same_text_twice_is_one_body() -> None:
    checked, bodies = check_out([LONG, LONG])
    assert checked[0] == checked[1]
    assert len(bodies) == 1


@pytest.mark.parametrize(
    ("text", "leaves"),
    [
        ("x" * INLINE_BYTES, False),
        ("x" * (INLINE_BYTES + 1), True),
        ("é" * 8192, False),
        ("é" * 8193, True),
        ("", False),
    ],
)
def test_the_limit_is_in_bytes_and_inclusive(text: str, leaves: bool) -> None:
    assert bool(check_out({"t": text}).bodies) is leaves


def test_checking_out_again_changes_nothing() -> None:
    once = check_out({"a": LONG, "b": ["x", LONG]}).value
    assert check_out(once) == (once, [])


def test_a_lone_surrogate_does_not_break_the_body() -> None:
    checked, bodies = check_out("\ud800" + LONG)
    assert bodies == [b"?" + LONG.encode()]
    assert checked["artifact"] == hashlib.sha256(bodies[0]).hexdigest()


@given(JSON)
def test_references_and_bodies_together_are_the_value(value: Any) -> None:
    checked, bodies = check_out(value, limit=8)
    assert restored(checked, {hashlib.sha256(body).hexdigest(): body for body in bodies}) == value


def test_a_bomb_of_brackets_gets_a_sentence() -> None:
    bomb: list[Any] = []
    for _ in range(100_000):
        bomb = [bomb]
    with pytest.raises(MalformedMessage, match="nested too deeply; flatten it"):
        check_out(bomb)


def test_a_value_over_its_limit_is_refused_with_what_to_do() -> None:
    value = {"events": ["é" * 100]}
    assert size_of(value) == len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()) == 215
    assert bounded(value, 215, "batch") == 215
    with pytest.raises(
        PayloadTooLarge, match=r"the batch takes 215 bytes as JSON and 214 are allowed.*temporality-client"
    ):
        bounded(value, 214, "batch")
