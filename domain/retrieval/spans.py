"""From a citation to the characters it names: a field of an event, cut at the span, and whether it still holds them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from domain.contracts.payloads import is_object
from domain.runs.events import body_hash, body_text

AROUND = 80
"""Characters shown on each side of a quoted span."""
WHOLE = 400
"""Characters shown of a text that is cited as a whole."""
_FIELDS = ("output", "error", "result", "text", "command", "proposition")


@dataclass(frozen=True, slots=True)
class Cited:
    """Where a citation points: the field of the event's data, the span in it, and what stood there at the time."""

    field: str | None
    start: int | None
    end: int | None
    quote: str | None
    content_hash: str | None


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The cited characters with a little around them.

    `verified`: the text has the cited hash and the span holds the quote; None where there is nothing to compare with.
    `complete` is false where only the preview of a long text could be read. `outcome` is what a result says of success.
    """

    field: str
    start: int | None
    end: int | None
    before: str
    text: str
    after: str
    verified: bool | None
    complete: bool
    outcome: str | None


def excerpt(data: Mapping[str, Any], cited: Cited, body: bytes | None = None) -> Excerpt:
    """The cited text of an event's `data`; `body` is the artifact it refers to, where that was read."""
    name, value = _field(data, cited.field)
    text = body.decode("utf-8", "replace") if body is not None else body_text(value)
    start, end = cited.start, cited.end
    if start is None or end is None or start > end:
        start, end = None, None
    begin, stop = start or 0, min(len(text), WHOLE) if end is None else end
    return Excerpt(
        field=name,
        start=start,
        end=end,
        before=text[max(0, begin - AROUND) : begin],
        text=text[begin:stop],
        after=text[stop : stop + AROUND],
        verified=_verified(value, text, body, cited),
        complete=body is not None or isinstance(value, str),
        outcome=outcome(data),
    )


def artifact_of(data: Mapping[str, Any], field: str | None) -> str | None:
    """The sha256 of the artifact that holds the cited text; None where the event holds it itself."""
    value = _field(data, field)[1]
    return body_hash(value) if is_object(value) else None


def outcome(data: Mapping[str, Any]) -> str | None:
    """What a result says of success, in words; None where it says nothing."""
    code, success = data.get("exit_code"), data.get("success")
    if code is not None:
        return f"exit code {code}"
    return None if success is None else "success" if success else "failure"


def _verified(value: Any, text: str, body: bytes | None, cited: Cited) -> bool | None:
    if cited.quote is None and cited.content_hash is None:
        return None
    if cited.quote is not None and cited.start is not None and text[cited.start : cited.end] != cited.quote:
        return False
    if cited.content_hash is None:
        return True
    found = hashlib.sha256(body).hexdigest() if body is not None else body_hash(value)
    return found == cited.content_hash


def _field(data: Mapping[str, Any], name: str | None) -> tuple[str, Any]:
    """The value at a dotted name (`arguments.path`); without a name, the first field that holds a text."""
    if name is None:
        name = next((field for field in _FIELDS if body_text(data.get(field))), "text")
    value: Any = data
    for part in _parts(data, name):
        value = value.get(part) if is_object(value) else None
    return name, value


def _parts(data: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """`arguments.a.b` is the argument `a.b`: only the first dot divides."""
    head, dot, rest = name.partition(".")
    return (head, rest) if dot and name not in data else (name,)
