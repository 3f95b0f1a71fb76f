"""The content blocks of Claude Code messages: what was said, thought, called and answered, block by block."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, cast

from activities.importers.calls import Call, Calls, Family, short_hash
from activities.importers.notes import shown
from activities.importers.readers.claude_code_results import SHELL_TOOLS, result_data
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
        self.message = cast("Mapping[str, Any]", message) if isinstance(message, Mapping) else {}

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
        at = self.value.get("timestamp")
        repaired, self.repaired = self.repaired, None
        if self.value.get("isSidechain") is True:
            data = {**data, "sidechain": True}
        return Fact(
            type=kind,
            data=data,
            raw=self.raw,
            part=part,
            at=at if at is None or (isinstance(at, str | int | float) and not isinstance(at, bool)) else str(at),
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
    """Blocks of the records of one session, with the calls that wait for results and the tasks that wait for their sidechain."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._tasks: OrderedDict[int, list[Opening]] = OrderedDict()

    def user(self, record: Record, content: str | list[Any]) -> Iterator[Fact]:
        """A user record: what was typed, what the harness wrote, results of calls."""
        turn = "turn.system" if record.written_by_harness or record.sidechain else "turn.user"
        if record.value.get("isCompactSummary") is True:
            yield record.fact("context.compacted", {"kind": "summary", "text": _flat(content)}, "summary")
            return
        extra = _marks(record)
        hint = flagged(record.value, record.message)
        blocks: list[Any] = [content] if isinstance(content, str) else content
        told = record.value.get("toolUseResult")
        for place, block in enumerate(blocks):
            if isinstance(block, str) or _kind(block) == "text":
                text = block if isinstance(block, str) else block.get("text")
                for said in user_pieces(text if isinstance(text, str) else "", turn, f"text/{place}", flagged=hint or flagged(block)):
                    yield record.fact(said.type, {**said.data, **extra}, said.part)
            elif _kind(block) == "tool_result":
                yield from self._result(record, block, told, place)
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
                text = block if isinstance(block, str) else block.get(kind)
                turn = "turn.agent" if kind == "text" else "turn.thought"
                for said in pieces(text if isinstance(text, str) else "", turn, f"{kind}/{place}", flagged=flagged(block)):
                    yield record.fact(said.type, {**said.data, **extra}, said.part)
            elif kind in _CALLS:
                yield from self._call(record, block, place)
            elif kind is not None and kind.endswith("tool_result"):
                yield from self._result(record, block, None, place)
            else:
                yield _other(record, block, "turn.agent", place)
        if not blocks:
            yield record.fact("turn.agent", {"text": ""}, "text/0")

    def _call(self, record: Record, block: Mapping[str, Any], place: int) -> Iterator[Fact]:
        native = block.get("id") if isinstance(block.get("id"), str) and block["id"] else None
        tool = block.get("name") if isinstance(block.get("name"), str) else "unknown"
        operation, again = self._calls.operation(native) if native else (self._calls.number(), False)
        arguments = block.get("input")
        given = cast("Mapping[str, Any]", arguments) if isinstance(arguments, Mapping) else {}
        data: dict[str, Any] = {"tool": tool, "arguments": arguments, "call_id": native}
        command = given.get("command")
        shell = tool in SHELL_TOOLS and isinstance(command, str)
        if shell:
            data["command"] = command
            if given.get("run_in_background") is True:
                data["background"] = True
        if holds_hint(arguments):
            data["hint"] = True
        family = _family(str(tool))
        frame = record.frame
        opening = None
        if family == "delegation":
            data["agent"] = given.get("subagent_type") if isinstance(given.get("subagent_type"), str) else None
            asked = given.get("prompt")
            opening = self._task(operation, asked if isinstance(asked, str) else None, given, record.frame)
            frame = opening.key
        self._calls.start(Call(operation, native or f"{record.native}#", str(tool), family, shell, frame))
        fact = record.fact(f"{family}.started", data, f"call/{place}", operation)
        yield replace(fact, opens=opening) if opening else fact
        if again:
            yield record.note("duplicate_call_id", f"The call id `{shown(native or '')}` was used before; this is counted as another call.", f"/{place}")

    def _task(self, operation: str, prompt: str | None, given: Mapping[str, Any], frame: str | None) -> Opening:
        described = given.get("description")
        title = described if isinstance(described, str) else prompt or ""
        opening = Opening(f"task/{operation}", "delegation", title_of(title), frame, operation)
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
        native = block.get("tool_use_id") if isinstance(block.get("tool_use_id"), str) and block["tool_use_id"] else None
        asker = record.value.get("sourceToolAssistantUUID")
        name = native or f"{asker if isinstance(asker, str) else record.parent}#"
        call = self._calls.end(name)
        outcome, data = result_data(block, told, call)
        data["call_id"] = native
        field_name = "output" if outcome == "completed" else "error"
        data[field_name], hints = without_hints(data[field_name])
        frame, record.frame = record.frame, call.frame if call and call.frame else record.frame
        operation = call.operation if call else native
        yield record.fact(f"{call.family if call else 'tool'}.{outcome}", data, f"result/{place}", operation)
        for number, text in enumerate(hints):
            yield record.fact("turn.system", {"text": text, "hint": True}, f"result/{place}/hint/{number}")
        if call is None:
            known = native is not None and self._calls.known(native)
            kind = "second_result" if known else "result_without_call"
            why = "answers a call that has a result already" if known else "answers no call of this transcript"
            yield record.note(kind, f"The result for `{shown(native or 'no id')}` {why}.", f"/{place}")
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
    return record.fact("source.unknown", {"native_type": f"block/{kind}" if kind else "block", "record": block}, f"block/{place}")
