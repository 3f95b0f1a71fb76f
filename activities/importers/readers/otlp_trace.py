"""One trace as a run: a span is two records, its start and its end, so that events stand in the order they happened.

Calls come from the spans of tools alone. A model call repeats the conversation before it: a message is a turn once for
each time it was said, counted within its agent.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from activities.importers.calls import Calls, Family, short_hash
from activities.importers.chat_messages import arguments_of, command_of
from activities.importers.compact import CompactMap
from activities.importers.exchange import Answered, Asked, end, start
from activities.importers.identity import Recent
from activities.importers.notes import unanswered
from activities.importers.parse import raw_of
from activities.importers.readers.otlp_spans import Message, Span
from activities.importers.shapes import moment
from activities.importers.texts import holds_hint, pieces, title_of
from domain.runs.transcript import Fact, Item, Opening, RunEnded

_TURNS = {"system": "turn.system", "developer": "turn.system", "user": "turn.user", "assistant": "turn.agent"}
_MAX_STEPS = 256


class Trace:
    """The state of one trace while its spans are read."""

    def __init__(self, native: str) -> None:
        self.native = native
        self._calls = Calls()
        self._frames = Recent()
        self._said = CompactMap()
        self._sources: set[int] = set()
        self._turns = 0
        self._ending = RunEnded()

    def source(self, about: Mapping[str, Any], at: Any) -> Iterator[Fact]:
        """What produced the spans that follow, said when it is new."""
        raw = raw_of(about)
        key = short_hash(raw)
        if key not in self._sources:
            self._sources.add(key)
            yield Fact("context.changed", {"kind": "resource", "record": about}, raw, at=moment(at))

    def frame(self, span: Span, near: Mapping[str, Span]) -> str | None:
        """The agent's span that `span` belongs to: itself, or the nearest above it that is known."""
        above: Span | None = span
        for _ in range(_MAX_STEPS):
            if above is None or above.kind == "agent":
                break
            parent = above.parent
            if parent is None:
                return None
            above = near.get(parent)
            if above is None:
                return self._frames.get(parent) or None
        return above.id if above is not None else None

    def begin(self, span: Span, near: Mapping[str, Span]) -> Iterator[Fact]:
        """The facts of a span's start, at least one."""
        frame = self.frame(span, near)
        self._frames.put(span.id, frame or "")
        record = Fact(
            "", {}, raw_of(span.value), at=moment(span.start), native_id=span.id, parent=span.parent, frame=frame
        )
        if span.kind == "tool":
            yield from start(self._calls, record, _asked(span), "call")
        elif span.kind == "agent":
            yield from self._agent(record, span, near)
        elif span.kind == "model":
            data = {"model": span.text("gen_ai.request.model"), "provider": _provider(span)}
            yield replace(record, type="model.called", data=data, part="model")
            yield from self._inputs(record, span)
        else:
            held = {"native_type": f"span/{span.name}", "record": span.value}
            yield replace(record, type="source.unknown", data=held, part="span")

    def end(self, span: Span) -> Iterator[Fact]:
        """The facts of a span's end; a span of no known kind was told whole at its start."""
        frame = self._frames.get(span.id) or None
        raw = raw_of(["end", span.value])
        record = Fact("", {}, raw, at=moment(span.end), parent=span.id, frame=frame)
        if span.parent is None:
            self._ending = RunEnded("failed", span.error[:500]) if span.error else RunEnded()
        if span.kind == "tool":
            answer = _answered(span)
            yield from end(self._calls, record, self._calls.end(_call_id(span) or span.id), answer, "result")
        elif span.kind == "agent":
            yield from self._outputs(record, span, again=False)
            yield self._agent_ended(record, span)
        elif span.kind == "model":
            yield from self._outputs(record, span, again=True)
            yield _completed(record, span)

    def close(self) -> Iterator[Item]:
        """What the end of the copy shows, and the run's end."""
        yield from unanswered(self._calls)
        yield self._ending

    def _agent(self, record: Fact, span: Span, near: Mapping[str, Span]) -> Iterator[Fact]:
        """An agent's work is a frame; it is a delegation where another agent stands above it."""
        agent = span.text("gen_ai.agent.name") or span.name
        parent = near.get(span.parent or "")
        above = self.frame(parent, near) if parent is not None else self._frames.get(span.parent or "") or None
        data: dict[str, Any] = {"agent": agent, "agent_id": span.text("gen_ai.agent.id")}
        if above is None:
            opening = Opening(span.id, "turn", agent)
            data["kind"] = "invoke_agent"
            yield replace(record, type="context.changed", data=data, part="agent", opens=opening)
        else:
            opening = Opening(span.id, "delegation", agent, above, span.id)
            data["tool"] = "invoke_agent"
            yield replace(record, type="delegation.started", data=data, part="agent", operation=span.id, opens=opening)
            self._frames.put(f"delegated {span.id}", above)
        yield from self._inputs(record, span)

    def _agent_ended(self, record: Fact, span: Span) -> Fact:
        agent = span.text("gen_ai.agent.name") or span.name
        data: dict[str, Any] = {"agent": agent, "usage": _usage(span), "record": span.rest()}
        if span.duration_ms is not None:
            data["duration_ms"] = span.duration_ms
        if span.error is not None:
            data["error"] = span.error
        if self._frames.get(f"delegated {span.id}") is None:
            return replace(record, type="context.changed", data={"kind": "agent_ended", **data}, part="agent")
        kind = "delegation.failed" if span.error is not None else "delegation.completed"
        return replace(record, type=kind, data=data | _hinted(data), part="agent", operation=span.id)

    def _inputs(self, record: Fact, span: Span) -> Iterator[Fact]:
        """Messages that were not said before: the second equal one of a call is new when one was said so far."""
        here: Counter[int] = Counter()
        for place, message in enumerate(span.said("input")):
            key = self._key(record, message)
            here[key] += 1
            if here[key] > self._said.get(key):
                self._said.put(key, here[key])
                yield from self._turn(record, message, f"input/{place}")

    def _outputs(self, record: Fact, span: Span, *, again: bool) -> Iterator[Fact]:
        for place, message in enumerate(span.said("output")):
            key = self._key(record, message)
            if again or not self._said.get(key):
                self._said.put(key, self._said.get(key) + 1)
                yield from self._turn(record, message, f"output/{place}")

    @staticmethod
    def _key(record: Fact, message: Message) -> int:
        return short_hash(record.frame or "", message.role, message.text, message.thought, raw_of(message.others))

    def _turn(self, record: Fact, message: Message, part: str) -> Iterator[Fact]:
        turn = _TURNS.get(message.role)
        if turn is None:
            # the words of a tool as they were handed on: its own span tells the result
            held = {"kind": f"message/{message.role}", "record": {"text": message.text, "parts": list(message.others)}}
            yield replace(record, type="context.changed", data=held | _hinted(held), part=part)
            return
        more: dict[str, Any] = {"record": list(message.others)} if message.others else {}
        opening = None
        if turn == "turn.user" and record.frame is None:
            self._turns += 1
            opening = Opening(f"turn-{self._turns}", "turn", title_of(message.text))
        if message.thought:
            for said in pieces(message.thought, "turn.thought", f"{part}/thought"):
                yield replace(record, type=said.type, data=said.data, part=said.part)
        if message.text or more or not message.thought:
            for said in pieces(message.text, turn, part):
                yield replace(record, type=said.type, data={**said.data, **more}, part=said.part, opens=opening)
                opening = None


def _call_id(span: Span) -> str | None:
    return span.text("gen_ai.tool.call.id")


def _asked(span: Span) -> Asked:
    tool = span.text("gen_ai.tool.name") or span.text("mcp.tool.name") or span.name
    arguments = arguments_of(span.attributes.get("gen_ai.tool.call.arguments"))
    family: Family = "mcp.call" if "mcp.method.name" in span.attributes else "tool"
    return Asked(tool, _call_id(span), arguments, family, command_of(tool, arguments), name=span.id)


def _answered(span: Span) -> Answered:
    """The result; it failed where the status, the error's type or the exit code says so, and nothing else is known."""
    told, error = span.attributes.get("gen_ai.tool.call.result"), span.error
    text = told if isinstance(told, str) else "" if told is None else raw_of(told).decode()
    code = span.attributes.get("process.exit.code")
    known = code if isinstance(code, int) and not isinstance(code, bool) else None
    failed = error is not None or bool(known)
    more: dict[str, Any] = {"record": span.rest()}
    if known is not None:
        more["exit_code"] = known
    elif span.succeeded:
        more |= {"success": True, "success_basis": "flag"}
    if span.duration_ms is not None:
        more["duration_ms"] = span.duration_ms
    return Answered(_call_id(span), text or (error or "" if failed else ""), failed, more)


def _completed(record: Fact, span: Span) -> Fact:
    data: dict[str, Any] = {
        "model": span.text("gen_ai.response.model") or span.text("gen_ai.request.model"),
        "usage": _usage(span),
        "message_id": span.text("gen_ai.response.id"),
        "error": span.error,
        "record": span.rest(),
    }
    return replace(record, type="model.completed", data=data, part="model/end")


def _usage(span: Span) -> dict[str, int]:
    return {
        key.removeprefix("gen_ai.usage."): value
        for key, value in span.attributes.items()
        if key.startswith("gen_ai.usage.") and type(value) is int
    }


def _provider(span: Span) -> str | None:
    return span.text("gen_ai.provider.name") or span.text("gen_ai.system")


def _hinted(data: Mapping[str, Any]) -> dict[str, Any]:
    return {"hint": True} if holds_hint(data) else {}
