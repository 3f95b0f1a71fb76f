"""The hash chain of a project: `hash = sha256(prev_hash | seq | received_at | content_hash)`.

Sequence and microseconds since 1970 enter as 8 bytes, big-endian, so that the database computes the same under its lock.
"""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime, timedelta

GENESIS = bytes(32)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def link(prev_hash: bytes, seq: int, received_at: datetime, content_hash: bytes) -> bytes:
    """The chain's hash of one event: 32 bytes. `prev_hash` of the first event is 32 zero bytes."""
    microseconds = (received_at - _EPOCH) // timedelta(microseconds=1)
    return hashlib.sha256(
        prev_hash + seq.to_bytes(8, "big") + microseconds.to_bytes(8, "big", signed=True) + content_hash
    ).digest()
