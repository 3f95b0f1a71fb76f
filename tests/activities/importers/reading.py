"""Files read the way the import activity reads them: recognised by their first bytes, streamed, assembled."""

from __future__ import annotations

import io
import itertools
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson

from activities.importers.assemble import AssemblyOptions, FileEnd, RunClosing, SourceFile, assemble
from activities.importers.counts import Counts
from activities.importers.recognise import NotATranscript, recognise
from activities.importers.sidecar import Sidecar, with_outcomes
from domain.journal.canonical import canonical
from domain.journal.catalogue import Catalogue
from domain.journal.event import Event, EventModel
from domain.runs.events import EVENTS
from domain.runs.transcript import Fact, Limits, Refused, RunFound, TranscriptReader

FIXTURES = Path(__file__).parent / "fixtures"
RUN_TIME = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
LIMITS = Limits()
CATALOGUE = Catalogue(EVENTS)


@dataclass
class Imported:
    """What came of one file."""

    format: str
    events: list[Event] = field(default_factory=list)
    closings: list[RunClosing] = field(default_factory=list)
    refused: list[Refused] = field(default_factory=list)
    counts: Counts = field(default_factory=Counts)

    @property
    def ids(self) -> list[tuple[str, str]]:
        return [event.key for event in self.events]

    @property
    def tools(self) -> Counter[str]:
        return Counter(event.data["tool"] for event in self.events if event.type.endswith(".started"))

    def of(self, *types: str) -> list[Event]:
        return [event for event in self.events if event.type in types]

    def notes(self, kind: str) -> list[Event]:
        return [event for event in self.events if event.type.startswith("source.") and event.data.get("kind") == kind]


def reader_of(body: bytes) -> TranscriptReader:
    found = recognise(body[: 64 * 1024])
    assert not isinstance(found, NotATranscript), found
    return found


def facts_of(body: bytes) -> list[Fact]:
    return [item for item in reader_of(body).read(io.BytesIO(body), Limits()) if isinstance(item, Fact)]


def runs_of(body: bytes) -> list[list[list[Fact]]]:
    """The facts of each run, those of one record together; without what the end shows."""
    runs: list[list[Fact]] = []
    for item in reader_of(body).read(io.BytesIO(body), Limits()):
        if isinstance(item, RunFound):
            runs.append([])
        elif isinstance(item, Fact) and not item.closing:
            runs[-1].append(item)
    return [[list(group) for _, group in itertools.groupby(run, key=lambda fact: id(fact.raw))] for run in runs]


def records_of(body: bytes) -> Iterator[Fact]:
    """The first fact of each record of the file, in order."""
    for run in runs_of(body):
        for facts in run:
            yield facts[0]


def imported(
    body: bytes, name: str = "file", limits: Limits = LIMITS, *, sidecar: Sidecar | None = None, **options: Any
) -> Imported:
    """The whole import of a body; every event is checked at the door, in canonical form and for its own id."""
    reader = reader_of(body)
    outcome = Imported(reader.format)
    source = SourceFile(name, reader.format, reader.version)
    chosen = AssemblyOptions(**{"project": "p", "run_time": RUN_TIME, **options})
    items = reader.read(io.BytesIO(body), limits)
    for item in assemble(source, items if sidecar is None else with_outcomes(items, sidecar), chosen):
        if isinstance(item, Event):
            outcome.events.append(item)
        elif isinstance(item, RunClosing):
            outcome.closings.append(item)
        elif isinstance(item, Refused):
            outcome.refused.append(item)
        else:
            assert isinstance(item, FileEnd)
            outcome.counts = item.counts
    for event in outcome.events:
        check_event(event)
    assert len(set(outcome.ids)) == len(outcome.ids), "two events of one file have the same id"
    assert outcome.counts.events == len(outcome.events)
    assert outcome.counts.refused == len(outcome.refused)
    return outcome


def check_event(event: Event) -> None:
    """The event would be taken at the door: known or free type, valid payload, canonical, ids within their bounds."""
    assert CATALOGUE.refusal(event, producer=True) is None, CATALOGUE.refusal(event, producer=True)
    body = canonical(event.document())
    EventModel.model_validate(orjson.loads(body))
    assert len(event.origin_hash) == 64
    assert event.run is not None and 0 < len(event.run) <= 128


def lines_of(*records: Any) -> bytes:
    """JSONL."""
    return b"".join(orjson.dumps(record) + b"\n" for record in records)


def fixture(name: str) -> bytes:
    return (FIXTURES / name).read_bytes()
