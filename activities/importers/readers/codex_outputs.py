"""What a Codex tool output says, and what the events beside it know about its call: text, exit code, success, duration.

The format tells exit codes in three ways: `metadata.exit_code` of an output that is JSON, the first lines of an output
of a command (`Exit code: 0`), and the event of the command's end. Nothing else is an exit code.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from activities.importers.parse import NotReadable, parse
from activities.importers.shapes import listing, mapping, word

_HEADED = re.compile(
    r"\AExit code: (-?\d{1,9})\r?\nWall time: ([\d.]{1,20}) seconds?\r?\n(?:Total output lines: \d+\r?\n)?Output:\r?\n?"
)
_UNIFIED = re.compile(
    r"\A(?:Chunk ID: \S+\r?\n)?Wall time: ([\d.]{1,20}) seconds?\r?\n"
    r"(?:Process exited with code (-?\d{1,9})|Process running with session ID \S+)\r?\n"
    r"(?:Original token count: \d+\r?\n)?Output:\r?\n?"
)  # fmt: skip
_STOPPED = re.compile(r"\Aaborted by user\b")
_LONGEST = 10**9


@dataclass(frozen=True, slots=True)
class Told:
    """What is known of a call's end. `text` is the output without the format's own words about it."""

    text: str = ""
    exit_code: int | None = None
    success: bool | None = None
    duration_ms: int | None = None
    more: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @property
    def failed(self) -> bool:
        return self.success is False if self.exit_code is None else self.exit_code != 0

    def data(self) -> dict[str, Any]:
        """The fields of the answer's event; a failed one needs no `success`."""
        told: dict[str, Any] = {**self.more}
        if self.exit_code is not None:
            told["exit_code"] = self.exit_code
        elif self.success is True:
            told |= {"success": True, "success_basis": "flag"}
        if self.duration_ms is not None:
            told["duration_ms"] = self.duration_ms
        return told

    def or_else(self, other: Told) -> Told:
        """This, with what only the other knows."""
        return Told(
            self.text,
            other.exit_code if self.exit_code is None else self.exit_code,
            other.success if self.success is None else self.success,
            other.duration_ms if self.duration_ms is None else self.duration_ms,
            {**other.more, **self.more},
        )


def output_of(payload: Mapping[str, Any], *, command: bool) -> Told:
    """What an output item says; `command` when its call ran a command, whose output begins with its exit code."""
    given = payload.get("output", payload.get("result"))
    if isinstance(given, Mapping) and "stdout" in given:
        return _streams(given)
    if isinstance(given, Mapping) and "content" in given:
        return Told(text_of(given["content"]), success=_flag(given.get("success")))
    text = text_of(given)
    structured = _structured(text) if isinstance(given, str) else None
    if structured is not None:
        return structured
    return _headed(text) if command else Told(text, more={"interrupted": True} if _STOPPED.match(text) else {})


def event_of(payload: Mapping[str, Any]) -> tuple[str, Told] | None:
    """The call that an event tells the end of, and what it knows; None for every other event."""
    kind = payload.get("type")
    item = mapping(payload.get("item"))
    if kind == "item_completed":
        native = word(item.get("id"))
        if native is None or item.get("type") != "CommandExecution":
            return None
        return native, Told(exit_code=_code(item.get("exit_code")), duration_ms=_millis(item.get("duration")))
    native = word(payload.get("call_id"))
    if native is None:
        return None
    duration = _millis(payload.get("duration"))
    if kind == "exec_command_end":
        return native, Told(exit_code=_code(payload.get("exit_code")), duration_ms=duration)
    if kind in ("patch_apply_end", "dynamic_tool_call_response"):
        return native, Told(success=_flag(payload.get("success")), duration_ms=duration)
    if kind == "mcp_tool_call_end":
        result = mapping(payload.get("result"))
        wrong = mapping(result.get("Ok")).get("isError")
        success = False if "Err" in result else None if "Ok" not in result else wrong is not True
        return native, Told(success=success, duration_ms=duration)
    return None


def text_of(content: Any) -> str:
    """The text of an output: a string, a part, or parts; what is no text is named by its type."""
    if isinstance(content, str):
        return content
    parts = [content] if isinstance(content, Mapping) else listing(content)
    found: list[str] = []
    for part in parts:
        text = part if isinstance(part, str) else mapping(part).get("text")
        found.append(text if isinstance(text, str) else f"[{word(mapping(part).get('type')) or 'part'}]")
    return "\n".join(found)


def _structured(text: str) -> Told | None:
    """An output that is JSON with `output` and `metadata`, as older versions write it."""
    if not text.lstrip().startswith("{"):
        return None
    try:
        value = mapping(parse(text.encode("utf-8", "surrogatepass"))[0])
    except NotReadable:
        return None
    told, metadata = value.get("output"), value.get("metadata")
    if not isinstance(told, str) or not isinstance(metadata, Mapping):
        return None
    seconds = metadata.get("duration_seconds")
    return Told(told, _code(metadata.get("exit_code")), duration_ms=_seconds(seconds))


def _headed(text: str) -> Told:
    match = _HEADED.match(text)
    if match is not None:
        return Told(text[match.end() :], int(match.group(1)), duration_ms=_seconds(match.group(2)))
    match = _UNIFIED.match(text)
    if match is not None:
        code, duration = match.group(2), _seconds(match.group(1))
        if code is None:
            return Told(text[match.end() :], duration_ms=duration, more={"running": True})
        return Told(text[match.end() :], int(code), duration_ms=duration)
    return Told(text, more={"interrupted": True} if _STOPPED.match(text) else {})


def _streams(result: Mapping[str, Any]) -> Told:
    out, err = (part if isinstance(part := result.get(key), str) else "" for key in ("stdout", "stderr"))
    return Told("\n".join(part for part in (out, err) if part), _code(result.get("exitCode", result.get("exit_code"))))


def _code(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and abs(value) < _LONGEST else None


def _flag(value: Any) -> bool | None:
    return value if isinstance(value, bool) else None


def _seconds(value: Any) -> int | None:
    try:
        seconds = float(value)
    except (TypeError, ValueError):
        return None
    return round(seconds * 1000) if 0 <= seconds < _LONGEST else None


def _millis(value: Any) -> int | None:
    """A duration as `{secs, nanos}`."""
    shape = mapping(value)
    secs, nanos = _code(shape.get("secs")), _code(shape.get("nanos", 0))
    return None if secs is None or nanos is None else max(0, secs * 1000 + nanos // 1_000_000)
