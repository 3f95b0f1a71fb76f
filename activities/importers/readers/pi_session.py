"""One pi session: its entries as facts, with the calls that wait for results and the tree of entries."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from activities.importers.calls import Calls, short_hash
from activities.importers.exchange import Answered, Asked, end, start
from activities.importers.lineage import ANSWER, PROMPT, TALK, Lineage, Node
from activities.importers.notes import tree_notes, unanswered
from activities.importers.parse import Line
from activities.importers.shapes import counts, listing, mapping, moment, word
from activities.importers.texts import flagged, holds_hint, pieces, title_of
from domain.runs.transcript import Fact, Item, Opening, RunEnded

# pi's own words at the end of a bash result that is an error
_EXIT_CODE = re.compile(r"(?:\A|\n)Command exited with code (\d{1,6})\s*\Z")
_ABORTED = re.compile(r"(?:\A|\n)Command aborted\s*\Z")
_CHANGES = frozenset(
    {"session", "model_change", "thinking_level_change", "branch_summary", "custom", "custom_message", "label",
     "session_info"}
)  # fmt: skip
_CUT_SHORT = frozenset({"aborted", "error"})
_SHORT = 500


class Session:
    """The state of one session while its entries are read."""

    def __init__(self, native: str | None) -> None:
        self.native = native
        self._calls = Calls()
        self._lineage = Lineage()
        self._turns = 0
        self._ending = RunEnded()

    def entry(self, line: Line) -> Iterator[Item]:
        """The facts of one line, at least one."""
        value = line.value
        if not isinstance(value, Mapping):
            yield Fact("source.unknown", {"native_type": None, "record": value}, line.raw, anomaly=line.repaired)
            return
        kind = word(value.get("type"))
        record = Fact(
            "",
            {},
            line.raw,
            at=moment(value.get("timestamp")),
            native_id=_own(value),
            parent=word(value.get("parentId")),
        )
        message = mapping(value.get("message")) if kind == "message" else {}
        self._remember(record, message)
        repaired = line.repaired
        for fact in self._facts(record, kind, value, message):
            yield replace(fact, anomaly=fact.anomaly or repaired)
            repaired = None

    def close(self) -> Iterator[Item]:
        """What the end of the copy shows, and the run's end."""
        yield from unanswered(self._calls)
        yield from tree_notes(self._lineage)
        yield self._ending

    def _remember(self, record: Fact, message: Mapping[str, Any]) -> None:
        if record.native_id is None:
            return
        flags = {"user": TALK | PROMPT, "assistant": TALK | ANSWER}.get(word(message.get("role")) or "", 0)
        self._lineage.add(Node(record.native_id, record.parent, flags, content=short_hash(record.raw)), None)

    def _facts(
        self, record: Fact, kind: str | None, value: Mapping[str, Any], message: Mapping[str, Any]
    ) -> Iterator[Fact]:
        role = message.get("role")
        if role == "user":
            yield from self._asked(record, message)
        elif role == "assistant":
            yield from self._answer(record, message)
        elif role == "toolResult":
            yield from self._result(record, message)
        elif role == "bashExecution":
            yield from self._execution(record, message)
        elif kind == "compaction":
            data = {"kind": kind, "text": word(value.get("summary")) or "", "record": _rest(value, "summary")}
            yield replace(record, type="context.compacted", data=data | _hinted(data))
        elif kind in _CHANGES:
            data = {"kind": kind, "record": _rest(value)}
            yield replace(record, type="context.changed", data=data | _hinted(data))
        else:
            native = f"message/{role}" if isinstance(role, str) else kind
            yield replace(record, type="source.unknown", data={"native_type": native, "record": value})

    def _asked(self, record: Fact, message: Mapping[str, Any]) -> Iterator[Fact]:
        self._ending = RunEnded()
        self._turns += 1
        content = message.get("content")
        opening: Opening | None = Opening(f"turn-{self._turns}", "turn", title_of(text_of(content)))
        clock = _clock(message)
        for place, block in enumerate([content] if isinstance(content, str) else listing(content)):
            text = _text(block)
            if text is None:
                data = {"text": f"[{_kind(block)}]", "record": block, **clock}
                yield replace(record, type="turn.user", data=data, part=f"block/{place}", opens=opening)
                opening = None
                continue
            for said in pieces(text, "turn.user", f"text/{place}", flagged=flagged(message, block)):
                yield replace(record, type=said.type, data={**said.data, **clock}, part=said.part, opens=opening)
                opening = None
        if opening is not None:
            yield replace(record, type="turn.user", data={"text": "", **clock}, part="text", opens=opening)

    def _answer(self, record: Fact, message: Mapping[str, Any]) -> Iterator[Fact]:
        usage, reason = mapping(message.get("usage")), word(message.get("stopReason"))
        error = word(message.get("errorMessage"))
        data: dict[str, Any] = {
            "model": word(message.get("model")), "provider": word(message.get("provider")), "usage": counts(usage),
            "cost": mapping(usage.get("cost")).get("total"), "stop_reason": reason, "error": error, **_clock(message),
        }  # fmt: skip
        yield replace(record, type="model.completed", data=data, part="model")
        cut = {"aborted": True} if reason in _CUT_SHORT else {}
        for place, block in enumerate(listing(message.get("content"))):
            yield from self._block(record, block, place, cut)
        self._ending = _ending(reason, error)

    def _block(self, record: Fact, block: Any, place: int, cut: dict[str, Any]) -> Iterator[Fact]:
        kind = _kind(block)
        if kind == "toolCall":
            yield from self._call(record, mapping(block), place, cut)
        elif kind in ("text", "thinking"):
            turn = "turn.agent" if kind == "text" else "turn.thought"
            text = word(mapping(block).get(kind)) or ""
            for said in pieces(text, turn, f"{kind}/{place}", flagged=flagged(block)):
                yield replace(record, type=said.type, data={**said.data, **cut}, part=said.part)
        else:
            data = {"native_type": f"block/{kind}", "record": block}
            yield replace(record, type="source.unknown", data=data, part=f"block/{place}")

    def _call(self, record: Fact, block: Mapping[str, Any], place: int, cut: dict[str, Any]) -> Iterator[Fact]:
        tool, arguments = word(block.get("name")) or "unknown", block.get("arguments")
        command = mapping(arguments).get("command")
        more = dict(cut)
        if tool == "bash" and isinstance(command, str):
            more["command"] = command
        yield from start(self._calls, record, Asked(tool, word(block.get("id")), arguments, more=more), f"call/{place}")

    def _result(self, record: Fact, message: Mapping[str, Any]) -> Iterator[Fact]:
        native, tool = word(message.get("toolCallId")), word(message.get("toolName"))
        call = self._calls.end(native or f"{tool}#")
        text, wrong = text_of(message.get("content")), message.get("isError")
        more: dict[str, Any] = _clock(message)
        if short := {k: v for k, v in mapping(message.get("details")).items() if _is_short(v)}:
            more["details"] = short
        if wrong is True:
            code = _EXIT_CODE.search(text) if call and call.command else None
            more |= {"exit_code": int(code.group(1))} if code else {}
            more |= {"interrupted": True} if _ABORTED.search(text) else {}
        elif wrong is False:
            more |= {"success": True, "success_basis": "flag"}
        yield from end(self._calls, record, call, Answered(native, text, wrong is True, more, tool), "result")

    def _execution(self, record: Fact, message: Mapping[str, Any]) -> Iterator[Fact]:
        """A command that the user ran: call and result in one entry."""
        command, code = message.get("command"), message.get("exitCode")
        known = code if isinstance(code, int) and not isinstance(code, bool) else None
        asked = Asked("bash", None, {"command": command}, more={"by": "user"}, name="execution")
        if isinstance(command, str):
            asked = replace(asked, more={"command": command, "by": "user"})
        by_user = replace(record, actor="human:pi:user")
        yield from start(self._calls, by_user, asked, "call")
        more: dict[str, Any] = {"truncated": True} if message.get("truncated") is True else {}
        if message.get("cancelled") is True:
            more["interrupted"] = True
        if known is not None:
            more["exit_code"] = known
        output = message.get("output")
        answer = Answered(None, output if isinstance(output, str) else "", bool(known), {**more, **_clock(message)})
        yield from end(self._calls, record, self._calls.end("execution"), answer, "result")


def text_of(content: Any) -> str:
    """The text of a message's content: a string, or its text blocks."""
    if isinstance(content, str):
        return content
    return "\n".join(_text(block) or f"[{_kind(block)}]" for block in listing(content))


def _ending(reason: str | None, error: str | None) -> RunEnded:
    if reason == "aborted":
        return RunEnded("abandoned", "the session ends where the user aborted the agent")
    if reason == "error":
        return RunEnded("failed", (error or "the session ends with an error of the model's provider")[:_SHORT])
    return RunEnded("budget_exhausted", "the answer was cut at its length") if reason == "length" else RunEnded()


def _own(value: Mapping[str, Any]) -> str | None:
    """The id of an entry; a session's id names the run."""
    return None if value.get("type") == "session" else word(value.get("id"))


def _clock(message: Mapping[str, Any]) -> dict[str, Any]:
    """The message's own clock, which runs beside the entry's."""
    told = message.get("timestamp")
    return {} if told is None else {"message_time": told}


def _text(block: Any) -> str | None:
    if isinstance(block, str):
        return block
    text = mapping(block).get("text")
    return text if isinstance(text, str) else None


def _kind(block: Any) -> str:
    return word(mapping(block).get("type")) or "block"


def _rest(value: Mapping[str, Any], *without: str) -> dict[str, Any]:
    return {key: told for key, told in value.items() if key not in ("type", "timestamp", "id", "parentId", *without)}


def _is_short(value: Any) -> bool:
    return isinstance(value, int | float) or (isinstance(value, str) and len(value) <= _SHORT)


def _hinted(data: Mapping[str, Any]) -> dict[str, Any]:
    return {"hint": True} if holds_hint(data) else {}
