"""From a citation to the cited characters, and whether they are still what was cited."""

import hashlib
from typing import Any

import pytest

from domain.retrieval.spans import AROUND, WHOLE, Cited, artifact_of, excerpt

TEXT = "line one\nthe cited words\nline three"


def sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def cited(**changes: Any) -> Cited:
    return Cited(
        **{"field": "output", "start": 9, "end": 24, "quote": "the cited words", "content_hash": sha(TEXT), **changes}
    )


@pytest.mark.parametrize(
    ("data", "citation", "text", "verified"),
    [
        ({"output": TEXT}, cited(), "the cited words", True),
        ({"output": TEXT}, cited(quote="other words here"), "the cited words", False),
        ({"output": TEXT}, cited(content_hash=sha("x")), "the cited words", False),
        ({"output": TEXT}, cited(quote=None), "the cited words", True),
        ({"output": TEXT}, cited(content_hash=None), "the cited words", True),
        ({"output": TEXT}, cited(quote=None, content_hash=None), "the cited words", None),
        ({"output": TEXT}, cited(start=900, end=905), "", False),
        ({"output": TEXT}, cited(start=5, end=2, quote=None), TEXT, True),
        ({"output": TEXT}, cited(start=None, end=None, quote=None), TEXT, True),
        ({"text": TEXT}, cited(field=None, start=None, end=None, quote=None), TEXT, True),
        ({}, cited(), "", False),
        ({"arguments": {"file.path": TEXT}}, cited(field="arguments.file.path"), "the cited words", True),
    ],
)
def test_what_is_shown(data: dict[str, Any], citation: Cited, text: str, verified: bool | None) -> None:
    found = excerpt(data, citation)
    assert (found.text, found.verified) == (text, verified)


def test_a_little_around_the_span_is_shown_and_no_more() -> None:
    text = "b" * 500 + "SPAN" + "a" * 500
    found = excerpt({"output": text}, Cited("output", 500, 504, "SPAN", None))
    assert (found.before, found.text, found.after) == ("b" * AROUND, "SPAN", "a" * AROUND)
    whole = excerpt({"output": text}, Cited(None, None, None, None, None))
    assert (whole.before, len(whole.text), whole.field) == ("", WHOLE, "output")


def test_a_body_held_elsewhere() -> None:
    data = {"output": {"artifact": sha(TEXT), "bytes": len(TEXT), "preview": "line one"}}
    assert artifact_of(data, "output") == artifact_of(data, None) == sha(TEXT)
    assert artifact_of({"output": TEXT}, "output") is None
    preview = excerpt(data, cited())
    assert (preview.complete, preview.verified) == (False, False)
    body = excerpt(data, cited(), TEXT.encode())
    assert (body.complete, body.verified, body.text) == (True, True, "the cited words")
    assert excerpt(data, cited(), b"damaged").verified is False


@pytest.mark.parametrize(
    ("data", "outcome"),
    [
        ({"exit_code": 0}, "exit code 0"),
        ({"exit_code": 2, "success": False}, "exit code 2"),
        ({"success": True}, "success"),
        ({"success": False}, "failure"),
        ({}, None),
    ],
)
def test_what_a_result_says_of_success(data: dict[str, Any], outcome: str | None) -> None:
    assert excerpt({**data, "output": ""}, cited()).outcome == outcome
