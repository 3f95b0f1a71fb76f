"""The content blocks of Claude Code messages: what was said, thought, called and answered, block by block."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from activities.importers.calls import Call, Calls, Family, short_hash
from activities.importers.notes import lonely_result, note, reused_call
from activities.importers.readers.claude_code_results import SHELL_TOOLS, result_data
from activities.importers.shapes import mapping, moment, word
from activities.importers.texts import flagged, holds_hint, pieces, title_of, user_pieces, without_hints
from domain.runs.transcript import Fact, Opening

_CALLS = ("tool_use", "server_tool_use", "mcp_tool_use")
_DELEGATES = frozenset({"Task", "Agent"})
_MAX_TASKS = 1024


@dataclass(slots=True)
class Record:
    """One line, with the fields every fact of it carries."""

    value: Mapping[str, Any]
    raw: bytes
    repaired: str | None = None
    frame: str | None = None
    message: Mapping[str, Any] = field(init=False)

    def __post_init__(self) -> None:
        message = self.value.get("message")
        self.message = mapping(message)

    def _text(self, key: str) -> str | None:
        value = self.value.get(key)
        return value if isinstance(value, str) and value else None

    @property
    def kind(self) -> str | None:
        return self._text("type")

    @property
    def native(self) -> str | None:
        return self._text("uuid")

    @property
    def parent(self) -> str | None:
        return self._text("parentUuid")

    @property
    def sidechain(self) -> bool:
        return self.value.get("isSidechain") is True

    @property
    def message_id(self) -> str | None:
        value = self.message.get("id")
        return value if isinstance(value, str) and value else None

    @property
    def written_by_harness(self) -> bool:
        """A user record that no user wrote: meta, summaries of compactions, what only the transcript shows."""
        return any(self.value.get(key) is True for key in ("isMeta", "isCompactSummary", "isVisibleInTranscriptOnly"))

    def fact(self, kind: str, data: dict[str, Any], part: str = "", operation: str | None = None) -> Fact:
        """A fact of this record; the repair of its bytes is counted with its first one."""
        repaired, self.repaired = self.repaired, None
        if self.value.get("isSidechain") is True:
            data = {**data, "sidechain": True}
        return Fact(
            type=kind,
            data=data,
            raw=self.raw,
            part=part,
            at=moment(self.value.get("timestamp")),
            native_id=self.native,
            parent=self.parent,
            operation=operation,
            frame=self.frame,
            workspace=self._text("cwd"),
            sidechain=self.sidechain,
            anomaly=repaired,
        )

    def note(self, kind: str, text: str, part: str = "") -> Fact:
        return replace(self.fact("source.note", {"kind": kind, "text": text}, f"{kind}{part}"), anomaly=kind)


class Blocks:
    """Blocks of the records of one session, with the calls that wait for results and the tasks that wait for their
    sidechain.
    """

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._tasks: OrderedDict[int, list[Opening]] = OrderedDict()

    def user(self, record: Record, content: str | list[Any]) -> Iterator[Fact]:
        """A user record: what was typed, what the harness wrote, results of calls."""
        turn = "turn.system" if record.written_by_harness or record.sidechain else "turn.user"
        if record.value.get("isCompactSummary") is True:
            data: dict[str, Any] = {"kind": "summary", "text": _flat(content)}
            yield record.fact("context.compacted", data | ({"hint": True} if holds_hint(data) else {}), "summary")
            return
        extra = _marks(record)
        hint = flagged(record.value, record.message)
        blocks: list[Any] = [content] if isinstance(content, str) else content
        told = record.value.get("toolUseResult")
        for place, block in enumerate(blocks):
            if isinstance(block, str) or _kind(block) == "text":
                text = block if isinstance(block, str) else word(block.get("text")) or ""
                for said in user_pieces(text, turn, f"text/{place}", flagged=hint or flagged(block)):
                    yield record.fact(said.type, {**said.data, **extra}, said.part)
            elif _kind(block) == "tool_result":
                yield from self._result(record, mapping(block), told, place)
            else:
                yield _other(record, block, turn, place)
        if not blocks:
            yield record.fact("source.unknown", {"native_type": "user", "record": record.value})

    def assistant(self, record: Record, content: str | list[Any]) -> Iterator[Fact]:
        """An assistant record: text, thoughts, calls."""
        blocks: list[Any] = [content] if isinstance(content, str) else content
        extra = {k: True for k in ("isApiErrorMessage", "isAbortedMidStream") if record.value.get(k) is True}
        for place, block in enumerate(blocks):
            kind = "text" if isinstance(block, str) else _kind(block)
            if kind in ("text", "thinking"):
                text = block if isinstance(block, str) else word(block.get(kind)) or ""
                turn = "turn.agent" if kind == "text" else "turn.thought"
                for said in pieces(text, turn, f"{kind}/{place}", flagged=flagged(block)):
                    yield record.fact(said.type, {**said.data, **extra}, said.part)
            elif kind in _CALLS:
                yield from self._call(record, mapping(block), place)
            elif kind is not None and kind.endswith("tool_result"):
                yield from self._result(record, mapping(block), None, place)
            else:
                yield _other(record, block, "turn.agent", place)
        if not blocks:
            yield record.fact("turn.agent", {"text": ""}, "text/0")

    def _call(self, record: Record, block: Mapping[str, Any], place: int) -> Iterator[Fact]:
        native, tool = word(block.get("id")), word(block.get("name")) or "unknown"
        operation, again = self._calls.operation(native) if native else (self._calls.number(), False)
        arguments = block.get("input")
        given = mapping(arguments)
        data: dict[str, Any] = {"tool": tool, "arguments": arguments, "call_id": native}
        command = given.get("command")
        shell = tool in SHELL_TOOLS and isinstance(command, str)
        if shell:
            data["command"] = command
            if given.get("run_in_background") is True:
                data["background"] = True
        if holds_hint(arguments):
            data["hint"] = True
        family = _family(tool)
        opening = None
        if family == "delegation":
            data["agent"] = word(given.get("subagent_type"))
            opening = self._task(operation, given, record.frame)
        frame = opening.key if opening else record.frame
        self._calls.start(Call(operation, native or f"{record.native}#", tool, family, shell, frame))
        fact = replace(record.fact(f"{family}.started", data, f"call/{place}", operation), opens=opening)
        yield fact
        if again:
            yield note(fact, reused_call(native), f"call/{place}/note")

    def _task(self, operation: str, given: Mapping[str, Any], frame: str | None) -> Opening:
        prompt = word(given.get("prompt"))
        title = title_of(word(given.get("description")) or prompt or "")
        opening = Opening(f"task/{operation}", "delegation", title, frame, operation)
        if prompt:
            self._tasks.setdefault(short_hash(prompt), []).append(opening)
            if len(self._tasks) > _MAX_TASKS:
                self._tasks.popitem(last=False)
        return opening

    def delegated(self, prompt: str) -> Opening | None:
        """The delegation that a sidechain with this prompt works on, the oldest first."""
        key = short_hash(prompt)
        waiting = self._tasks.get(key)
        if not waiting:
            return None
        opening = waiting.pop(0)
        if not waiting:
            del self._tasks[key]
        return opening

    def _result(self, record: Record, block: Mapping[str, Any], told: Any, place: int) -> Iterator[Fact]:
        native = word(block.get("tool_use_id"))
        # a result without id answers the call without id of the record it names
        asker = word(record.value.get("sourceToolAssistantUUID")) or record.parent
        call = self._calls.end(native or f"{asker}#")
        outcome, data = result_data(block, told, call)
        data["call_id"] = native
        told_in = "output" if outcome == "completed" else "error"
        data[told_in], hints = without_hints(data[told_in])
        frame, record.frame = record.frame, call.frame if call and call.frame else record.frame
        operation = call.operation if call else native
        part = f"result/{place}"
        fact = record.fact(f"{call.family if call else 'tool'}.{outcome}", data, part, operation)
        yield fact
        for number, text in enumerate(hints):
            yield record.fact("turn.system", {"text": text, "hint": True}, f"{part}/hint/{number}")
        if call is None:
            yield note(fact, lonely_result(self._calls, native), f"{part}/note")
        record.frame = frame


def _family(tool: str) -> Family:
    if tool in _DELEGATES:
        return "delegation"
    return "mcp.call" if tool.startswith("mcp__") else "tool"


def _kind(block: Any) -> str | None:
    kind = block.get("type") if isinstance(block, Mapping) else None
    return kind if isinstance(kind, str) else None


def _flat(content: str | list[Any]) -> str:
    if isinstance(content, str):
        return content
    texts = [b if isinstance(b, str) else b.get("text", "") for b in content if isinstance(b, str | Mapping)]
    return "\n".join(text for text in texts if isinstance(text, str))


def _marks(record: Record) -> dict[str, Any]:
    value = record.value
    marks: dict[str, Any] = {}
    if value.get("isMeta") is True:
        marks["meta"] = True
    if record.sidechain:
        marks["delegated"] = True
    return marks


def _other(record: Record, block: Any, turn: str, place: int) -> Fact:
    """A block that is no text and no call: images and documents are part of the turn, others are kept as unknown."""
    kind = _kind(block)
    if kind in ("image", "document"):
        return record.fact(turn, {"text": f"[{kind}]", "record": block}, f"{kind}/{place}")
    if kind == "redacted_thinking":
        return record.fact("turn.thought", {"text": "", "record": block}, f"{kind}/{place}")
    return record.fact(
        "source.unknown", {"native_type": f"block/{kind}" if kind else "block", "record": block}, f"block/{place}"
    )
