"""`origin_hash`: what a producer said, before anything was normalised or redacted, as an HMAC under the installation's key.

It is computed once, where the raw record is first read, and travels beside the event: a newer importer or redaction rule
is then never a conflict, and nobody without the key can test guesses of what was redacted.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from typing import Any, Final

from domain.contracts.errors import UnusableSetting
from domain.contracts.payloads import is_list, is_object

ORIGIN_HASH: Final = "origin_hash"
"""The field of a recorded event that carries the hash; it is no part of the event and is taken off at the door."""

KEY_BYTES: Final = 32


def installation_key(text: str) -> bytes:
    """The key of 64 hexadecimal digits as its 32 bytes. Raises `UnusableSetting` for anything else."""
    try:
        key = bytes.fromhex(text.strip())
    except ValueError:
        key = b""
    if len(key) != KEY_BYTES:
        raise UnusableSetting(
            f"the installation's key is {2 * KEY_BYTES} hexadecimal digits; copy the one that `temporality up` made"
        )
    return key


def origin_hash(key: bytes, record: Any) -> str:
    """HMAC-SHA256 (hex) under `key` of a raw JSON record, whatever the order of its keys."""
    said = json.dumps(record, sort_keys=True, ensure_ascii=True, separators=(",", ":"), default=str)
    return hmac.new(key, said.encode("ascii"), hashlib.sha256).hexdigest()


def with_origin(key: bytes, event: Any) -> Any:
    """`event` with its origin hash; as it is when it has one already or is no object."""
    if not is_object(event) or ORIGIN_HASH in event:
        return event
    return {**event, ORIGIN_HASH: origin_hash(key, event)}


def with_origins(key: bytes, value: Any) -> Any:
    """A batch of `record`, or the activity's request made of it, with the origin hash of every event; else `value`.

    Answers also list `events`, so both shapes are told by all their fields.
    """
    if not is_object(value) or not is_list(events := value.get("events")):
        return value
    if not (value.keys() <= {"batch_id", "events"} or value.keys() == {"opening", "events", "at"}):
        return value
    return {**value, "events": [with_origin(key, event) for event in events]}
