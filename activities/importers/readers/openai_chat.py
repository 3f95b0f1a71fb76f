"""OpenAI chat logs: a list of messages, a request with `messages` (and its response), or JSONL of either.

Messages have no times and no exit codes; a log of one completion tells when it was made, and its response is the last
message.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, BinaryIO

from activities.importers.chat_messages import ChatMessages, content_of
from activities.importers.notes import closing_note, unanswered
from activities.importers.parse import Line, NotReadable, document, lines, raw_of, with_head
from activities.importers.peek import HEAD_BYTES, peek
from activities.importers.readers.mini_swe_agent import is_mini
from activities.importers.shapes import counts, mapping, moment, word
from activities.importers.texts import title_of
from domain.runs.transcript import Fact, Item, Limits, Refused, RunEnded, RunFound

_ROLES = frozenset({"system", "developer", "user", "assistant", "tool", "function"})
_SESSIONS = ("session_id", "conversation_id", "thread_id")
_NOT_MESSAGES = frozenset({"messages", "response", "timestamp"})


class OpenAiChat:
    """Reader of chat-completions logs."""

    format = "openai-chat"
    version = "1"

    def sniff(self, head: bytes) -> bool:
        seen = peek(head)
        if is_mini(seen):
            return False
        if isinstance(seen.document, list):
            return _are_messages(seen.document)
        if isinstance(seen.document, dict) and _is_request(seen.document):
            return True
        return len(seen.records) > 1 and (
            all(_is_message(r) for r in seen.records) or any(_is_request(r) for r in seen.records)
        )

    def read(self, stream: BinaryIO, limits: Limits) -> Iterator[Item]:
        head, stream = with_head(stream, HEAD_BYTES)
        if peek(head).lines:
            yield from _lines(stream, replace(limits, max_record_bytes=limits.max_document_bytes))
            return
        found = document(stream, limits)
        if isinstance(found, Refused):
            yield found
        else:
            yield from _conversation(found[0], "document", found[1])


def _is_message(item: Any) -> bool:
    return (
        isinstance(item, Mapping)
        and word(item.get("role")) in _ROLES
        and bool({"content", "tool_calls", "function_call"} & item.keys())
    )


def _are_messages(items: list[Any]) -> bool:
    return bool(items) and all(_is_message(item) for item in items[:-1]) and (len(items) > 1 or _is_message(items[0]))


def _is_request(shape: Mapping[str, Any]) -> bool:
    messages = shape.get("messages")
    if not isinstance(messages, list) or not messages or "trajectory" in shape or "history" in shape:
        return False
    return _is_message(messages[0]) or (len(messages) == 1 and word(mapping(messages[0]).get("role")) in _ROLES)


def _lines(stream: BinaryIO, limits: Limits) -> Iterator[Item]:
    """JSONL: a conversation on each line, or a message on each line of one conversation."""
    chat: ChatMessages | None = None
    for line in lines(stream, limits):
        if isinstance(line, Refused):
            yield line
        elif isinstance(line.value, Mapping) and _is_request(line.value):
            yield from _conversation(line.value, f"line {line.number}", line.repaired)
        else:
            if chat is None:
                chat = ChatMessages()
                yield _found([line.value], {})
            else:
                yield RunFound(None)
            yield from _message(chat, line)
    if chat is not None:
        yield from unanswered(chat.calls)
        yield RunEnded()


def _message(chat: ChatMessages, line: Line) -> Iterator[Fact]:
    repaired = line.repaired
    for fact in chat.facts(line.value, line.raw, moment(mapping(line.value).get("timestamp"))):
        yield replace(fact, anomaly=fact.anomaly or repaired)
        repaired = None


def _conversation(told: Any, where: str, repaired: str | None) -> Iterator[Item]:
    """One run: its messages, the response where there is one, and what the request held beside them."""
    shape = mapping(told)
    messages = shape.get("messages") if shape else told
    if not isinstance(messages, list):
        yield Refused(
            where, "it is no conversation: it is neither a list of messages nor an object with a list `messages`"
        )
        return
    items = messages
    yield _found(items, shape)
    chat = ChatMessages()
    for place, message in enumerate(items):
        try:
            raw = raw_of(message)
        except NotReadable as error:
            yield Refused(f"{where}, message {place}", f"the record is refused: {error}")
            continue
        for fact in chat.facts(message, raw):
            yield replace(fact, anomaly=fact.anomaly or repaired)
            repaired = None
    outcome = None
    if "response" in shape:
        try:
            facts, outcome = _response(chat, shape)
            yield from facts
        except NotReadable as error:
            yield Refused(f"{where}, response", f"the record is refused: {error}")
    yield from unanswered(chat.calls)
    rest = {key: value for key, value in shape.items() if key not in _NOT_MESSAGES}
    if rest:
        held = "What the request held beside its messages."
        yield closing_note("request", held, {"record": rest}, "context.changed", odd=False)
    yield outcome or RunEnded()


def _found(items: list[Any], shape: Mapping[str, Any]) -> RunFound:
    asked = next((item for item in items if isinstance(item, Mapping) and item.get("role") == "user"), None)
    native = next((found for key in _SESSIONS if (found := word(shape.get(key)))), None)
    return RunFound(
        native=native,
        title=title_of(content_of(asked.get("content"))[0]) if asked is not None else None,
        model=word(shape.get("model")),
        at=moment(shape.get("timestamp", shape.get("created"))),
    )


def _response(chat: ChatMessages, shape: Mapping[str, Any]) -> tuple[list[Fact], RunEnded | None]:
    """The facts of the response, and the run's end where the response tells it."""
    response, at = shape["response"], moment(shape.get("timestamp"))
    told = mapping(response)
    raw = raw_of(response)
    choices = told.get("choices")
    if not isinstance(choices, list):
        return [Fact("source.unknown", {"native_type": "response", "record": response}, raw, at=at)], None
    usage, model = counts(told.get("usage")), word(told.get("model"))
    data = {"model": model, "usage": usage, "message_id": word(told.get("id")), "cost": shape.get("cost")}
    facts = [Fact("model.completed", data, raw, "model", at)]
    reasons: list[Any] = []
    for place, choice in enumerate(choices):
        message = mapping(choice).get("message")
        reasons.append(mapping(choice).get("finish_reason"))
        facts += [replace(fact, part=f"choice/{place}/{fact.part}") for fact in chat.facts(message, raw, at)]
    return facts, RunEnded("budget_exhausted", "the answer was cut at its length") if "length" in reasons else None
