"""The lines of an Aider chat history as blocks: what was asked, what the model said, what Aider itself said.

Aider ends each line of the user (`#### `) and of its own (`> `) with two spaces; headings and quotations that a model
wrote have none. A history whose lines lost their trailing spaces is read by its first characters alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import BinaryIO, Literal

from activities.importers.parse import BOM
from domain.runs.transcript import Limits, Refused

Kind = Literal["header", "user", "tool", "text"]
_HEADER = re.compile(r"# aider chat started at (\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2})\s*\Z")
_CHUNK = 1 << 20
_END = "  "


@dataclass(frozen=True, slots=True)
class Block:
    """Consecutive lines of one voice, as they stand in the file, without their line ends; the first line's number."""

    kind: Kind
    lines: tuple[str, ...]
    number: int
    repaired: str | None = None


def started_at(line: str) -> str | None:
    """The time in the first line of a chat."""
    match = _HEADER.match(line)
    return match.group(1) if match else None


@dataclass(slots=True)
class _Open:
    """The block at hand."""

    kind: Kind | None = None
    lines: list[str] = field(default_factory=list[str])
    number: int = 0
    size: int = 0
    repaired: str | None = None


class Blocks:
    """Reads a history from its beginning, a block at a time."""

    def __init__(self, stream: BinaryIO, limits: Limits) -> None:
        self._stream = stream
        self._limit = limits.max_record_bytes
        self._open = _Open()
        # whether the chat's own lines end with two spaces; its first such line tells
        self._marked: bool | None = None
        self._fenced = False

    def __iter__(self) -> Iterator[Block | Refused]:
        number, ended, last = 0, True, ""
        while raw := self._stream.readline(self._limit + 1):
            number += 1
            if number == 1:
                raw = raw.removeprefix(BOM)
            ended = raw.endswith(b"\n")
            if len(raw) > self._limit and not ended:
                yield from self._flush()
                yield self._too_long(number, len(raw))
                ended = True
                continue
            try:
                last, repaired = raw.decode().rstrip("\r\n"), None
            except UnicodeDecodeError:
                last, repaired = raw.decode("utf-8", "replace").rstrip("\r\n"), "invalid_utf8"
            yield from self._line(last, number, len(raw))
            self._open.repaired = self._open.repaired or repaired
        if ended or last.endswith(_END) or started_at(last):
            yield from self._flush()
        elif self._open.kind is not None:
            yield Refused(
                f"line {self._open.number}",
                "cut last line: it has no end, so the block it belongs to is left to a longer copy; "
                "if the file is whole, end it with a line end",
            )

    def _line(self, line: str, number: int, size: int) -> Iterator[Block]:
        kind = self._kind(line)
        if kind is None:
            # an empty line ends what the user or Aider said, and is part of what the model says
            if self._open.kind == "text":
                self._open.lines.append(line)
            else:
                yield from self._flush()
            return
        if kind != self._open.kind or kind == "header" or self._open.size + size > self._limit:
            yield from self._flush()
            self._open = _Open(kind, number=number)
            self._fenced = False
        if kind == "text" and line.lstrip().startswith("```"):
            self._fenced = not self._fenced
        self._open.lines.append(line)
        self._open.size += size
        if kind == "header":
            self._marked = None

    def _kind(self, line: str) -> Kind | None:
        if not line.strip():
            return None
        if started_at(line) is not None:
            return "header"
        said: Kind | None = "user" if _is(line, "####") else "tool" if _is(line, ">") else None
        if said is None:
            return "text"
        if self._marked is None:
            self._marked = line.endswith(_END)
        if line.endswith(_END) or (not self._marked and not self._fenced):
            return said
        return "text"

    def _flush(self) -> Iterator[Block]:
        held, self._open = self._open, _Open()
        while held.lines and not held.lines[-1].strip():
            held.lines.pop()
        if held.kind is not None and held.lines:
            yield Block(held.kind, tuple(held.lines), held.number, held.repaired)

    def _too_long(self, number: int, size: int) -> Refused:
        while chunk := self._stream.readline(_CHUNK):
            size += len(chunk)
            if chunk.endswith(b"\n"):
                break
        return Refused(
            f"line {number}",
            f"the line has {size} bytes, more than the {self._limit} that are read at once; "
            "raise TEMPORALITY_MAX_RECORD_BYTES to import it",
        )


def _is(line: str, mark: str) -> bool:
    return line.rstrip() == mark or line.startswith(f"{mark} ")


def without_mark(line: str, mark: str) -> str:
    """A line of the user or of Aider as it was said."""
    return line.removeprefix(mark).removeprefix(" ").rstrip()
