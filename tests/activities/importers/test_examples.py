"""The laws every format keeps, on the examples of each: one reader, the same events again, a longer copy holds the
shorter, and nothing that is done to a file makes a reader raise.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from activities.importers.peek import HEAD_BYTES
from activities.importers.recognise import READERS, NotATranscript, recognise
from domain.runs.transcript import HINT_CLOSE, HINT_OPEN, Fact, Limits, Refused, RunFound
from tests.activities.importers.reading import imported, reader_of
from tests.activities.importers.test_properties import check_lines, json_values, mutate
from tests.activities.importers.test_sameness import check_longer, said

FOLDER = Path(__file__).resolve().parents[3] / "examples" / "formats"
EXAMPLES = {
    "aider.md": "aider",
    "codex-flat.jsonl": "codex",
    "codex.jsonl": "codex",
    "mini-swe-agent.json": "mini-swe-agent",
    "otlp.jsonl": "otlp",
    "pi.jsonl": "pi",
    "who-and-when.json": "who-and-when",
}
LINES = sorted(name for name in EXAMPLES if name.endswith(".jsonl"))
# one record on each line; a line of spans holds many
RECORDS = [name for name in LINES if EXAMPLES[name] != "otlp"]
DOCUMENTS = sorted(name for name in EXAMPLES if name.endswith(".json"))
quick = settings(max_examples=120, suppress_health_check=[HealthCheck.too_slow])


def example(name: str) -> bytes:
    return (FOLDER / name).read_bytes()


@pytest.mark.parametrize("name", sorted(EXAMPLES))
@pytest.mark.parametrize("spelling", ["as it is", "with a BOM", "with CRLF", "cut in the middle"])
def test_each_example_is_taken_by_one_reader(name: str, spelling: str) -> None:
    body = example(name)
    if spelling == "with a BOM":
        body = b"\xef\xbb\xbf" + body
    elif spelling == "with CRLF":
        body = body.replace(b"\n", b"\r\n")
    elif spelling == "cut in the middle":
        body = body[: len(body) // 2]
    found = recognise(body[:HEAD_BYTES])
    assert not isinstance(found, NotATranscript) and found.format == EXAMPLES[name]
    assert [reader.format for reader in READERS if reader.sniff(body[:HEAD_BYTES])] == [EXAMPLES[name]]
    assert imported(body, name).events or spelling == "cut in the middle"


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_an_example_says_the_same_again_in_other_spellings(name: str) -> None:
    body = example(name)
    once = imported(body, name)
    spellings = [body, b"\xef\xbb\xbf" + body, body.replace(b"\n", b"\r\n")]
    if name in DOCUMENTS:
        spellings.append(orjson.dumps(orjson.loads(body)))
    for spelled in spellings:
        again = imported(spelled, name)
        assert said(once) == said(again)
        assert [event.origin_hash for event in once.events] == [event.origin_hash for event in again.events]


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_an_example_loses_nothing_and_pairs_its_calls(name: str) -> None:
    outcome = imported(example(name), name)
    assert not outcome.refused and outcome.closings
    started = {(event.run, event.operation_id) for event in outcome.events if event.type.endswith(".started")}
    ended = {
        (event.run, event.operation_id)
        for event in outcome.events
        if event.type.startswith(("tool.", "mcp.", "delegation.")) and event.type.endswith((".completed", ".failed"))
    }
    assert ended <= started and not outcome.notes("result_without_call")
    assert len(started - ended) == len(outcome.notes("call_without_result"))


@pytest.mark.parametrize("name", LINES)
def test_a_longer_copy_of_an_example_holds_the_shorter(name: str) -> None:
    lines = example(name).splitlines(keepends=True)
    whole = imported(b"".join(lines), name)
    asked = next(place for place, event in enumerate(whole.events) if event.type == "turn.user")
    for end in range(2, len(lines)):
        short = imported(b"".join(lines[:end]), name)
        if len(short.events) > asked:
            check_longer(short, whole)
    cut = imported(b"".join(lines)[:-20], name)
    assert [item.reason.split(":")[0] for item in cut.refused] == ["cut last line"]
    check_longer(cut, whole)


@given(st.sampled_from(sorted(EXAMPLES)), st.integers(0, 2**32))
@quick
def test_mutated_examples_never_raise(name: str, seed: int) -> None:
    body = mutate(example(name), seed)
    found = recognise(body[:HEAD_BYTES])
    if isinstance(found, NotATranscript):
        assert found.reason
        return
    imported(body, name)
    if name in RECORDS and found.format == EXAMPLES[name]:
        check_lines(found, body)


@given(st.data(), st.sampled_from(sorted({*LINES, *DOCUMENTS})))
@quick
def test_examples_with_values_of_any_type_never_raise(data: st.DataObject, name: str) -> None:
    body = example(name)
    records: Any = [orjson.loads(line) for line in body.splitlines()] if name in LINES else orjson.loads(body)
    for _ in range(data.draw(st.integers(1, 4))):
        held = records
        while isinstance(held, dict | list) and held:
            keys: list[Any] = sorted(held) if isinstance(held, dict) else list(range(len(held)))
            key = data.draw(st.sampled_from(keys))
            if not isinstance(held[key], dict | list) or not held[key] or data.draw(st.integers(0, 3)) == 0:
                held[key] = data.draw(json_values)
                break
            held = held[key]
    try:
        changed = b"".join(orjson.dumps(r) + b"\n" for r in records) if name in LINES else orjson.dumps(records)
    except TypeError:
        return
    reader = reader_of(body)
    if name in RECORDS:
        check_lines(reader, changed)
    list(reader.read(io.BytesIO(changed), Limits()))
    if not isinstance(recognise(changed[:HEAD_BYTES]), NotATranscript):
        imported(changed, name)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_damaged_or_large_document_is_refused_with_a_sentence(name: str) -> None:
    body = example(name)
    cut = imported(body[: len(body) * 2 // 3], name)
    assert not cut.events and "not complete JSON" in cut.refused[0].reason
    large = imported(body, name, Limits(max_document_bytes=200))
    assert not large.events and "TEMPORALITY_MAX_DOCUMENT_BYTES" in large.refused[0].reason


@pytest.mark.parametrize("name", RECORDS)
def test_damaged_lines_of_an_example_are_refused_alone(name: str) -> None:
    lines = example(name).splitlines()
    odd = [b"{]", b"not json at all", b"[" * 100_000, b"nul\x00"]
    body = b"\n".join([*lines[:3], *odd, *lines[3:], b""])
    outcome = imported(body, name)
    assert outcome.ids == imported(example(name), name).ids
    assert [item.where for item in outcome.refused] == [f"line {number}" for number in range(4, 8)]
    assert all("not JSON" in item.reason for item in outcome.refused)


@pytest.mark.parametrize("name", [*RECORDS, *DOCUMENTS])
def test_what_stands_between_hint_marks_is_marked_wherever_it_stands(name: str) -> None:
    """Every text of the example becomes a hint: no turn of the user, no output and no argument without a mark holds it."""
    secret = "the moon is a ledger"

    def hinted(value: Any, key: str = "") -> Any:
        if isinstance(value, dict):
            return {k: hinted(v, k) for k, v in value.items()}
        if isinstance(value, list):
            return [hinted(item, key) for item in value]
        spoken = key in ("text", "content", "message", "output", "thinking") and isinstance(value, str)
        return f"{HINT_OPEN}{secret}{HINT_CLOSE}" if spoken and " " in value else value

    lines = example(name).splitlines() if name in LINES else [example(name)]
    body = b"\n".join(orjson.dumps(hinted(orjson.loads(line))) for line in lines) + b"\n"
    outcome = imported(body, name)
    assert any(event.data.get("hint") is True for event in outcome.events)
    for event in outcome.events:
        seen = [event.data.get(field) for field in ("text", "output", "error", "result")]
        if any(isinstance(text, str) and secret in text for text in seen):
            assert event.data.get("hint") is True and event.type != "turn.user", event.type


def test_every_new_example_stands_here() -> None:
    known = {"aider.json", "openai-chat.json", "openhands-v0.json", "swe-agent.traj", "tau-bench.json", *EXAMPLES}
    assert {path.name for path in FOLDER.iterdir()} == known


def test_items_of_a_reader_are_of_the_four_kinds() -> None:
    for name in EXAMPLES:
        items = list(reader_of(example(name)).read(io.BytesIO(example(name)), Limits()))
        assert isinstance(next(item for item in items if not isinstance(item, Refused)), RunFound)
        assert all(item.raw for item in items if isinstance(item, Fact))
