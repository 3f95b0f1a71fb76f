"""A call and its answer as facts, the same for every format that says them apart: paired, numbered, hints set aside.

The reader says what its record told; nothing here decides whether a call succeeded.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from activities.importers.calls import Call, Calls, Family
from activities.importers.notes import lonely_result, note, reused_call
from activities.importers.texts import holds_hint, without_hints
from domain.runs.transcript import Fact


@dataclass(frozen=True, slots=True)
class Asked:
    """A call as its record tells it. `native` is the format's own call id, None where there is none.

    `name` is what an answer without id calls it by; `more` is the rest of the event's data (`command`, `argv`, ...).
    """

    tool: str
    native: str | None = None
    arguments: Any = None
    family: Family = "tool"
    more: Mapping[str, Any] = field(default_factory=dict[str, Any])
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer as its record tells it: its text, whether it says that the call failed, and what else is known."""

    native: str | None
    text: str
    failed: bool = False
    more: Mapping[str, Any] = field(default_factory=dict[str, Any])
    name: str | None = None


def nameless(tool: str) -> str:
    """What calls of a tool are paired by where the format gives them no id: the tool's name, in order."""
    return f"{tool}#"


def start(calls: Calls, record: Fact, asked: Asked, part: str) -> Iterator[Fact]:
    """The call's fact, made like `record`, and a note where its id was used before."""
    operation, again = calls.operation(asked.native) if asked.native else (calls.number(), False)
    name = asked.native or asked.name or nameless(asked.tool)
    command = "command" in asked.more or "argv" in asked.more
    calls.start(Call(operation, name, asked.tool, asked.family, command, record.frame))
    data: dict[str, Any] = {
        "tool": asked.tool,
        "arguments": asked.arguments,
        "call_id": asked.native,
        **asked.more,
    }
    if holds_hint(asked.arguments, asked.more):
        data["hint"] = True
    fact = replace(record, type=f"{asked.family}.started", data=data, part=part, operation=operation)
    yield fact
    if again:
        yield note(fact, reused_call(asked.native), f"{part}/note")


def end(calls: Calls, record: Fact, call: Call | None, answer: Answered, part: str) -> Iterator[Fact]:
    """The answer's fact, hints that stood in it as turns of their own, and a note where it answers no open call."""
    output, hints = without_hints(answer.text)
    data: dict[str, Any] = {
        "tool": call.tool if call else answer.name,
        "call_id": answer.native,
        "error" if answer.failed else "output": output,
        **answer.more,
    }
    family = call.family if call else "tool"
    fact = replace(
        record,
        type=f"{family}.{'failed' if answer.failed else 'completed'}",
        data=data,
        part=part,
        operation=call.operation if call else answer.native,
        frame=call.frame if call and call.frame else record.frame,
    )
    yield fact
    for place, hint in enumerate(hints):
        yield replace(
            record, type="turn.system", data={"text": hint, "hint": True}, part=f"{part}/hint/{place}", operation=None
        )
    if call is None:
        yield note(fact, lonely_result(calls, answer.native, answer.name), f"{part}/note")
