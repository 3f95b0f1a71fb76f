"""What the first bytes of a file hold, read as far as they go.

The beginning of a document is closed where it was cut, so that its first keys and elements can be looked at without
the rest.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from activities.importers.parse import BOM, NotReadable, parse

HEAD_BYTES = 64 * 1024
_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[\[\]{},]|"', re.DOTALL)
_CLOSES = {b"{": b"}", b"[": b"]"}
_MAX_LINES = 64
_MAX_DEPTH = 256


@dataclass(frozen=True, slots=True)
class Peek:
    """The beginning of a file.

    `document` is its first JSON value, cut or whole (None when there is none); `records` are the objects of the first
    lines, when each line holds a value of its own; `text` is the beginning as text.
    """

    document: Any
    records: tuple[dict[str, Any], ...]
    text: str
    binary: bool = False
    # one value on each line, as far as the head shows
    lines: bool = False
    # the first value does not end within the head
    cut: bool = False
    # nested deeper than anything a transcript needs
    deep: bool = False


@lru_cache(maxsize=2)  # each reader looks at the same bytes
def peek(head: bytes) -> Peek:
    """What `head` (the first bytes of a file, at most 64 KB of it are looked at) holds."""
    body = head[:HEAD_BYTES].removeprefix(BOM)
    text = body.decode("utf-8", "replace")
    if _binary(body, text):
        return Peek(None, (), "", binary=True)
    stripped = body.lstrip()
    value, whole, rest = _first_value(stripped) if stripped[:1] in (b"{", b"[") else (None, True, b"")
    deep = stripped.startswith(b"[" * _MAX_DEPTH)
    records = _records(body)
    lines = stripped[:1] == b"{" and (bool(rest.strip()) if whole else b"\n" not in stripped)
    return Peek(value, records, text, lines=lines, cut=not whole, deep=deep)


def _binary(body: bytes, text: str) -> bool:
    """NUL bytes before any line of text, or a tenth of the characters unreadable: not text of any kind."""
    if not body:
        return False
    controls = sum(body.count(code) for code in (0, 1, 2, 3, 4, 5, 6, 7, 8))
    return controls * 50 > len(body) or text.count("�") * 10 > len(text)


def _records(body: bytes) -> tuple[dict[str, Any], ...]:
    found: list[dict[str, Any]] = []
    parts = body.split(b"\n", _MAX_LINES)
    for line in parts[:_MAX_LINES]:
        line = line.strip()
        if line[:1] != b"{":
            continue
        value = _first_value(line)[0]
        if isinstance(value, dict) and value:
            found.append(value)
    return tuple(found)


def _first_value(body: bytes) -> tuple[Any, bool, bytes]:
    """The value that starts `body`, whether it was whole, and the bytes after it.

    A cut value is closed at its last whole member.
    """
    stack: list[bytes] = []
    safe, closing = 0, b""
    for token in _TOKEN.finditer(body):
        text = token.group()
        if text == b'"':
            break
        if text in _CLOSES:
            stack.append(_CLOSES[text])
            if len(stack) > _MAX_DEPTH:
                break
            safe, closing = token.end(), b"".join(reversed(stack))
        elif text in (b"}", b"]"):
            if not stack or stack.pop() != text:
                return None, False, b""
            if not stack:
                return _loads(body[: token.end()]), True, body[token.end() :]
            safe, closing = token.end(), b"".join(reversed(stack))
        elif text == b",":
            safe, closing = token.start(), b"".join(reversed(stack))
    return _loads(body[:safe] + closing), False, b""


def _loads(body: bytes) -> Any:
    try:
        return parse(body)[0]
    except NotReadable:
        return None
