"""mini-swe-agent trajectories: a bare list of messages (legacy), or an object with `info` and `messages` (1.1 and on).

The agent acts by one fenced shell block (or by tool calls); the return code is part of the observation, so it is the
command's exit code. What comes in the user's name after the first answer was written by the harness.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, BinaryIO

from activities.importers.calls import Calls
from activities.importers.chat_messages import arguments_of, content_of
from activities.importers.exchange import Answered, Asked, end, start
from activities.importers.notes import closing_note, unanswered
from activities.importers.parse import NotReadable, document, raw_of
from activities.importers.peek import Peek, peek
from activities.importers.shapes import counts, listing, mapping, mappings, moment, word
from activities.importers.texts import flagged, pieces, title_of
from domain.runs.transcript import Fact, Item, Limits, Opening, Refused, RunEnded, RunFound

_FENCE = re.compile(r"```(?:mswea_bash_command|bash)[ \t]*\r?\n(.*?)\r?\n```", re.DOTALL)
_RETURN_CODE = re.compile(r"\A\s*<returncode>(-?\d{1,9})</returncode>")
_OUTPUT = re.compile(r"<output>\r?\n?(.*?)(?:</output>\s*\Z|\Z)", re.DOTALL)
_TASK = re.compile(r"\APlease solve this issue:\s*")
_SUBMIT = "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"
_OLD_SUBMIT = "echo MICRO_SWE_AGENT_FINAL_OUTPUT"
_PARTS = frozenset({"info", "messages", "trajectory_format"})


class MiniSweAgent:
    """Reader of mini-swe-agent's `*.traj.json`."""

    format = "mini-swe-agent"
    version = "1"

    def sniff(self, head: bytes) -> bool:
        return is_mini(peek(head))

    def read(self, stream: BinaryIO, limits: Limits) -> Iterator[Item]:
        found = document(stream, limits)
        if isinstance(found, Refused):
            yield found
            return
        whole, repaired = found
        messages = mapping(whole).get("messages") if isinstance(whole, Mapping) else whole
        if not isinstance(messages, list):
            yield Refused(
                "document", "it is no trajectory: it is neither a list of messages nor has it a list `messages`"
            )
            return
        yield from _Run(mapping(whole), messages, repaired).read()


def is_mini(seen: Peek) -> bool:
    """Whether the beginning of a file is one of mini-swe-agent's; legacy files are lists of chat messages otherwise."""
    shape = seen.document
    if isinstance(shape, Mapping):
        form = shape.get("trajectory_format")
        return (isinstance(form, str) and form.startswith("mini-swe-agent")) or "mini_version" in mapping(
            shape.get("info")
        )
    messages = mappings(shape)
    if not messages or len(messages) < len(listing(shape)):
        return False
    if any("tool_calls" in message or message.get("role") == "tool" for message in messages):
        return False
    whole = messages[:-1] if seen.cut and len(messages) > 1 else messages
    if not all("role" in message and "content" in message for message in whole):
        return False
    text = seen.text
    return "mswea_bash_command" in text or "<returncode>" in text or ("THOUGHT" in text and "```bash" in text)


class _Run:
    """One trajectory: its messages in order."""

    def __init__(self, whole: Mapping[str, Any], messages: list[Any], repaired: str | None) -> None:
        self._whole = whole
        self._messages = messages
        self._repaired = repaired
        self._calls = Calls()
        self._turns = 0
        self._answered = False
        self._submitting = False
        self._submission: str | None = None

    def read(self) -> Iterator[Item]:
        info = mapping(self._whole.get("info"))
        yield self._found(info)
        for place, message in enumerate(self._messages):
            try:
                raw = raw_of(message)
            except NotReadable as error:
                yield Refused(f"message {place}", f"the record is refused: {error}")
                continue
            for fact in self._message(message, raw):
                yield replace(fact, anomaly=fact.anomaly or self._repaired)
                self._repaired = None
        yield from unanswered(self._calls)
        rest = {key: value for key, value in self._whole.items() if key != "messages"}
        if rest:
            held = "What the trajectory says about its run, beside the messages."
            yield closing_note("outcome", held, {"record": rest}, odd=False)
        yield self._end(info)

    def _found(self, info: Mapping[str, Any]) -> RunFound:
        asked = next((m for m in mappings(self._messages) if m.get("role") == "user"), {})
        model = mapping(mapping(info.get("config")).get("model")).get("model_name")
        version = word(info.get("mini_version"))
        return RunFound(
            native=None,
            title=title_of(_TASK.sub("", content_of(asked.get("content"))[0])),
            agent="mini-swe-agent",
            model=word(model),
            details={"version": version} if version else {},
        )

    def _message(self, message: Any, raw: bytes) -> Iterator[Fact]:
        shape = mapping(message)
        extra, role = mapping(shape.get("extra")), shape.get("role")
        record = Fact("", {}, raw, at=moment(extra.get("timestamp", shape.get("timestamp"))))
        text, others = content_of(shape.get("content"))
        if role == "assistant":
            yield from self._answer(record, shape, extra, text)
        elif role == "tool" or (role == "user" and self._calls.waiting()):
            yield from self._observation(record, shape, extra, text)
        elif role in ("system", "user", "exit"):
            asked = role == "user" and not self._answered
            yield from self._said(record, text, "turn.user" if asked else "turn.system", flagged(shape), opens=asked)
        else:
            native = role if isinstance(role, str) else None
            yield replace(record, type="source.unknown", data={"native_type": native, "record": message})
            return
        for place, block in enumerate(others):
            data = {"native_type": "block", "record": block}
            yield replace(record, type="source.unknown", data=data, part=f"block/{place}")

    def _said(self, record: Fact, text: str, turn: str, hint: bool, *, opens: bool = False) -> Iterator[Fact]:
        self._turns += opens
        opening = Opening(f"turn-{self._turns}", "turn", title_of(_TASK.sub("", text))) if opens else None
        for said in pieces(text, turn, "text", flagged=hint):
            yield replace(record, type=said.type, data=said.data, part=said.part, opens=opening)
            opening = None

    def _answer(self, record: Fact, message: Mapping[str, Any], extra: Mapping[str, Any], text: str) -> Iterator[Fact]:
        self._answered = True
        response = mapping(extra.get("response"))
        if response or "cost" in extra:
            data = {
                "model": word(response.get("model")),
                "usage": counts(response.get("usage")),
                "cost": extra.get("cost"),
            }
            yield replace(record, type="model.completed", data=data, part="model")
        yield from self._said(record, text, "turn.agent", flagged(message))
        asked = _asked(message, extra, text)
        self._submitting = any(_submits(call.more.get("command")) for call in asked)
        for place, call in enumerate(asked):
            yield from start(self._calls, record, call, f"call/{place}")

    def _observation(
        self, record: Fact, message: Mapping[str, Any], extra: Mapping[str, Any], text: str
    ) -> Iterator[Fact]:
        native = word(message.get("tool_call_id"))
        call = self._calls.end(native) if native else self._calls.end_oldest()
        told = _RETURN_CODE.match(text)
        known = extra.get("returncode")
        code = known if isinstance(known, int) and not isinstance(known, bool) else int(told.group(1)) if told else None
        output = _OUTPUT.search(text) if told else None
        if code is None and self._submitting:
            self._submission = text or None
        answer = Answered(
            native, output.group(1) if output else text, bool(code), {} if code is None else {"exit_code": code}
        )
        yield from end(self._calls, record, call, answer, "result")

    def _end(self, info: Mapping[str, Any]) -> RunEnded:
        last = mapping(mapping(self._messages[-1] if self._messages else None).get("extra"))
        status = word(info.get("exit_status")) or word(last.get("exit_status"))
        submission = word(info.get("submission")) or word(last.get("submission")) or self._submission
        if status is None:
            return RunEnded("completed" if self._submitting else None, None, submission)
        low = status.lower()
        if low == "submitted":
            return RunEnded("completed", status, submission)
        spent = any(part in low for part in ("limit", "cost", "context", "time"))
        return RunEnded("budget_exhausted" if spent else "failed", status, submission)


def _asked(message: Mapping[str, Any], extra: Mapping[str, Any], text: str) -> list[Asked]:
    """The calls of an answer: its tool calls, the actions the harness took from it, or its one fenced block.

    More than one block is no action: the harness answers with the rules of the form.
    """
    found: list[Asked] = []
    for call in mappings(message.get("tool_calls")):
        function = mapping(call.get("function"))
        arguments = arguments_of(function.get("arguments"))
        command = mapping(arguments).get("command")
        more = {"command": command} if isinstance(command, str) else {}
        found.append(Asked(word(function.get("name")) or "bash", word(call.get("id")), arguments, more=more))
    if found:
        return found
    commands = [action.get("command") for action in mappings(extra.get("actions"))]
    fenced = _FENCE.findall(text) if "actions" not in extra else []
    commands += [fenced[0].strip()] if len(fenced) == 1 else []
    return [Asked("bash", None, {"command": c}, more={"command": c}) for c in commands if isinstance(c, str)]


def _submits(command: Any) -> bool:
    return isinstance(command, str) and command.lstrip().startswith((_SUBMIT, _OLD_SUBMIT))
