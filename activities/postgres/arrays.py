"""Binary arrays of one kind each, for `unnest`: what an append sends is packed here in one pass.

The driver works out the element type of every list anew and packs value by value; for the dozen arrays of an append that is a third of
its own cost.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from struct import Struct

from psycopg import adapt, postgres, pq

_HEADER = Struct("!iiIii")
_LENGTH = Struct("!i")
_TIME = Struct("!iq")
_NULL = _LENGTH.pack(-1)
_EPOCH = datetime(2000, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


class Texts(tuple[str | None, ...]):
    """A `text[]`."""

    __slots__ = ()


class Bodies(tuple[bytes, ...]):
    """A `bytea[]`."""

    __slots__ = ()


class Times(tuple[datetime, ...]):
    """A `timestamptz[]`; aware times only."""

    __slots__ = ()


def _oid(name: str) -> tuple[int, int]:
    info = postgres.types[name]
    return info.oid, info.array_oid


def _array(parts: list[bytes], count: int, element: int) -> bytes:
    if not count:
        return _HEADER.pack(0, 0, element, 0, 0)[:12]
    return _HEADER.pack(1, 1, element, count, 1) + b"".join(parts)


class _TextsDumper(adapt.Dumper):
    format = pq.Format.BINARY
    _element, oid = _oid("text")

    def dump(self, obj: Texts) -> bytes:
        parts: list[bytes] = []
        for value in obj:
            if value is None:
                parts.append(_NULL)
            else:
                body = value.encode()
                parts += (_LENGTH.pack(len(body)), body)
        return _array(parts, len(obj), self._element)


class _BodiesDumper(adapt.Dumper):
    format = pq.Format.BINARY
    _element, oid = _oid("bytea")

    def dump(self, obj: Bodies) -> bytes:
        parts: list[bytes] = []
        for body in obj:
            parts += (_LENGTH.pack(len(body)), body)
        return _array(parts, len(obj), self._element)


class _TimesDumper(adapt.Dumper):
    format = pq.Format.BINARY
    _element, oid = _oid("timestamptz")

    def dump(self, obj: Times) -> bytes:
        parts = [_TIME.pack(8, (at - _EPOCH) // _MICROSECOND) for at in obj]
        return _array(parts, len(obj), self._element)


def register(context: adapt.AdaptersMap) -> None:
    """Let a connection, or all connections of a map, take these arrays."""
    context.register_dumper(Texts, _TextsDumper)
    context.register_dumper(Bodies, _BodiesDumper)
    context.register_dumper(Times, _TimesDumper)
