"""A model's answer is data: candidates and a list of what was none, whatever it holds."""

from __future__ import annotations

import json
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.extraction.candidate import Candidate, answer_schema, parse_candidates
from domain.extraction.versions import EXTRACTOR, extraction_id, producer

GOOD = {
    "kind": "claim",
    "proposition": "`x` fails.",
    "evidence": [{"event_id": "e1", "quote": "x fails"}],
    "confidence": "0.8",
}


def test_a_good_answer_is_read_in_both_forms() -> None:
    for answer in ({"candidates": [GOOD], "provider": "p"}, [GOOD]):
        valid, invalid = parse_candidates(json.dumps(answer))
        assert invalid == () and valid == (Candidate.model_validate_json(json.dumps(GOOD)),)
    assert parse_candidates(b'{"candidates": []}') == ((), ())


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        ("", "not_json"),
        ("Here are the candidates: []", "not_json"),
        ('{"candidates": [', "not_json"),
        (b"\xff\xfe\x00", "not_json"),
        ("[" * 100_000, "not_json"),
        ("3", "wrong_shape"),
        ("null", "wrong_shape"),
        ('{"claims": []}', "wrong_shape"),
        ('{"candidates": {"kind": "claim"}}', "wrong_shape"),
        ("[null]", "invalid_candidate"),
        ('["text"]', "invalid_candidate"),
        ("[[]]", "invalid_candidate"),
    ],
)
def test_what_is_no_candidate_is_listed(raw: str | bytes, code: str) -> None:
    valid, invalid = parse_candidates(raw)
    assert valid == () and [item.reason_code for item in invalid] == [code]
    assert invalid[0].reason and len(invalid[0].proposition) <= 200


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "truth"},
        {"proposition": ""},
        {"proposition": 5},
        {"proposition": "x" * 2001},
        {"evidence": None},
        {"evidence": "e1"},
        {"evidence": [{"event_id": 7}]},
        {"evidence": [{"quote": "x"}]},
        {"evidence": [{"event_id": "e"}] * 21},
        {"confidence": 0.8},
        {"confidence": "high"},
        {"confidence": "1.5"},
        {"state": "confirmed"},
    ],
)
def test_a_wrong_field_spoils_its_candidate_and_no_other(change: dict[str, Any]) -> None:
    valid, invalid = parse_candidates(json.dumps({"candidates": [GOOD, GOOD | change, GOOD]}))
    assert len(valid) == 2 and [item.reason_code for item in invalid] == ["invalid_candidate"]
    assert next(iter(change)) in invalid[0].reason


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*GOOD, "x"]), inner, max_size=4),
    max_leaves=8,
)


@given(items=st.lists(VALUES | st.just(GOOD), max_size=5))
def test_every_item_is_accounted_for(items: list[Any]) -> None:
    valid, invalid = parse_candidates(json.dumps({"candidates": items}))
    assert len(valid) + len(invalid) == len(items)
    assert sum(item == GOOD for item in items) <= len(valid)


def test_the_published_schema_takes_what_the_reader_takes() -> None:
    schema = jsonschema_rs.validator_for(answer_schema())
    assert schema.is_valid({"candidates": [GOOD]})
    assert not schema.is_valid({"candidates": [GOOD | {"kind": "truth"}]})
    assert not schema.is_valid({"candidates": [GOOD | {"topics": ["a"]}]})


def test_an_extraction_is_named_by_its_trajectory_and_version() -> None:
    assert extraction_id("t") == extraction_id("t", EXTRACTOR) != extraction_id("t", "knowledge-extractor.v2")
    assert extraction_id("t") != extraction_id("u")
    assert producer() == ("knowledge-extractor", "v1")
