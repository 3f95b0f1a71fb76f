"""Messages of OpenAI's chat form as facts: turns, calls, results, paired by call id. tau-bench and chat logs share it.

The form has no exit codes; whether a result's text says that the call failed is known by the format around it only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from activities.importers.calls import Call, Calls
from activities.importers.notes import lonely_result, note, reused_call
from activities.importers.parse import NotReadable, parse
from activities.importers.shapes import mapping, word
from activities.importers.texts import flagged, holds_hint, pieces, title_of, without_hints
from domain.runs.transcript import Fact, Opening

SHELL_TOOLS = frozenset(
    {"bash", "terminal", "shell", "execute_bash", "run_command", "run_shell_command", "run_terminal_cmd", "local_shell"}
)
_ROLES = {"system": "turn.system", "developer": "turn.system", "user": "turn.user", "assistant": "turn.agent"}
Verdict = Callable[[str], dict[str, Any] | None]
"""What a result's text says about success: more data of a completed call, or None when it says that the call failed."""


def silent(_: str) -> dict[str, Any]:
    """The verdict of a format that says nothing about success."""
    return {}


class ChatMessages:
    """The messages of one run, in order."""

    def __init__(self, verdict: Verdict = silent) -> None:
        self.calls = Calls()
        self._verdict = verdict
        self._turns = 0

    def facts(self, message: Any, raw: bytes, at: str | float | None = None) -> Iterator[Fact]:
        """The facts of one message, at least one."""
        shape = mapping(message)
        role = shape.get("role")
        if role in ("tool", "function"):
            yield from self._result(shape, raw, at)
        elif isinstance(role, str) and role in _ROLES:
            yield from self._turn(shape, _ROLES[role], raw, at)
        else:
            yield Fact(
                "source.unknown",
                {"native_type": role if isinstance(role, str) else None, "record": message},
                raw,
                at=at,
            )

    def _turn(self, message: Mapping[str, Any], turn: str, raw: bytes, at: str | float | None) -> Iterator[Fact]:
        thought = message.get("reasoning_content")
        if isinstance(thought, str) and thought:
            for said in pieces(thought, "turn.thought", "thought"):
                yield Fact(said.type, said.data, raw, said.part, at)
        calls = _calls(message)
        opening = None
        text, others = content_of(message.get("content"))
        if turn == "turn.user":
            self._turns += 1
            opening = Opening(f"turn-{self._turns}", "turn", title_of(text))
        if text or not (calls or others):
            name = message.get("name")
            extra = {"name": name} if isinstance(name, str) else {}
            for said in pieces(text, turn, "text", flagged=flagged(message)):
                yield Fact(said.type, {**said.data, **extra}, raw, said.part, at, opens=opening)
                opening = None
        for place, block in enumerate(others):
            yield Fact(turn, {"text": f"[{_type(block)}]", "record": block}, raw, f"block/{place}", at, opens=opening)
            opening = None
        for place, call in enumerate(calls):
            yield from self._start(call, raw, f"call/{place}", at)

    def _start(self, call: Mapping[str, Any], raw: bytes, part: str, at: str | float | None) -> Iterator[Fact]:
        shape = mapping(call.get("function")) or call
        tool = word(shape.get("name")) or "unknown"
        native = word(call.get("id"))
        operation, again = self.calls.operation(native) if native else (self.calls.number(), False)
        arguments = arguments_of(shape.get("arguments", call.get("custom")))
        data: dict[str, Any] = {"tool": tool, "arguments": arguments, "call_id": native}
        data.update(command_of(tool, arguments))
        if holds_hint(arguments):
            data["hint"] = True
        self.calls.start(Call(operation, native or f"{tool}#", tool, command="command" in data or "argv" in data))
        fact = Fact("tool.started", data, raw, part, at, operation=operation)
        yield fact
        if again:
            yield note(fact, reused_call(native), f"{part}/note")

    def _result(self, message: Mapping[str, Any], raw: bytes, at: str | float | None) -> Iterator[Fact]:
        native, name = word(message.get("tool_call_id")), word(message.get("name"))
        call = self.calls.end(native or f"{name}#")
        text, others = content_of(message.get("content"))
        verdict = self._verdict(text)
        output, hints = without_hints(text)
        data: dict[str, Any] = {"tool": call.tool if call else name, "call_id": native}
        if others:
            data["record"] = others
        data.update({"error": output} if verdict is None else {"output": output, **verdict})
        outcome = "tool.failed" if verdict is None else "tool.completed"
        fact = Fact(outcome, data, raw, "result", at, operation=call.operation if call else native)
        yield fact
        for place, hint in enumerate(hints):
            yield Fact("turn.system", {"text": hint, "hint": True}, raw, f"result/hint/{place}", at)
        if call is None:
            yield note(fact, lonely_result(self.calls, native, name), "result/note")


def content_of(content: Any) -> tuple[str, list[Any]]:
    """The text of a content (a string, or parts), and its parts that are no text."""
    if isinstance(content, str):
        return content, []
    if not isinstance(content, list):
        return "", [] if content is None else [content]
    texts: list[str] = []
    others: list[Any] = []
    for part in content:
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, Mapping) and isinstance(part.get("text"), str):
            texts.append(part["text"])
        elif isinstance(part, Mapping) and isinstance(part.get("refusal"), str):
            texts.append(part["refusal"])
        else:
            others.append(part)
    return "\n".join(texts), others


def arguments_of(told: Any) -> Any:
    """A call's arguments: the value of their JSON text, or the text where it is no JSON."""
    if not isinstance(told, str):
        return told
    try:
        return parse(told.encode("utf-8", "surrogatepass"))[0]
    except NotReadable:
        return told


def command_of(tool: str, arguments: Any) -> dict[str, Any]:
    """`command` (a shell line) or `argv` (a list) of a tool that runs commands."""
    if tool not in SHELL_TOOLS or not isinstance(arguments, Mapping):
        return {}
    command = arguments.get("command")
    if isinstance(command, str):
        return {"command": command}
    if isinstance(command, list) and command and all(isinstance(word, str) for word in command):
        return {"argv": command}
    return {}


def _calls(message: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    told = message.get("tool_calls")
    calls = [call for call in told if isinstance(call, Mapping)] if isinstance(told, list) else []
    legacy = message.get("function_call")
    return [*calls, legacy] if isinstance(legacy, Mapping) else calls


def _type(block: Any) -> str:
    kind = block.get("type") if isinstance(block, Mapping) else None
    return kind if isinstance(kind, str) else "block"
