"""The shape every public message shares: frozen, nothing unknown, and one sentence when it does not fit."""

from __future__ import annotations

from typing import Any, TypeVar

import pydantic_core
from pydantic import BaseModel, ConfigDict, ValidationError

from domain.contracts.errors import MalformedMessage


class Message(BaseModel):
    """What crosses the boundary to callers: unknown fields are refused, so that a misspelt one is never lost."""

    model_config = ConfigDict(frozen=True, extra="forbid", json_schema_serialization_defaults_required=True)


M = TypeVar("M", bound=Message)

EXCERPT_BYTES = 2000
HISTORY_EVENTS = 500
"""A workflow that lives long moves to a new history from here on: with what is under way under 600 (DESIGN law 5)."""


def sole(sent: tuple[Any, ...], what: str) -> Any:
    """The one argument of a message. Raises `MalformedMessage` for none and for several.

    Handlers take any number: one too many would break a run that a signal is sent to.
    """
    if len(sent) != 1:
        raise MalformedMessage(f"`{what}` takes one JSON object and was sent {len(sent) or 'no'} arguments")
    return sent[0]


def excerpt(raw: Any, size: int = EXCERPT_BYTES) -> Any:
    """`raw` as it was sent, or where its JSON is longer than `size` bytes the start of that JSON as text."""
    data = pydantic_core.to_json(raw, bytes_mode="base64", fallback=str)
    return pydantic_core.from_json(data) if len(data) <= size else data[:size].decode("utf-8", "ignore") + "…"


def understand(kind: type[M], raw: Any, what: str) -> M:
    """`raw` JSON as a message of `kind`. Raises `MalformedMessage` with a sentence that names the first wrong field.

    Public handlers take raw JSON: a typed handler argument that does not decode gives its caller no reason at all.
    """
    if not isinstance(raw, dict):
        found = "null" if raw is None else type(raw).__name__
        raise MalformedMessage(f"`{what}` takes a JSON object, not {found}; see docs/contracts/{kind.__name__}.json")
    try:
        return kind.model_validate(raw)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "message"
        raise MalformedMessage(f"`{what}`: {where}: {first['msg']}; see docs/contracts/{kind.__name__}.json") from None
