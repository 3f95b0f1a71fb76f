"""Claim-check: long texts of a JSON value become references, and their bodies are handed back to be kept by hash.

The same code runs in the client before a payload leaves it and in the worker before the journal: one text has one
reference.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any, Final, NamedTuple, TypeGuard

from pydantic import BaseModel, ConfigDict, Field

from domain.contracts.errors import MalformedMessage, PayloadTooLarge

INLINE_BYTES: Final = 16 * 1024
"""Texts up to this many UTF-8 bytes stay where they are; longer ones live in the artifact store."""

PREVIEW_CHARACTERS: Final = 2000
MAX_PAYLOAD_BYTES: Final = 1024 * 1024
"""No converted payload is larger: Temporal refuses 2 MiB, and would have an activity try again without end."""


class Artifact(BaseModel):
    """A body held by hash: `artifact` is its hex sha256, `bytes` its size, `preview` its first 2,000 characters."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    artifact: str = Field(pattern=r"^[0-9a-f]{64}$")
    bytes: int = Field(ge=0)
    preview: str = ""


class Stored(NamedTuple):
    """A kept body: its hex sha256 and its size in bytes."""

    sha256: str
    bytes: int


class CheckedOut(NamedTuple):
    """`value` with references in the place of long texts, and the `bodies` they name, each once, in the order met."""

    value: Any
    bodies: list[bytes]


def is_object(value: Any) -> TypeGuard[dict[str, Any]]:
    """Whether `value` is a JSON object."""
    return isinstance(value, dict)


def is_list(value: Any) -> TypeGuard[list[Any] | tuple[Any, ...]]:
    """Whether `value` is a JSON array, which Python may hold as a tuple."""
    return isinstance(value, list | tuple)


def body_of(text: str) -> bytes:
    """The bytes a text is kept and hashed as: UTF-8, with `?` for a lone surrogate, which UTF-8 cannot carry."""
    return text.encode("utf-8", "replace")


def reference(text: str) -> dict[str, Any]:
    """The reference that stands for `text`: an `Artifact` as plain JSON."""
    body = body_of(text)
    return {
        "artifact": hashlib.sha256(body).hexdigest(),
        "bytes": len(body),
        "preview": text[:PREVIEW_CHARACTERS],
    }


def check_out(value: Any, limit: int = INLINE_BYTES) -> CheckedOut:
    """Take every string value over `limit` UTF-8 bytes out of a JSON value; a value without one is given back as it is.

    Keys stay, and so do references that are there. Raises `MalformedMessage` when it is nested too deeply to walk.
    """
    bodies: dict[bytes, None] = {}
    try:
        checked = _check_out(value, limit, bodies)
    except RecursionError:
        raise MalformedMessage("it is nested too deeply; flatten it or send the inner part as text") from None
    return CheckedOut(checked, list(bodies))


def _check_out(value: Any, limit: int, bodies: dict[bytes, None]) -> Any:
    if isinstance(value, str):
        # a character takes four bytes at most, so that most texts are not encoded to be measured
        if len(value) * 4 <= limit or len(body_of(value)) <= limit:
            return value
        bodies[body_of(value)] = None
        return reference(value)
    if is_object(value):
        return {key: _check_out(item, limit, bodies) for key, item in value.items()}
    if is_list(value):
        return [_check_out(item, limit, bodies) for item in value]
    return value


def whole(value: Any) -> Any:
    """`value` with lone surrogates, which UTF-8 cannot carry, replaced by U+FFFD in its texts and keys."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if is_object(value):
        return {whole(key): whole(item) for key, item in value.items()}
    if is_list(value):
        return [whole(item) for item in value]
    return value


def size_of(value: Any) -> int:
    """The bytes of `value` as compact JSON in UTF-8."""
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str).encode("utf-8", "replace"))


def bounded(value: Any, limit: int, what: str) -> int:
    """The size of `value` in bytes. Raises `PayloadTooLarge`, which says what to do, when it is over `limit`."""
    size = size_of(value)
    if size > limit:
        raise PayloadTooLarge(
            f"the {what} takes {size:,} bytes as JSON and {limit:,} are allowed; "
            "send less at once, or send it with temporality-client, which keeps long texts in the artifact store"
        )
    return size
