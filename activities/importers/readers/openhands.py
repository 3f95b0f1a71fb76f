"""OpenHands V0 trajectories: a list of events, or rows (JSONL) that hold one as `history`.

A row or a list is one run. Exit code -1 means still running and is no exit code; times have no zone; old rows have
neither ids nor times and are paired by order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, BinaryIO

from activities.importers.notes import closing_note
from activities.importers.parse import NotReadable, document, lines, raw_of, with_head
from activities.importers.peek import HEAD_BYTES, peek
from activities.importers.readers.openhands_events import Events
from activities.importers.shapes import mapping
from activities.importers.texts import title_of
from domain.runs.transcript import Item, Limits, Refused, RunEnded, RunFound

_RESOLVER = frozenset({"issue", "instruction", "base_commit"})
_EVALUATION = frozenset({"instance_id", "instruction", "metadata"})


class OpenHandsV0:
    """Reader of OpenHands V0 downloads (a JSON list) and of evaluation and resolver outputs (rows)."""

    format = "openhands-v0"
    version = "1"

    def sniff(self, head: bytes) -> bool:
        seen = peek(head)
        if isinstance(seen.document, list):
            return any(_is_event(item) for item in seen.document[:4])
        rows = [*seen.records[:4], *([seen.document] if isinstance(seen.document, dict) else [])]
        return any(_is_row(row) for row in rows)

    def read(self, stream: BinaryIO, limits: Limits) -> Iterator[Item]:
        head, stream = with_head(stream, HEAD_BYTES)
        if peek(head).lines:
            # a row holds a whole run, so it is measured as a document
            for line in lines(stream, replace(limits, max_record_bytes=limits.max_document_bytes)):
                yield from (
                    [line] if isinstance(line, Refused) else _row(line.value, f"line {line.number}", line.repaired)
                )
            return
        found = document(stream, limits)
        if isinstance(found, Refused):
            yield found
        else:
            yield from _row(found[0], "document", found[1])


def _is_event(item: Any) -> bool:
    if not isinstance(item, Mapping) or "role" in item or "kind" in item:
        return False
    shape = item
    said = isinstance(shape.get("action"), str) or isinstance(shape.get("observation"), str)
    return said and bool({"source", "args", "extras", "message", "cause"} & shape.keys()) and "state" not in shape


def _is_row(row: Mapping[str, Any]) -> bool:
    history = row.get("history")
    if isinstance(history, list) and history:
        items = [item for item in history if isinstance(item, Mapping)]
        return any("role" not in item and ("action" in item or "observation" in item) for item in items)
    return row.keys() >= _RESOLVER or row.keys() >= _EVALUATION


def _row(row: Any, where: str, repaired: str | None) -> Iterator[Item]:
    """One run: the events of a list, or of a row's `history` with what the row says about the outcome."""
    told: Mapping[str, Any] = mapping(row)
    history = told.get("history") if told else row
    if not isinstance(history, list):
        yield Refused(where, "it is no run: it is neither a list of events nor a row with a list `history`")
        return
    items = history
    yield _found(told, items)
    events = Events()
    for place, item in enumerate(items):
        try:
            raw = raw_of(item)
        except NotReadable as error:
            yield Refused(f"{where}, event {place}", f"the record is refused: {error}")
            continue
        for fact in events.facts(item, raw):
            yield replace(fact, anomaly=fact.anomaly or repaired)
            repaired = None
    yield from events.close()
    rest = {key: value for key, value in told.items() if key != "history"}
    if rest:
        yield closing_note(
            "outcome", "What the row says about its run, beside the events.", {"record": rest}, odd=False
        )
    yield _ended(told, events)


def _found(told: Mapping[str, Any], items: list[Any]) -> RunFound:
    issue, instance = told.get("issue"), told.get("instance_id")
    title = mapping(issue).get("title")
    if not isinstance(title, str):
        asked = told.get("instruction")
        title = asked if isinstance(asked, str) else next((text for item in items[:8] if (text := _asked(item))), "")
    task = f"instance-{instance}" if isinstance(instance, str | int) and instance != "" else None
    return RunFound(None, title=title_of(title), agent="openhands", task=task)


def _asked(item: Any) -> str:
    """The text of an event that is a user's message."""
    if not isinstance(item, Mapping) or item.get("action") != "message" or item.get("source") != "user":
        return ""
    args = item.get("args")
    text = args.get("content") if isinstance(args, Mapping) else item.get("content")
    return text if isinstance(text, str) else ""


def _ended(told: Mapping[str, Any], events: Events) -> RunEnded:
    error, success, why = told.get("error"), told.get("success"), told.get("result_explanation")
    result = why if isinstance(why, str) else None
    if isinstance(error, str) and error:
        return RunEnded("failed", error[:500], result)
    if success is False:
        return RunEnded("failed", "the row says that the run had no success", result)
    return RunEnded(*events.outcome(), result)
