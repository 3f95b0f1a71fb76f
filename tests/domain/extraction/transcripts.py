"""Runs of transcript files as events, read by the real importers and closed as the activity closes them."""

from __future__ import annotations

import io
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from activities.importers.assemble import AssemblyOptions, RunClosing, SourceFile, assemble
from activities.importers.recognise import NotATranscript, recognise
from domain.journal.event import Event
from domain.runs.transcript import Limits

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
HEAD = 64 * 1024


def runs_of(path: Path) -> dict[str, list[Event]]:
    """The events of each run of a file in order; none where the file is no transcript."""
    body = path.read_bytes()
    reader = recognise(body[:HEAD])
    if isinstance(reader, NotATranscript):
        return {}
    runs: dict[str, list[Event]] = {}
    items = reader.read(io.BytesIO(body), Limits())
    options = AssemblyOptions("p", datetime(2026, 1, 1, tzinfo=UTC))
    for item in assemble(SourceFile(path.name, reader.format, reader.version), items, options):
        if isinstance(item, Event):
            runs.setdefault(item.run or "", []).append(item)
        elif isinstance(item, RunClosing):
            data = {"outcome": item.outcome, "trajectory": f"trajectory of {item.run}"}
            data |= {"result": item.result} if item.result else {}
            runs[item.run].append(Event("p", item.source, "closed", "run.closed", item.last_at, data, run=item.run))
    return runs


def all_runs(folder: Path) -> Iterator[tuple[str, list[Event]]]:
    """Every run under a folder, named by its file."""
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            for run, events in runs_of(path).items():
                yield f"{path.relative_to(folder)}#{run}", events
