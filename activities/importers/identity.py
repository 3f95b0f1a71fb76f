"""Sameness: which record is which, in this copy of a transcript and in every longer one.

An event's id is a hash of its run, its raw record, the record's number among equal records of the run, and its part
of the record. Everything here depends only on what stood before in the file, so a longer copy gives the same ids.
Memory: 20 bytes for each record.
"""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass, field
from typing import Protocol, Self

from activities.importers.compact import CompactMap
from domain.contracts.ids import bounded_id, digest_id

_MAX_PLAIN = 200
_GENERATION = 16_384


class Keyed(Protocol):
    """A running hash."""

    def copy(self) -> Self: ...

    def update(self, data: bytes, /) -> None: ...

    def hexdigest(self) -> str: ...


@dataclass(slots=True)
class Record:
    """The record at hand: its digest, its number among equal ones, the parts already named, and the keyed hash of its
    bytes.
    """

    raw: bytes
    digest: str
    number: int
    origin: Keyed
    parts: set[str] = field(default_factory=set)

    def origin_hash(self, part: str) -> str:
        """What the producer said, before normalising and redacting: hex, over the raw bytes and the part."""
        keyed = self.origin.copy()
        keyed.update(b"\0" + part.encode("utf-8", "surrogatepass"))
        return keyed.hexdigest()


class Records:
    """The records of one run, counted as they come."""

    def __init__(self, origin_key: bytes) -> None:
        self._key = origin_key
        self._seen = CompactMap()
        self._current: Record | None = None

    def take(self, raw: bytes, part: str) -> Record:
        """The record this part belongs to: the one at hand while its bytes are the same object and the part is new,
        else the next.
        """
        current = self._current
        if current is not None and current.raw is raw and part not in current.parts:
            current.parts.add(part)
            return current
        digest = hashlib.sha256(raw).digest()
        key = int.from_bytes(digest[:8], "big") >> 4
        number = self._seen.get(key) + 1
        self._seen.put(key, number)
        self._current = Record(raw, digest.hex(), number, origin_of(self._key, raw), {part})
        return self._current


def origin_of(key: bytes, raw: bytes) -> Keyed:
    """HMAC-SHA256 under the installation's key; without a key a sha256 over a prefix of its own."""
    return hmac.new(key, raw, hashlib.sha256) if key else hashlib.sha256(b"temporality/origin/1\0" + raw)


def event_id(source: str, record: Record, part: str) -> str:
    """The event's id: 32 hex digits."""
    return digest_id(source, record.digest, str(record.number), part)


def run_of_first_record(file_name: str, first: bytes, number: int) -> str:
    """A run id where the format has none: of the file's name and its first record; equal beginnings in one file are
    numbered.
    """
    name = digest_id("run", file_name, hashlib.sha256(first).hexdigest(), size=24)
    return name if number == 1 else f"{name}~{number}"


def plain_id(native: str) -> str:
    """A foreign id as it stands in an event's context: itself, or its encoded and bounded form where it is odd or
    long.
    """
    if native and len(native) <= _MAX_PLAIN and native.isprintable() and not any(c.isspace() for c in native):
        return native
    return bounded_id(native or "empty")


class Recent:
    """What was said of the latest names: of 16,384 at least and 32,768 at most, because what refers to a name stands
    close to it.
    """

    def __init__(self) -> None:
        self._young: dict[str, str] = {}
        self._old: dict[str, str] = {}

    def put(self, name: str, value: str) -> None:
        """Takes the name up; the oldest half is forgotten now and then."""
        self._young[name] = value
        if len(self._young) >= _GENERATION:
            self._old, self._young = self._young, {}

    def get(self, name: str) -> str | None:
        """What was said of the name, None when it is not known (any more)."""
        found = self._young.get(name)
        return self._old.get(name) if found is None else found
