"""Which result answers which call: by the format's own call id, each call and each result counted, none lost.

A call id that is used again names a new operation (`<id>~2`); a result answers the oldest open call of its id.
Memory: 20 bytes for each id seen, and the calls that still wait for a result, of which the oldest are given up beyond
a bound.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Literal

from activities.importers.compact import CompactMap

MAX_WAITING = 20_000
Family = Literal["tool", "mcp.call", "delegation"]


def short_hash(*parts: str | bytes) -> int:
    """60 bits of sha256: a small key for sets of what was seen (a collision changes a count or a note, never an id)."""
    sha = hashlib.sha256()
    for part in parts:
        sha.update(part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part)
        sha.update(b"\0")
    return int.from_bytes(sha.digest()[:8], "big") >> 4


@dataclass(frozen=True, slots=True)
class Call:
    """An open call: its operation, what was called, and where."""

    operation: str
    native: str | None
    tool: str
    family: Family = "tool"
    command: bool = False
    frame: str | None = None


@dataclass(slots=True)
class Calls:
    """The calls of one run."""

    _seen: CompactMap = field(default_factory=CompactMap)
    _waiting: OrderedDict[str, Call] = field(default_factory=OrderedDict)
    _open: dict[str, list[str]] = field(default_factory=dict)
    _numbered: int = 0

    def number(self) -> str:
        """An operation id for a call the format gives none: its number among such calls of the run."""
        self._numbered += 1
        return f"#{self._numbered}"

    def operation(self, native: str) -> tuple[str, bool]:
        """The operation that a call of this id starts, and whether the id was used before."""
        key = short_hash(native)
        count = self._seen.get(key) + 1
        self._seen.put(key, count)
        return (native, False) if count == 1 else (f"{native}~{count}", True)

    def start(self, call: Call) -> None:
        """The call waits for its result from now on."""
        name = call.native if call.native is not None else call.operation
        self._waiting[call.operation] = call
        self._open.setdefault(name, []).append(call.operation)
        if len(self._waiting) > MAX_WAITING:
            _, oldest = self._waiting.popitem(last=False)
            self._forget(oldest)

    def end(self, name: str) -> Call | None:
        """The oldest open call of this id, which is answered now; None when no call of this id is open."""
        operations = self._open.get(name)
        if not operations:
            return None
        call = self._waiting.pop(operations[0])
        self._forget(call)
        return call

    def end_oldest(self) -> Call | None:
        """The call that waits longest, which is answered now; None when none waits."""
        if not self._waiting:
            return None
        _, call = self._waiting.popitem(last=False)
        self._forget(call)
        return call

    def open(self, name: str) -> bool:
        """Whether a call of this id waits for its result."""
        return name in self._open

    def known(self, native: str) -> bool:
        """Whether a call of this id was seen, answered or not."""
        return short_hash(native) in self._seen

    def waiting(self) -> tuple[Call, ...]:
        """Calls without a result, oldest first."""
        return tuple(self._waiting.values())

    def _forget(self, call: Call) -> None:
        name = call.native if call.native is not None else call.operation
        operations = self._open[name]
        operations.remove(call.operation)
        if not operations:
            del self._open[name]
