"""OTLP spans as they stand in JSON: attributes as plain values, and the messages of a model call in any of their forms.

Messages are attributes of the span (JSON text or structured), events of it, or older numbered attributes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from activities.importers.chat_messages import arguments_of
from activities.importers.shapes import listing, mapping, mappings, word

_DEEPEST = 32
_NUMBERED = re.compile(r"\Agen_ai\.(prompt|completion)\.(\d{1,4})\.(role|content)\Z")
_EVENT_ROLES = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
}
_MESSAGES = ("gen_ai.system_instructions", "gen_ai.input.messages", "gen_ai.output.messages")
_MODEL_CALLS = frozenset({"chat", "text_completion", "generate_content", "embeddings"})
_AGENTS = frozenset({"invoke_agent", "invoke_workflow"})
_SERVER = (2, "SPAN_KIND_SERVER")
_ERROR = (2, "STATUS_CODE_ERROR")
_OK = (1, "STATUS_CODE_OK")


@dataclass(frozen=True, slots=True)
class Message:
    """One message: what was said, what was thought, and its parts that are neither."""

    role: str
    text: str = ""
    thought: str = ""
    others: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True)
class Span:
    """One span; `value` is the whole of it as found, `attributes` its attributes as plain values."""

    value: Mapping[str, Any]
    trace: str
    id: str
    parent: str | None
    name: str
    attributes: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @property
    def start(self) -> Any:
        return self.value.get("startTimeUnixNano")

    @property
    def end(self) -> Any:
        return self.value.get("endTimeUnixNano")

    @property
    def kind(self) -> Literal["tool", "model", "agent"] | None:
        """What the span is of an agent's work; None for every other span."""
        operation = self.text("gen_ai.operation.name")
        if self.text("mcp.method.name") == "tools/call":
            # the server's half of a call is a span of its own, and no second call
            return None if self.value.get("kind") in _SERVER else "tool"
        if operation == "execute_tool" or (operation is None and "gen_ai.tool.name" in self.attributes):
            return "tool"
        if operation in _AGENTS:
            return "agent"
        if operation in _MODEL_CALLS or (operation is None and "gen_ai.request.model" in self.attributes):
            return "model"
        return None

    def text(self, key: str) -> str | None:
        return word(self.attributes.get(key))

    @property
    def error(self) -> str | None:
        """What went wrong, in the span's own words; None where it says nothing of the kind."""
        status = mapping(self.value.get("status"))
        kind = self.text("error.type")
        if status.get("code") not in _ERROR and kind is None:
            return None
        told = [word(attributes_of(event).get("exception.message")) for event in self.events("exception")]
        said = next((text for text in told if text), None)
        return word(status.get("message")) or said or kind or "the span has the status error"

    @property
    def succeeded(self) -> bool:
        """Whether the span's status is explicitly OK; most spans say nothing."""
        return mapping(self.value.get("status")).get("code") in _OK and self.error is None

    def events(self, name: str) -> list[Mapping[str, Any]]:
        return [event for event in mappings(self.value.get("events")) if event.get("name") == name]

    @property
    def duration_ms(self) -> int | None:
        start, end = nanos(self.start), nanos(self.end)
        return (end - start) // 1_000_000 if start and end and end >= start else None

    def said(self, where: Literal["input", "output"]) -> Iterator[Message]:
        """The messages that went in or came out, as far as the span holds any."""
        held = [self.attributes, *map(attributes_of, self.events("gen_ai.client.inference.operation.details"))]
        for attributes in held:
            if where == "input" and _MESSAGES[0] in attributes:
                parts = arguments_of(attributes[_MESSAGES[0]])
                yield _message({"parts": parts if isinstance(parts, list) else [parts]}, "system")
            for message in _list(attributes.get(_MESSAGES[1 if where == "input" else 2])):
                yield _message(message, "user" if where == "input" else "assistant")
        yield from self._numbered("prompt" if where == "input" else "completion")
        for event in mappings(self.value.get("events")):
            yield from _event(event, where)

    def _numbered(self, name: str) -> Iterator[Message]:
        found: dict[int, dict[str, Any]] = {}
        for key, value in self.attributes.items():
            match = _NUMBERED.match(key)
            if match is not None and match.group(1) == name:
                found.setdefault(int(match.group(2)), {})[match.group(3)] = value
        for _, message in sorted(found.items()):
            yield _message(message, "user" if name == "prompt" else "assistant")

    def rest(self) -> dict[str, Any]:
        """What the span holds beside its messages, for its event: attributes, events and links."""
        told: dict[str, Any] = {
            key: value
            for key, value in self.attributes.items()
            if key not in _MESSAGES and not _NUMBERED.match(key) and not key.startswith("gen_ai.tool.call.")
        }
        kept = {"name": self.name, "attributes": told}
        others = {key: self.value[key] for key in ("links", "status", "traceState") if self.value.get(key)}
        events = [e for e in mappings(self.value.get("events")) if not str(e.get("name")).startswith("gen_ai.")]
        return {**kept, **others, **({"events": events} if events else {})}


def span_of(value: Mapping[str, Any]) -> Span | None:
    """The span, where it names its trace and itself."""
    trace, own = word(value.get("traceId")), word(value.get("spanId"))
    if trace is None or own is None:
        return None
    name = word(value.get("name")) or "span"
    return Span(value, trace, own, word(value.get("parentSpanId")), name, attributes_of(value))


def attributes_of(holder: Mapping[str, Any]) -> dict[str, Any]:
    """The attributes of a resource, span or event as plain values."""
    return {
        key: plain(item.get("value")) for item in mappings(holder.get("attributes")) if (key := word(item.get("key")))
    }


def plain(value: Any, depth: int = 0) -> Any:
    """The value of an attribute: `{"intValue": "3"}` is 3. What has another form, or lies too deep, stays as it is."""
    if not isinstance(value, Mapping) or len(value) != 1 or depth > _DEEPEST:
        return value
    ((kind, held),) = value.items()
    if kind == "intValue":
        return int(held) if isinstance(held, str) and re.fullmatch(r"-?\d{1,19}", held) else held
    if kind in ("stringValue", "boolValue", "doubleValue", "bytesValue"):
        return held
    if kind == "arrayValue":
        return [plain(item, depth + 1) for item in listing(mapping(held).get("values"))]
    if kind == "kvlistValue":
        items = mappings(mapping(held).get("values"))
        return {key: plain(item.get("value"), depth + 1) for item in items if (key := word(item.get("key")))}
    return value


def nanos(value: Any) -> int | None:
    """A time as nanoseconds since 1970, for order only."""
    if isinstance(value, str) and re.fullmatch(r"\d{1,20}", value):
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _list(value: Any) -> list[Any]:
    told = arguments_of(value)
    return told if isinstance(told, list) else [] if told is None else [told]


def _event(event: Mapping[str, Any], where: str) -> Iterator[Message]:
    name, attributes = event.get("name"), attributes_of(event)
    role = _EVENT_ROLES.get(name) if isinstance(name, str) else None
    if where == "input" and role is not None:
        yield _message(attributes, role)
    elif where == "output" and name == "gen_ai.choice":
        told = arguments_of(attributes.get("message", attributes))
        yield _message(told, "assistant")
    elif where == "input" and name == "gen_ai.content.prompt":
        for message in _list(attributes.get("gen_ai.prompt")):
            yield _message(message, "user")
    elif where == "output" and name == "gen_ai.content.completion":
        for message in _list(attributes.get("gen_ai.completion")):
            yield _message(message, "assistant")


def _message(told: Any, role: str) -> Message:
    """A message of `parts`, or of `content` (a text, or parts) and `tool_calls`."""
    if not isinstance(told, Mapping):
        return Message(role, told) if isinstance(told, str) else Message(role, others=(told,))
    content = told.get("parts", told.get("content"))
    parts = [content] if isinstance(content, str) else listing(content)
    texts: list[str] = []
    thoughts: list[str] = []
    others: list[Any] = list(listing(arguments_of(told.get("tool_calls"))))
    for part in parts:
        shape = mapping(part)
        text = part if isinstance(part, str) else shape.get("content", shape.get("text"))
        kind = shape.get("type", "text")
        if isinstance(text, str) and kind in ("text", "reasoning"):
            (texts if kind == "text" else thoughts).append(text)
        else:
            others.append(part)
    if content is not None and not isinstance(content, str | list):
        others.append(content)
    return Message(word(told.get("role")) or role, "\n".join(texts), "\n".join(thoughts), tuple(others))
