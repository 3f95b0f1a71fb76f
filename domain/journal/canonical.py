"""Canonical bytes (RFC 8785) and the content hash: one document, one spelling, one hash.

In the admitted domain (ASCII keys, no floats, integers within 2^53) orjson with sorted keys writes the same bytes as RFC 8785
and 19 times faster; outside it the reference implementation writes them. What neither can carry is admitted in another spelling.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import orjson
import rfc8785

from domain.contracts.payloads import is_list, is_object

MAX_DEPTH = 64
MAX_INTEGER = 2**53 - 1


class NotAdmitted(ValueError):
    """The document cannot be written canonically; the message says why and what to do."""


def admit(value: Any, depth: int = 0) -> Any:
    """`value` with everything canonical JSON cannot carry in another spelling.

    Numbers beyond 2^53, NaN and infinities become strings, lone surrogates U+FFFD; keys become strings. Raises `NotAdmitted` when
    nested deeper than 64 levels or when it holds a value JSON has no form for.
    """
    if isinstance(value, str):
        return text(value)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value if -MAX_INTEGER <= value <= MAX_INTEGER else str(value)
    if isinstance(value, float):
        # a larger one is written without a point and read back as an integer that JSON does not carry
        return value if abs(value) <= MAX_INTEGER else str(value)
    if depth >= MAX_DEPTH:
        raise NotAdmitted(
            f"the record is nested deeper than {MAX_DEPTH} levels; flatten it or send the inner part as text"
        )
    if is_object(value):
        return {admit(str(key)): admit(item, depth + 1) for key, item in value.items()}
    if is_list(value):
        return [admit(item, depth + 1) for item in value]
    raise NotAdmitted(f"a value of type {type(value).__name__} has no JSON form; send it as text")


def canonical(document: Mapping[str, Any]) -> bytes:
    """RFC 8785 bytes of a document, admitting what JSON cannot carry. Raises `NotAdmitted`."""
    if is_plain(document) and (body := plainly(document)) is not None:
        return body
    admitted = admit(document)
    return orjson.dumps(admitted, option=_PLAIN_OPTIONS) if is_plain(admitted) else rfc8785.dumps(admitted)


def is_plain(value: Any) -> bool:
    """Whether orjson writes `value` as RFC 8785 does, as far as its kind of content tells: ASCII keys, no floats, not too deep."""
    return _plain(value, 0)


def plainly(document: Mapping[str, Any]) -> bytes | None:
    """The bytes of a plain document; None where an integer beyond 2^53 or a lone surrogate needs another spelling."""
    try:
        return orjson.dumps(document, option=_PLAIN_OPTIONS)
    except TypeError:
        return None


_PLAIN_OPTIONS = orjson.OPT_SORT_KEYS | orjson.OPT_STRICT_INTEGER


def content_hash(body: bytes) -> bytes:
    """sha256 over stored bytes: 32 bytes."""
    return hashlib.sha256(body).digest()


_LEAVES = frozenset({str, int, bool, type(None)})


def _plain(value: Any, depth: int) -> bool:
    if value is None or type(value) in _LEAVES:
        return True
    if depth > MAX_DEPTH:
        return False
    if is_object(value):
        for key, item in value.items():
            # plain loops: this looks at everything a producer ever says
            if type(key) is not str or not key.isascii() or not (type(item) in _LEAVES or _plain(item, depth + 1)):
                return False
        return True
    if is_list(value):
        return all(type(item) in _LEAVES or _plain(item, depth + 1) for item in value)
    return False


def text(value: str) -> str:
    """`value` with lone surrogates, which UTF-8 cannot carry, replaced by U+FFFD."""
    if value.isascii():
        return value
    try:
        value.encode()
    except UnicodeEncodeError:
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return value
