"""Who&When: one failed multi-agent conversation, with labels that say which agent made the decisive mistake in which step.

Each message is a turn of the agent that wrote it, in a frame of its own with its step (from 0, as the labels count).
The labels stand in the run's details only: no turn, no result and no note repeats them, so that nothing that reads the
run's conversation can learn the answer from it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, BinaryIO

from activities.importers.calls import Calls
from activities.importers.chat_messages import content_of
from activities.importers.exchange import Answered, Asked, end, start
from activities.importers.identity import plain_id
from activities.importers.parse import NotReadable, document, raw_of
from activities.importers.peek import peek
from activities.importers.shapes import listing, mapping, mappings, word
from activities.importers.texts import flagged, pieces, title_of
from domain.contracts.ids import digest_id
from domain.runs.transcript import Fact, Item, Limits, Opening, Refused, RunEnded, RunFound

_LABELS = (
    "mistake_agent", "mistake_step", "mistake_reason", "is_correct", "is_corrected", "ground_truth", "level", "labels"
)  # fmt: skip
_KNOWN = frozenset({*_LABELS, "history", "question", "question_ID", "system_prompt"})
_PLAIN_ROLES = frozenset({"user", "assistant"})
# hand-crafted runs name the agent in the role: "Orchestrator (thought)", "Orchestrator (-> WebSurfer)"
_ROLE = re.compile(r"\A(?P<agent>[^()]+?)\s*\((?P<how>[^()]*)\)\s*\Z")
_EXECUTED = re.compile(r"\Aexitcode: (-?\d{1,9}) \(execution (?:succeeded|failed)\)\r?\n(?:Code output: ?)?")
_FENCE = re.compile(r"```([\w+-]*)[ \t]*\r?\n(.*?)\r?\n?```", re.DOTALL)
_SHELLS = frozenset({"sh", "bash", "shell"})


class WhoAndWhen:
    """Reader of Who&When files, hand-crafted and algorithm-generated."""

    format = "who-and-when"
    version = "1"

    def sniff(self, head: bytes) -> bool:
        seen = peek(head)
        shape = seen.document
        if not isinstance(shape, Mapping) or "trajectory" in shape:
            return False
        if {"mistake_agent", "mistake_step"} & shape.keys():
            return True
        if "question" in shape and {"is_correct", "is_corrected", "question_ID"} & shape.keys():
            return True
        roles = [word(message.get("role")) or "" for message in mappings(shape.get("history"))]
        return seen.cut and shape.keys() == {"history"} and any(_ROLE.match(role) for role in roles)

    def read(self, stream: BinaryIO, limits: Limits) -> Iterator[Item]:
        found = document(stream, limits)
        if isinstance(found, Refused):
            yield found
            return
        whole, repaired = found
        if not isinstance(whole, Mapping) or not isinstance(whole.get("history"), list):
            yield Refused("document", "it is no run: it has no list `history`")
            return
        yield from _Run(whole, repaired).read()


class _Run:
    """One conversation, in order."""

    def __init__(self, whole: Mapping[str, Any], repaired: str | None) -> None:
        self._whole = whole
        self._repaired = repaired
        self._history = listing(whole.get("history"))
        self._calls = Calls()
        # the code blocks of the latest message that held some: what the executor ran
        self._code: list[tuple[str, str]] = []

    def read(self) -> Iterator[Item]:
        try:
            first = digest_id("first message", *(raw_of(item).decode() for item in self._history[:1]), size=8)
        except NotReadable as error:
            yield Refused("document", f"the run is refused: {error}")
            return
        yield self._found(first)
        for key in ("system_prompt", "question"):
            yield from self._guarded(key, self._whole.get(key), 0)
        for step, message in enumerate(self._history):
            yield from self._guarded("history", message, step)
        for key in sorted(self._whole.keys() - _KNOWN):
            yield from self._guarded(key, self._whole[key], 0)
        yield _ended(self._whole)

    def _found(self, first: str) -> RunFound:
        question, own = self._whole.get("question"), self._whole.get("question_ID")
        named = str(own) if isinstance(own, str | int) and own != "" else None
        return RunFound(
            native=f"question-{named}.{first}" if named else None,
            title=title_of(question) if isinstance(question, str) else None,
            agent="multi-agent",
            task=f"question-{named}" if named else None,
            details={"labels": {key: self._whole[key] for key in _LABELS if key in self._whole}},
        )

    def _guarded(self, key: str, value: Any, step: int) -> Iterator[Item]:
        """The facts of one element; an element that cannot be written down is refused alone."""
        try:
            raw = raw_of(value)
        except NotReadable as error:
            yield Refused(f"message {step}" if key == "history" else key, f"the record is refused: {error}")
            return
        record = Fact("", {}, raw)
        for fact in self._told(key, value, record, step):
            yield replace(fact, anomaly=fact.anomaly or self._repaired)
            self._repaired = None

    def _told(self, key: str, value: Any, record: Fact, step: int) -> Iterator[Fact]:
        if key == "history":
            yield from self._message(value, record, step)
        elif key == "system_prompt":
            prompts = value if isinstance(value, Mapping) else {} if value is None else {"": value}
            for place, (agent, text) in enumerate(prompts.items()):
                said = text if isinstance(text, str) else ""
                more: dict[str, Any] = {"agent": agent} if said else {"agent": agent, "record": text}
                yield from _said(record, said, "turn.system", more, f"prompt/{place}")
        elif key == "question":
            yield from self._asked(value, record)
        else:
            yield replace(record, type="source.unknown", data={"native_type": key, "record": value}, part=key)

    def _asked(self, question: Any, record: Fact) -> Iterator[Fact]:
        """The question, unless the conversation begins with a person who asks it."""
        text, _ = content_of(question)
        first = mapping(self._history[0]) if self._history else {}
        if text and _who(first)[0] != "human":
            opening = Opening("question", "turn", title_of(text))
            yield from _said(replace(record, opens=opening), text, "turn.user", {}, "question")

    def _message(self, message: Any, record: Fact, step: int) -> Iterator[Fact]:
        if not isinstance(message, Mapping):
            yield replace(record, type="source.unknown", data={"native_type": None, "record": message})
            return
        agent, how = _who(message)
        text, others = content_of(message.get("content"))
        more: dict[str, Any] = {"step": step, "agent": agent}
        record = replace(record, opens=Opening(f"step-{step}", "turn", agent))
        ran = _EXECUTED.match(text)
        if ran is not None:
            yield from self._executed(record, text, ran, more)
        elif agent == "human":
            yield from _said(record, text, "turn.user", more)
        else:
            if how:
                more["how"] = how
            if flagged(message):
                more["hint"] = True
            by = replace(record, actor=f"agent:who-and-when:{plain_id(agent)}")
            yield from _said(by, text, "turn.thought" if how == "thought" else "turn.agent", more)
            self._code = _FENCE.findall(text) or self._code
        for place, block in enumerate(others):
            data = {"native_type": "block", "record": block}
            yield replace(record, type="source.unknown", data=data, part=f"block/{place}", opens=None)

    def _executed(self, record: Fact, text: str, ran: re.Match[str], more: Mapping[str, Any]) -> Iterator[Fact]:
        """The executor's message: the call is seen only through its result, what it ran stood in the message before."""
        code = int(ran.group(1))
        blocks, self._code = self._code, []
        shell = len(blocks) == 1 and blocks[0][0].lower() in _SHELLS
        command = {"command": blocks[0][1]} if shell else {}
        arguments = {"code": [{"language": language, "code": body} for language, body in blocks]}
        asked = Asked("execute_code", None, arguments, more={**more, **command})
        yield from start(self._calls, record, asked, "call")
        answer = Answered(None, text[ran.end() :], code != 0, {**more, "exit_code": code})
        yield from end(self._calls, replace(record, opens=None), self._calls.end_oldest(), answer, "result")


def _who(message: Mapping[str, Any]) -> tuple[str, str | None]:
    """The agent that wrote a message, and how (`thought`, `-> WebSurfer`) where the role says so."""
    name, role = word(message.get("name")), word(message.get("role")) or "unknown"
    if name is not None:
        return name, None
    told = _ROLE.match(role)
    if told is not None:
        return told.group("agent"), told.group("how")
    return ("unknown" if role in _PLAIN_ROLES else role), None


def _said(record: Fact, text: str, turn: str, more: Mapping[str, Any], part: str = "text") -> Iterator[Fact]:
    """The turns of a text, made like `record`: it opens the frame with the first, a hint in it has no actor of its own."""
    opening = record.opens
    for said in pieces(text, turn, part, flagged=more.get("hint") is True):
        yield replace(
            record, type=said.type, data={**more, **said.data}, part=said.part, opens=opening,
            actor=record.actor if said.type == turn else None,
        )  # fmt: skip
        opening = None


def _ended(whole: Mapping[str, Any]) -> RunEnded:
    right = whole.get("is_correct", whole.get("is_corrected"))
    if not isinstance(right, bool):
        return RunEnded()
    return RunEnded("completed", "the answer is correct") if right else RunEnded("failed", "the answer is not correct")
