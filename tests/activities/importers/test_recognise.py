"""The format is told by the content alone, and what is no transcript says what it seems to be."""

from __future__ import annotations

import orjson
import pytest

from activities.importers.recognise import READERS, NotATranscript, recognise
from tests.activities.importers.reading import fixture, lines_of
from tests.activities.importers.sessions import agent, session, text, user

OURS = {
    "claude-code": lines_of(*session()),
    "swe-agent": fixture("steps.traj"),
    "tau-bench": fixture("results.json"),
    "openhands-v0": fixture("events.json"),
    "openai-chat": fixture("completion.json"),
}


@pytest.mark.parametrize("form", sorted(OURS))
@pytest.mark.parametrize("spelling", ["as it is", "on one line", "with a BOM", "with CRLF", "cut in the middle"])
def test_each_format_is_recognised_by_one_reader(form: str, spelling: str) -> None:
    body = OURS[form]
    if spelling == "on one line" and form != "claude-code":
        body = orjson.dumps(orjson.loads(body))
    elif spelling == "with a BOM":
        body = b"\xef\xbb\xbf" + body
    elif spelling == "with CRLF":
        body = body.replace(b"\n", b"\r\n")
    elif spelling == "cut in the middle":
        body = body[: len(body) // 2]
    found = recognise(body)
    assert not isinstance(found, NotATranscript) and found.format == form
    assert [reader.format for reader in READERS if reader.sniff(body)] == [form]


def test_a_first_record_longer_than_the_head_is_recognised() -> None:
    long = "x" * 200_000
    for form, body in {
        "claude-code": lines_of(user(1, long)),
        "swe-agent": orjson.dumps(
            {"environment": "e", "trajectory": [{"action": "ls", "observation": long}], "history": []}
        ),
        "tau-bench": orjson.dumps(
            [{"task_id": 1, "reward": 1.0, "info": {}, "traj": [{"role": "user", "content": long}]}]
        ),
        "openhands-v0": orjson.dumps([{"id": 0, "source": "user", "action": "message", "args": {"content": long}}]),
        "openai-chat": orjson.dumps({"messages": [{"role": "user", "content": long}]}),
    }.items():
        found = recognise(body[: 64 * 1024])
        assert not isinstance(found, NotATranscript) and found.format == form, form


def test_a_damaged_first_line_does_not_hide_the_rest() -> None:
    found = recognise(b'{"cut": \n' + lines_of(user(1, "x"), agent(2, text("y"), parent=1)))
    assert not isinstance(found, NotATranscript) and found.format == "claude-code"


@pytest.mark.parametrize(
    ("body", "verdict", "says"),
    [
        (b"", "refused", "0 bytes"),
        (b" \n\n", "refused", "white space"),
        (b"\x7fELF\x02\x01\x01" + bytes(200), "refused", "binary"),
        (bytes(range(256)) * 50, "refused", "binary"),
        (b'{"trajectory"', "refused", "truncated or damaged"),
        (b"[" * 100_000, "refused", "nested too deep"),
        (b"MIT License\n\nPermission is hereby granted", "skipped", "plain text"),
        (orjson.dumps({"instance_id": "a", "model_patch": "", "edit_outcome": True}), "skipped", "sidecar"),
        (orjson.dumps({"a": 1}), "skipped", "JSON, but not a transcript"),
        (b"[]", "skipped", "JSON, but not a transcript"),
        (b"42", "skipped", "plain text"),
    ],
)  # fmt: skip
def test_what_is_no_transcript_says_why(body: bytes, verdict: str, says: str) -> None:
    found = recognise(body[: 64 * 1024])
    assert isinstance(found, NotATranscript)
    assert (found.verdict, says in found.reason) == (verdict, True), found
