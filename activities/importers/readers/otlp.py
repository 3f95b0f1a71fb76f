"""OTLP JSON traces: one export on each line, or one document; one trace is one run, its id the run's.

Spans of tools, models and agents are told by their `gen_ai.*` attributes; every other span is kept whole. The spans of
one export stand in the order of their times, whatever order they were written in.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, BinaryIO

from activities.importers.parse import NotReadable, document, lines, raw_of, with_head
from activities.importers.peek import HEAD_BYTES, peek
from activities.importers.readers.otlp_spans import Span, attributes_of, nanos, span_of
from activities.importers.readers.otlp_trace import Trace
from activities.importers.shapes import listing, mapping, mappings
from activities.importers.texts import title_of
from domain.runs.transcript import Fact, Item, Limits, Refused, RunFound

_MAX_DEPTH = 256


class OtlpTraces:
    """Reader of OTLP JSON trace exports, as the collector's file exporter writes them."""

    format = "otlp"
    version = "1"

    def sniff(self, head: bytes) -> bool:
        seen = peek(head)
        return any("resourceSpans" in record for record in (*seen.records, mapping(seen.document)))

    def read(self, stream: BinaryIO, limits: Limits) -> Iterator[Item]:
        head, stream = with_head(stream, HEAD_BYTES)
        reading = _Reading()
        if peek(head).lines:
            # a line holds a whole export, so it is measured as a document
            for line in lines(stream, replace(limits, max_record_bytes=limits.max_document_bytes)):
                if isinstance(line, Refused):
                    yield line
                else:
                    yield from reading.export(line.value, f"line {line.number}", line.repaired)
        else:
            found = document(stream, limits)
            if isinstance(found, Refused):
                yield found
            else:
                yield from reading.export(found[0], "document", found[1])
        yield from reading.close()


@dataclass(frozen=True, slots=True)
class _Held:
    """A span of the export at hand, and what produced it."""

    span: Span
    source: Mapping[str, Any]


class _Reading:
    """One pass over a file: the traces found so far."""

    def __init__(self) -> None:
        self._traces: dict[str, Trace] = {}
        self._current: Trace | None = None

    def export(self, value: Any, where: str, repaired: str | None) -> Iterator[Item]:
        """The facts of one export, trace by trace."""
        groups = mapping(value).get("resourceSpans")
        if not isinstance(groups, list):
            yield from self._other(value, where)
            return
        held: dict[str, list[_Held]] = {}
        for place, (told, source) in enumerate(_spans(groups)):
            span = span_of(told) if isinstance(told, Mapping) else None
            try:
                raw_of([told, source])
            except NotReadable as error:
                yield Refused(f"{where}, span {place}", f"the span is refused: {error}")
                continue
            if span is None:
                yield Refused(f"{where}, span {place}", "the span names no trace and no id of its own")
                continue
            held.setdefault(span.trace, []).append(_Held(span, source))
        for native, spans in held.items():
            for item in self._trace(native, spans):
                if isinstance(item, Fact):
                    item = replace(item, anomaly=item.anomaly or repaired)
                    repaired = None
                yield item

    def close(self) -> Iterator[Item]:
        for trace in self._traces.values():
            yield RunFound(trace.native)
            yield from trace.close()

    def _other(self, value: Any, where: str) -> Iterator[Item]:
        """A line that holds no spans (logs, metrics): kept with the run it stands in."""
        if self._current is None:
            yield Refused(where, "it holds no spans: there is no list `resourceSpans`")
            return
        kind = next(iter(value), None) if isinstance(value, Mapping) else None
        try:
            yield Fact("source.unknown", {"native_type": kind, "record": value}, raw_of(value))
        except NotReadable as error:
            yield Refused(where, f"the record is refused: {error}")

    def _trace(self, native: str, held: list[_Held]) -> Iterator[Item]:
        trace = self._traces.get(native)
        if trace is None:
            trace = self._traces[native] = Trace(native)
            yield _found(native, held)
        elif trace is not self._current:
            yield RunFound(native)
        self._current = trace
        near = {item.span.id: item.span for item in held}
        for item, ends in _in_order(held, near):
            if ends:
                yield from trace.end(item.span)
            else:
                yield from trace.source(item.source, item.span.start)
                yield from trace.begin(item.span, near)


def _spans(groups: list[Any]) -> Iterator[tuple[Any, Mapping[str, Any]]]:
    """Each span with its resource and scope."""
    for group in mappings(groups):
        resource = attributes_of(mapping(group.get("resource")))
        for scoped in mappings(group.get("scopeSpans")):
            source = {"resource": resource, "scope": mapping(scoped.get("scope"))}
            for told in listing(scoped.get("spans")):
                yield told, source


def _in_order(held: list[_Held], near: Mapping[str, Span]) -> list[tuple[_Held, bool]]:
    """Starts and ends (True) by their times; at one instant parents start before and end after their children."""
    moments: list[tuple[tuple[int, int, int, int], _Held, bool]] = []
    for place, item in enumerate(held):
        depth = _depth(item.span, near)
        begins = nanos(item.span.start) or 0
        moments.append(((begins, 0, depth, place), item, False))
        ends = nanos(item.span.end)
        if ends:
            moments.append(((max(ends, begins), 1, -depth, place), item, True))
    return [(item, ends) for _, item, ends in sorted(moments, key=lambda told: told[0])]


def _depth(span: Span, near: Mapping[str, Span]) -> int:
    depth = 0
    above = near.get(span.parent or "")
    while above is not None and depth < _MAX_DEPTH:
        depth += 1
        above = near.get(above.parent or "")
    return depth


def _found(native: str, held: list[_Held]) -> RunFound:
    """The run, as the first export that holds its trace tells it."""
    spans = sorted((item.span for item in held), key=lambda span: nanos(span.start) or 0)
    asked = (message for span in spans if span.kind in ("model", "agent") for message in span.said("input"))
    said = next((message.text for message in asked if message.role == "user" and message.text), None)
    service = held[0].source["resource"].get("service.name")
    agent = next((name for span in spans if (name := span.text("gen_ai.agent.name"))), None)
    conversation = next((name for span in spans if (name := span.text("gen_ai.conversation.id"))), None)
    return RunFound(
        native=native,
        title=title_of(said or spans[0].name),
        agent=agent or (service if isinstance(service, str) else None),
        model=next((name for span in spans if (name := span.text("gen_ai.request.model"))), None),
        details={"conversation": conversation} if conversation else {},
    )
