"""JSON as transcripts really hold it: records of a line, whole documents, and the beginning of either.

Nothing is read without a bound, and nothing that can be read is given up: bad UTF-8, raw control characters and lone
surrogates are repaired and said, and a record that cannot be read is refused alone.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

import orjson

from domain.runs.transcript import Limits, Refused

BOM = b"\xef\xbb\xbf"
_CHUNK = 1 << 20


class NotReadable(ValueError):
    """The bytes are no JSON; the message says what is wrong."""


class TooDeep(NotReadable):
    """The value is JSON, but nested deeper than can be read or kept."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a JSONL file: its number (from 1), its bytes without white space at the ends, the value, and what was
    repaired.
    """

    number: int
    raw: bytes
    value: Any
    repaired: str | None = None


def parse(raw: bytes) -> tuple[Any, str | None]:
    """The value and, where the bytes had to be repaired, the name of the repair. Raises `NotReadable`."""
    try:
        return orjson.loads(raw), None
    except orjson.JSONDecodeError as error:
        why = str(error)
    try:
        text, repaired = raw.decode(), "repaired_json"
    except UnicodeDecodeError:
        text, repaired = raw.decode("utf-8", "replace"), "invalid_utf8"
    try:
        return json.loads(text, strict=False), repaired
    except RecursionError:
        raise TooDeep("it is nested too deep to be read") from None
    except ValueError:
        raise NotReadable(why) from None


def raw_of(value: Any) -> bytes:
    """One spelling of a value taken out of a document: keys sorted, no white space.

    Raises `NotReadable` when nested too deep.
    """
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    except TypeError:
        pass
    try:
        return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()
    except RecursionError:
        raise TooDeep("it is nested too deep to be kept") from None


def lines(stream: BinaryIO, limits: Limits) -> Iterator[Line | Refused]:
    """The records of a JSONL stream, one at a time.

    A last line without line end that is no JSON was cut: a longer copy completes it.
    """
    number, first = 0, True
    while True:
        raw = stream.readline(limits.max_record_bytes + 1)
        if not raw:
            return
        number += 1
        if len(raw) > limits.max_record_bytes and not raw.endswith(b"\n"):
            size = len(raw) + _skip_line(stream)
            yield Refused(
                f"line {number}",
                f"the record has {size} bytes, more than the {limits.max_record_bytes} that are read at once; "
                "raise TEMPORALITY_MAX_RECORD_BYTES to import it",
            )
            first = False
            continue
        cut = not raw.endswith(b"\n")
        if first and raw.startswith(BOM):
            raw = raw[len(BOM) :]
        first = False
        raw = raw.strip()
        if not raw:
            continue
        try:
            value, repaired = parse(raw)
        except NotReadable as error:
            reason = (
                "cut last line: it ends before its JSON does; a longer copy completes it"
                if cut and not isinstance(error, TooDeep)
                else f"the line is not JSON: {error}"
            )
            yield Refused(f"line {number}", reason)
            continue
        yield Line(number, raw, value, repaired)


class _Rejoined(io.RawIOBase):
    """A stream whose first bytes were read already, from its beginning."""

    def __init__(self, head: bytes, rest: BinaryIO) -> None:
        super().__init__()
        self._head = head
        self._rest = rest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        piece = self._head[: len(buffer)] or self._rest.read(len(buffer))
        self._head = self._head[len(buffer) :]
        buffer[: len(piece)] = piece
        return len(piece)


def with_head(stream: BinaryIO, size: int) -> tuple[bytes, BinaryIO]:
    """The first `size` bytes of a stream, and the stream from its beginning (it need not be seekable)."""
    head = stream.read(size)
    return head, io.BufferedReader(_Rejoined(head, stream), 1 << 16)


def _skip_line(stream: BinaryIO) -> int:
    """Reads to the end of the line in bounded pieces; how many bytes that were."""
    skipped = 0
    while chunk := stream.readline(_CHUNK):
        skipped += len(chunk)
        if chunk.endswith(b"\n"):
            break
    return skipped


def document(stream: BinaryIO, limits: Limits) -> tuple[Any, str | None] | Refused:
    """The one value of a document stream and what was repaired, or why it is refused."""
    body = bytearray()
    while chunk := stream.read(_CHUNK):
        body += chunk
        if len(body) > limits.max_document_bytes:
            return Refused(
                "document",
                f"the document has more than the {limits.max_document_bytes} bytes that are read at once; "
                "raise TEMPORALITY_MAX_DOCUMENT_BYTES to import it",
            )
    raw = bytes(body.removeprefix(BOM)).strip()
    del body
    if not raw:
        return Refused("document", "the file is empty")
    try:
        return parse(raw)
    except NotReadable as error:
        if isinstance(error, TooDeep):
            return Refused("document", f"the document is refused: {error}")
        return Refused("document", f"the document is not complete JSON: {error}; copy the file again")
