"""Codex response items: what was said, thought and called.

What the harness writes in the user's name (the environment, instructions, notices) is no statement of the user.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from activities.importers.calls import Family
from activities.importers.chat_messages import arguments_of, content_of
from activities.importers.exchange import Asked
from activities.importers.shapes import listing, mapping, word
from activities.importers.texts import flagged, pieces, title_of
from domain.runs.transcript import Fact, Opening

CALLS = frozenset({"function_call", "custom_tool_call", "tool_call", "local_shell_call"})
OUTPUTS = frozenset({"function_call_output", "custom_tool_call_output", "tool_result", "local_shell_call_output"})
_SHELLS = frozenset(
    {"shell", "shell_command", "local_shell", "container.exec", "exec_command", "run_shell_command"}
)  # fmt: skip
_DELEGATES = frozenset({"spawn_agent"})
_HARNESS = (
    "<environment_context>", "<user_instructions>", "<user_action>", "<turn_aborted>", "<permissions instructions>",
    "<collaboration_mode>", "<skill>", "<subagent_notification>", "<user_shell_command>", "<environments_instructions>",
    "# AGENTS.md instructions", "<INSTRUCTIONS>",
)  # fmt: skip
_TURNS = {"user": "turn.user", "assistant": "turn.agent", "system": "turn.system", "developer": "turn.system"}


def asked(payload: Mapping[str, Any]) -> Asked:
    """The call of an item: a function call, a custom one (its input is text), or a local shell's."""
    function, action = mapping(payload.get("function")), mapping(payload.get("action"))
    local = payload.get("type") == "local_shell_call"
    tool = word(payload.get("name")) or word(function.get("name")) or ("local_shell" if local else "unknown")
    given = next((payload[key] for key in ("arguments", "input") if key in payload), function.get("arguments"))
    arguments: Any = dict(action) if local else arguments_of(given)
    namespace = word(payload.get("namespace"))
    more: dict[str, Any] = {**_command(tool, arguments)}
    if namespace:
        more["namespace"] = namespace
    family: Family = "tool"
    if tool in _DELEGATES:
        family = "delegation"
        more["agent"] = word(mapping(arguments).get("agent_type"))
    elif tool.startswith("mcp__") or (namespace or "").startswith("mcp__"):
        family = "mcp.call"
    native = word(payload.get("call_id")) or (word(payload.get("id")) if local else None)
    return Asked(tool, native, arguments, family, more)


def said(record: Fact, payload: Mapping[str, Any], turn: int) -> list[Fact]:
    """The turns of a message or a thought, at least one; `turn` is the number of the user turn it would begin."""
    kind = payload.get("type")
    if kind == "reasoning":
        return list(_thoughts(record, payload))
    if kind == "agent_message":
        # words of another agent, delivered to this one
        more = {key: told for key in ("author", "recipient") if (told := word(payload.get(key)))}
        return list(_turns(record, payload, "turn.system", more))
    role = payload.get("role")
    name = _TURNS.get(role) if isinstance(role, str) else None
    if name is None:
        native = f"message/{role}" if isinstance(role, str) else "message"
        return [replace(record, type="source.unknown", data={"native_type": native, "record": payload})]
    text = content_of(payload.get("content"))[0]
    if name == "turn.user" and text.lstrip().startswith(_HARNESS):
        name = "turn.system"
    if name == "turn.user":
        record = replace(record, opens=Opening(f"turn-{turn}", "turn", title_of(text)))
    return list(_turns(record, payload, name, {}))


def asked_in(payload: Mapping[str, Any]) -> str | None:
    """The text of an item or an event that is a user's prompt."""
    if payload.get("type") == "user_message":
        return word(payload.get("message"))
    if payload.get("type") != "message" or payload.get("role") != "user":
        return None
    text = content_of(payload.get("content"))[0]
    return None if text.lstrip().startswith(_HARNESS) else text or None


def _turns(record: Fact, payload: Mapping[str, Any], turn: str, more: Mapping[str, Any]) -> Iterator[Fact]:
    text, others = content_of(payload.get("content"))
    opening = record.opens
    if text or not others:
        for piece in pieces(text, turn, "text", flagged=flagged(payload)):
            data = {**piece.data, **more}
            yield replace(record, type=piece.type, data=data, part=piece.part, opens=opening)
            opening = None
    for place, block in enumerate(others):
        data = {"text": f"[{word(mapping(block).get('type')) or 'block'}]", "record": block, **more}
        yield replace(record, type=turn, data=data, part=f"block/{place}", opens=opening)
        opening = None


def _thoughts(record: Fact, payload: Mapping[str, Any]) -> Iterator[Fact]:
    """Summaries and texts of a thought; one that is only told encrypted is kept as it is."""
    blocks = [*listing(payload.get("summary")), *listing(payload.get("content"))]
    texts = [text for block in blocks if isinstance(text := mapping(block).get("text"), str) and text]
    for place, text in enumerate(texts):
        for piece in pieces(text, "turn.thought", f"thought/{place}"):
            yield replace(record, type=piece.type, data=piece.data, part=piece.part)
    if not texts:
        yield replace(record, type="turn.thought", data={"text": "", "record": payload})


def _command(tool: str, arguments: Any) -> dict[str, Any]:
    """`command` (a shell line) or `argv` (a list) of a tool that runs commands."""
    if tool not in _SHELLS:
        return {}
    given = mapping(arguments)
    command = given.get("command", given.get("cmd"))
    if isinstance(command, str):
        return {"command": command}
    if isinstance(command, list) and command and all(isinstance(part, str) for part in command):
        return {"argv": command}
    return {}
