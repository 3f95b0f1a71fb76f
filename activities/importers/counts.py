"""The figures of an import's row, of one run or of a whole file: what was recorded, what was odd, what was refused."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from domain.journal.event import Event
from domain.runs.evolve import ends, starts


@dataclass(slots=True)
class Counts:
    """`first` and `last` are the earliest and latest time the transcript itself tells; None in formats without time.

    `errors` are results that are errors; `anomalies` counts by name what was odd and kept.
    """

    events: int = 0
    tool_calls: int = 0
    tool_results: int = 0
    errors: int = 0
    unknown: int = 0
    refused: int = 0
    anomalies: dict[str, int] = field(default_factory=dict)
    first: datetime | None = None
    last: datetime | None = None

    def add(self, event: Event) -> None:
        """Counts one event."""
        self.events += 1
        self.tool_calls += starts(event)
        self.tool_results += ends(event)
        self.errors += event.type.endswith(".failed")
        self.unknown += event.type == "source.unknown"

    def odd(self, name: str) -> None:
        """Counts one anomaly."""
        self.anomalies[name] = self.anomalies.get(name, 0) + 1

    def seen(self, at: datetime) -> None:
        """Takes a time the transcript told."""
        self.first = at if self.first is None else min(self.first, at)
        self.last = at if self.last is None else max(self.last, at)
