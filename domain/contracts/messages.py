"""The shape every public message shares: frozen, nothing unknown, and one sentence when it does not fit."""

from __future__ import annotations

from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from domain.contracts.errors import MalformedMessage


class Message(BaseModel):
    """What crosses the boundary to callers: unknown fields are refused, so that a misspelt one is never lost silently."""

    model_config = ConfigDict(frozen=True, extra="forbid", json_schema_serialization_defaults_required=True)


M = TypeVar("M", bound=Message)


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
