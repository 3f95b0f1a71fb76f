"""How extraction reads an event: what kind of thing it is, which texts it holds, and what kind of evidence those are.

What an agent wrote itself (messages, reports of delegates, what it echoed) is never a result; text given to it as a
hint is nothing at all.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeGuard

from domain.journal.event import Event
from domain.knowledge.evolve import KERNEL
from domain.runs.commands.checks import checks, checks_argv
from domain.runs.events import body_text

Kind = Literal[
    "user_message",
    "agent_message",
    "agent_thought",
    "tool_call",
    "tool_result",
    "state_change",
    "report",
    "observation",
    "final_result",
    "hint",
]
EvidenceType = Literal[
    "user_statement",
    "agent_message",
    "tool_call",
    "tool_result",
    "command_result",
    "check_result",
    "state_change",
    "agent_report",
    "observation",
    "hint",
]
Role = Literal["user", "agent", "tool", "mcp", "system"]
GROUNDS: frozenset[str] = frozenset({"tool_result", "command_result", "check_result", "user_statement"})
"""Evidence on which a claim may stand: somebody other than the agent said it (issue: "at least one of")."""
RESULTS: frozenset[str] = frozenset({"tool_result", "command_result", "check_result"})

SHORT_ARGUMENT = 300
"""A call's argument of up to this many characters on one line says what the result is about (a path, a pattern) and
may ground with it.
"""

_HINTS = re.compile(r"<temporality-hints\b[^>]*>.*?(?:</temporality-hints\s*>|\Z)", re.S | re.I)
_TAGS = re.compile(r"</?temporality-hints\b[^>]*>", re.I)
_DELEGATES = frozenset(
    {"task", "agent", "delegate", "think", "finish", "attempt_completion", "exitplanmode", "todowrite", "submit"}
)
_SPOKEN = re.compile(r"\s*(?:echo|printf)\b[^$`|;&<>]*\Z")
_TURNS: Mapping[str, tuple[Kind, Role, EvidenceType]] = {
    "turn.user": ("user_message", "user", "user_statement"),
    "turn.agent": ("agent_message", "agent", "agent_message"),
    "turn.thought": ("agent_thought", "agent", "agent_message"),
}
_BODIES = ("output", "error", "result", "text")


@dataclass(frozen=True, slots=True)
class Body:
    """A text of an event: the field of its data it stands in, and its characters (`sha256` where it lies in the
    artifact store).
    """

    field: str
    text: str
    sha256: str | None = None
    complete: bool = True


@dataclass(frozen=True, slots=True)
class Reading:
    """An event as extraction sees it."""

    event: Event
    kind: Kind
    role: Role
    type: EvidenceType
    bodies: tuple[Body, ...]
    tool: str | None = None
    command: str | None = None
    exit_code: int | None = None
    success: bool | None = None
    knowledge: str | None = None

    @property
    def hint(self) -> bool:
        return self.type == "hint"


@dataclass(frozen=True, slots=True)
class _Call:
    tool: str | None
    command: str | None
    check: bool


def read(events: Iterable[Event], bodies: Mapping[str, str] | None = None) -> Iterator[Reading]:
    """Every event of a run that extraction may see, in order. `bodies` are artifact texts by sha256; what is missing
    shows its preview.
    """
    held = bodies or {}
    calls: dict[str, _Call] = {}
    for event in events:
        found = _read(event, held, calls)
        if found is not None:
            yield found


def _read(event: Event, held: Mapping[str, str], calls: dict[str, _Call]) -> Reading | None:
    data, kind = event.data, event.type
    if kind in _TURNS:
        item, role, evidence = _TURNS[kind]
        if data.get("hint") is True:
            item, evidence = "hint", "hint"
        return Reading(event, item, role, evidence, _texts(data, ("text",), held))
    if kind == "hint.injected":
        return Reading(event, "hint", "system", "hint", _texts(data, ("text",), held), knowledge=data.get("knowledge"))
    if kind in ("tool.started", "mcp.call.started"):
        return _call(event, held, calls)
    if kind in ("tool.completed", "tool.failed", "tool.late", "mcp.call.completed", "mcp.call.failed"):
        return _result(event, held, calls)
    if kind in ("delegation.completed", "delegation.failed"):
        return Reading(event, "report", "agent", "agent_report", _texts(data, _BODIES, held), tool=data.get("agent"))
    if kind == "context.changed":
        return Reading(event, "state_change", "system", "state_change", _texts(data, ("text",), held))
    if kind == "run.closed":
        return Reading(event, "final_result", "agent", "agent_report", _texts(data, ("result",), held))
    if kind == "knowledge.proposed" and str(data.get("knowledge", "")).startswith(KERNEL):
        return Reading(
            event,
            "observation",
            "system",
            "observation",
            _texts(data, ("proposition",), held),
            knowledge=data.get("knowledge"),
        )
    return None


def _call(event: Event, held: Mapping[str, str], calls: dict[str, _Call]) -> Reading:
    data = event.data
    tool, argv = data.get("tool"), data.get("argv")
    command = data.get("command") or (shlex.join(map(str, argv)) if argv else None)
    place = event.workspace or ""
    proves = checks_argv(tuple(map(str, argv)), place) if argv else checks(command or "", place)
    if event.operation_id:
        calls.setdefault(event.operation_id, _Call(tool, command, bool(proves)))
    texts = (Body("command", command),) if command else _arguments(data.get("arguments"), held)
    role: Role = "mcp" if event.type.startswith("mcp.") else "agent"
    return Reading(event, "tool_call", role, "tool_call", texts, tool=tool, command=command)


def _result(event: Event, held: Mapping[str, str], calls: dict[str, _Call]) -> Reading:
    data = event.data
    call = calls.get(event.operation_id or "", _Call(None, None, False))
    tool = data.get("tool") or call.tool
    code, success = data.get("exit_code"), data.get("success")
    if event.type.endswith(".failed"):
        success = False
    elif code is not None:
        success = code == 0
    evidence: EvidenceType = "command_result" if call.command else "tool_result"
    if str(tool or "").lower() in _DELEGATES or (call.command and _SPOKEN.match(call.command)):
        evidence = "agent_report"
    elif call.check:
        evidence = "check_result"
    role: Role = "mcp" if event.type.startswith("mcp.") else "tool"
    kind: Kind = "report" if evidence == "agent_report" else "tool_result"
    return Reading(event, kind, role, evidence, _texts(data, _BODIES, held), tool, call.command, code, success)


def _texts(data: Mapping[str, Any], fields: tuple[str, ...], held: Mapping[str, str]) -> tuple[Body, ...]:
    found = (_body(name, data.get(name), held) for name in fields)
    return tuple(body for body in found if body is not None and body.text)


def _is_object(value: object) -> TypeGuard[Mapping[str, Any]]:
    return isinstance(value, Mapping)


def _body(field: str, value: Any, held: Mapping[str, str]) -> Body | None:
    if isinstance(value, str):
        return Body(field, value)
    if _is_object(value):
        sha = value.get("artifact")
        if isinstance(sha, str):
            return Body(field, held[sha], sha) if sha in held else Body(field, body_text(value), sha, complete=False)
    return None


def _arguments(arguments: Any, held: Mapping[str, str]) -> tuple[Body, ...]:
    if _is_object(arguments):
        found = (_body(f"arguments.{key}", value, held) for key, value in arguments.items())
        return tuple(body for body in found if body is not None and body.text)
    body = _body("arguments", arguments, held)
    return (body,) if body is not None and body.text else ()


def visible(text: str) -> tuple[tuple[int, str], ...]:
    """The parts of `text` outside hint blocks, each with its offset; a block that is not closed reaches to the end."""
    parts: list[tuple[int, str]] = []
    start = 0
    for block in _HINTS.finditer(text):
        parts.append((start, text[start : block.start()]))
        start = block.end()
    parts.append((start, text[start:]))
    return tuple((offset, part) for offset, part in parts if part.strip())


def masked(text: str) -> str:
    """`text` with every character of its hint blocks blanked: nothing in them can be quoted, and all offsets stay."""
    return _HINTS.sub(lambda block: " " * len(block.group()), text)


def hint_texts(text: str) -> tuple[str, ...]:
    """What stands inside the hint blocks of `text`."""
    return tuple(_TAGS.sub("", block.group()).strip() for block in _HINTS.finditer(text))
