"""Whatever is done to a file: no reader raises, every line is accounted for, every event would be taken at the door."""

from __future__ import annotations

import io
import random
from typing import Any

import orjson
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from activities.importers.recognise import READERS, NotATranscript, recognise
from domain.runs.transcript import Fact, Limits, Refused, TranscriptReader
from tests.activities.importers.reading import fixture, imported, lines_of
from tests.activities.importers.sessions import session

SESSION = lines_of(*session())
BODIES = [SESSION, *(fixture(name) for name in ("steps.traj", "results.json", "events.json", "completion.json"))]
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
quick = settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow])


def _bytes(value: Any) -> bytes:
    try:
        return orjson.dumps(value)
    except TypeError:
        return b""


def mutate(body: bytes, seed: int) -> bytes:
    """Cut, doubled, swapped and overwritten bytes and lines."""
    rng = random.Random(seed)
    for _ in range(rng.randint(1, 6)):
        at, to = sorted(rng.randrange(len(body) + 1) for _ in range(2))
        match rng.randrange(5):
            case 0:
                body = body[:at]
            case 1:
                body = body[:at] + body[to:]
            case 2:
                body = body[:to] + body[at:to] + body[to:]
            case 3:
                body = body[:at] + rng.randbytes(rng.randint(1, 8)) + body[at:]
            case _:
                lines = body.split(b"\n")
                rng.shuffle(lines)
                body = b"\n".join(lines)
    return body


def check_lines(reader: TranscriptReader, body: bytes) -> None:
    """Each line that is not blank is one record with facts, or is refused."""
    facts: list[Fact] = []
    refused: list[Refused] = []
    for item in reader.read(io.BytesIO(body), Limits()):
        if isinstance(item, Fact) and not item.closing:
            facts.append(item)
        elif isinstance(item, Refused):
            refused.append(item)
    lines = [line.strip() for line in body.removeprefix(b"\xef\xbb\xbf").split(b"\n")]
    expected = [line for line in lines if line]
    records = [fact.raw for place, fact in enumerate(facts) if place == 0 or facts[place - 1].raw is not fact.raw]
    assert len(records) + len(refused) == len(expected)
    places = iter(expected)
    assert all(any(raw == line for line in places) for raw in records), "records come in the order of the file"


@given(st.sampled_from(BODIES), st.integers(0, 2**32))
@quick
def test_mutated_files_never_raise(body: bytes, seed: int) -> None:
    mutated = mutate(body, seed)
    found = recognise(mutated[: 64 * 1024])
    if isinstance(found, NotATranscript):
        assert found.reason
    else:
        imported(mutated)


@given(st.integers(0, 2**32))
@quick
def test_every_line_of_a_mutated_session_is_accounted_for(seed: int) -> None:
    mutated = mutate(SESSION, seed)
    found = recognise(mutated[: 64 * 1024])
    if not isinstance(found, NotATranscript) and found.format == "claude-code":
        check_lines(found, mutated)


@given(st.sampled_from(READERS), st.binary(max_size=300) | json_values.map(_bytes))
@example(READERS[0], b"")
@quick
def test_no_reader_raises_on_anything(reader: TranscriptReader, body: bytes) -> None:
    reader.sniff(body)
    list(reader.read(io.BytesIO(body), Limits()))


@given(st.data())
@quick
def test_records_with_fields_of_any_type_are_kept(data: st.DataObject) -> None:
    records = session()
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(records) - 1))
        held: Any = records[place]
        if data.draw(st.booleans()) and isinstance(held.get("message"), dict):
            held = held["message"]
            blocks = held.get("content")
            if data.draw(st.booleans()) and isinstance(blocks, list) and blocks and isinstance(blocks[0], dict):
                held = blocks[0]
        key = data.draw(st.sampled_from(sorted(held) or ["type"]))
        held[key] = data.draw(json_values)
    body = lines_of(*_writable(records))
    reader = READERS[0]
    check_lines(reader, body)
    if not isinstance(recognise(body), NotATranscript):
        imported(body)


def _writable(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [record if _bytes(record) else {"type": "user"} for record in records]


@given(st.data(), st.sampled_from(["results.json", "events.json", "completion.json", "steps.traj"]))
@quick
def test_documents_with_values_of_any_type_never_raise(data: st.DataObject, name: str) -> None:
    whole = orjson.loads(fixture(name))
    for _ in range(data.draw(st.integers(1, 4))):
        held = whole
        while isinstance(held, dict | list) and held:
            keys: list[Any] = sorted(held) if isinstance(held, dict) else list(range(len(held)))
            key = data.draw(st.sampled_from(keys))
            if not isinstance(held[key], dict | list) or not held[key] or data.draw(st.integers(0, 3)) == 0:
                held[key] = data.draw(json_values)
                break
            held = held[key]
    body = _bytes(whole)
    if body and not isinstance(recognise(body), NotATranscript):
        imported(body, name)


@given(st.integers(1, 40), st.integers(0, 2**32))
@quick
def test_a_prefix_of_lines_is_a_prefix_of_events(end: int, seed: int) -> None:
    lines = mutate(SESSION, seed).split(b"\n")
    long, short = b"\n".join(lines) + b"\n", b"\n".join(lines[:end]) + b"\n"
    if isinstance(recognise(short), NotATranscript) or isinstance(recognise(long), NotATranscript):
        return
    whole = {event.key: event for event in imported(long).events}
    copy = imported(short)
    if any(closing.native is None for closing in copy.closings):
        return  # a copy too short to hold a session's id is a run of its own
    for event in copy.events:
        if event.sequence is not None:
            assert event.key in whole and whole[event.key].origin_hash == event.origin_hash
