"""tau-bench results: a list of runs, one per task and trial, with chat messages and a reward; and its few-shot
dialogues (JSONL).

A run's id holds its task, its trial and a hash of its first messages, because every model's results number tasks and
trials alike. A dialogue is a run of its own: plain text, cut where a line begins with a role; a call is seen only
through its result.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO

from activities.importers.calls import Call, Calls
from activities.importers.chat_messages import ChatMessages
from activities.importers.notes import closing_note, unanswered
from activities.importers.parse import NotReadable, document, lines, raw_of, with_head
from activities.importers.peek import HEAD_BYTES, peek
from activities.importers.shapes import mapping
from activities.importers.texts import pieces, title_of
from domain.contracts.ids import digest_id
from domain.runs.transcript import Fact, Item, Limits, Opening, Refused, RunEnded, RunFound

_LINE = re.compile(r"^(user|assistant|tool|system): ?", re.MULTILINE)
_TURNS = {"user": "turn.user", "assistant": "turn.agent", "system": "turn.system"}


class TauBench:
    """Reader of tau-bench result files and few-shot files."""

    format = "tau-bench"
    version = "1"

    def sniff(self, head: bytes) -> bool:
        seen = peek(head)
        if any(isinstance(record.get("messages_display"), str) for record in seen.records):
            return True
        first = seen.document[0] if isinstance(seen.document, list) and seen.document else None
        return isinstance(first, dict) and "task_id" in first and bool({"traj", "reward"} & first.keys())

    def read(self, stream: BinaryIO, limits: Limits) -> Iterator[Item]:
        head, stream = with_head(stream, HEAD_BYTES)
        if any("messages_display" in record for record in peek(head).records):
            yield from _dialogues(stream, limits)
            return
        found = document(stream, limits)
        if isinstance(found, Refused):
            yield found
            return
        runs = found[0]
        if not isinstance(runs, list):
            yield Refused("document", "the document is no JSON list, as tau-bench results are")
            return
        for place, run in enumerate(runs):
            if isinstance(run, Mapping) and isinstance(run.get("traj"), list):
                yield from _run(run, place)
            else:
                yield Refused(f"run {place}", "it is no run: it has no list `traj`")


def _verdict(text: str) -> dict[str, Any] | None:
    """The format's rule: a result that begins with `Error` failed, every other one succeeded."""
    return None if text.startswith("Error") else {"success": True, "success_basis": "format"}


def _run(run: Mapping[str, Any], place: int) -> Iterator[Item]:
    messages = run["traj"]
    info = run.get("info")
    told = mapping(info)
    task = told.get("task")
    instruction = mapping(task).get("instruction")
    asked = instruction if isinstance(instruction, str) else ""
    try:
        first = digest_id("first messages", *(raw_of(message).decode() for message in messages[:2]), size=8)
    except NotReadable as error:
        yield Refused(f"run {place}", f"the run is refused: {error}")
        return
    task_id, trial = _label(run.get("task_id")), _label(run.get("trial"))
    yield RunFound(
        native=f"task-{task_id}.trial-{trial}.{first}",
        title=title_of(asked),
        agent="tau-bench",
        task=f"task-{task_id}.{digest_id('instruction', asked, size=8)}",
        details={"trial": run.get("trial"), "task_id": run.get("task_id")},
    )
    chat = ChatMessages(_verdict)
    for number, message in enumerate(messages):
        try:
            yield from chat.facts(message, raw_of(message))
        except NotReadable as error:
            yield Refused(f"run {place}, message {number}", f"the record is refused: {error}")
    yield from unanswered(chat.calls)
    reward = run.get("reward")
    rest = {key: value for key, value in run.items() if key != "traj"}
    yield closing_note(
        "evaluation", "How the benchmark judged this run, with what it expected.", {"record": rest}, odd=False
    )
    known = isinstance(reward, int | float)
    outcome = ("completed" if reward >= 1 else "failed") if known else None
    yield RunEnded(outcome, f"reward {reward}" if known else None)


def _label(value: Any) -> str:
    return str(value) if isinstance(value, int | str) else "none"


def _dialogues(stream: BinaryIO, limits: Limits) -> Iterator[Item]:
    for line in lines(stream, limits):
        if isinstance(line, Refused):
            yield line
            continue
        text = line.value.get("messages_display") if isinstance(line.value, Mapping) else None
        yield RunFound(
            None, title=title_of(_LINE.sub("", text, count=1)) if isinstance(text, str) else None, agent="tau-bench"
        )
        if isinstance(text, str):
            yield from _dialogue(text, line.raw)
        else:
            yield Fact("source.unknown", {"native_type": None, "record": line.value}, line.raw)
        yield RunEnded(reason="a few-shot dialogue")


def _dialogue(text: str, raw: bytes) -> Iterator[Item]:
    marks = list(_LINE.finditer(text))
    if not marks or text[: marks[0].start()].strip():
        before = text[: marks[0].start()] if marks else text
        yield Fact("turn.system", {"text": before}, raw, "before")
    calls, turns = Calls(), 0
    for place, mark in enumerate(marks):
        end = marks[place + 1].start() if place + 1 < len(marks) else len(text)
        said, role = text[mark.end() : end].rstrip("\n"), mark.group(1)
        following = marks[place + 1].group(1) if place + 1 < len(marks) else None
        if role == "tool":
            call = calls.end("dialogue#")
            failed = _verdict(said) is None
            data: dict[str, Any] = {"tool": "unknown", "error" if failed else "output": said, **(_verdict(said) or {})}
            yield Fact(
                "tool.failed" if failed else "tool.completed",
                data,
                raw,
                f"{place}",
                operation=call.operation if call else None,
            )
            if call is None:
                note = {
                    "kind": "result_without_call",
                    "text": "A tool line of the dialogue follows no line of the assistant.",
                }
                yield Fact("source.note", note, raw, f"{place}/note", anomaly="result_without_call")
            continue
        calling = role == "assistant" and following == "tool"
        if not (calling and said == "None"):
            turns += role == "user"
            opening = Opening(f"turn-{turns}", "turn", title_of(said)) if role == "user" else None
            for piece in pieces(said, _TURNS[role], f"{place}"):
                yield Fact(piece.type, piece.data, raw, piece.part, opens=opening)
                opening = None
        if calling:
            operation = calls.number()
            calls.start(Call(operation, "dialogue#", "unknown"))
            yield Fact("tool.started", {"tool": "unknown"}, raw, f"{place}/call", operation=operation)
