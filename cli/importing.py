"""`import`: files are put into the artifact store, one Import workflow each, and a row for every file.

The same bytes within one command are imported once; a running import of the same bytes is joined, never doubled.
"""

import asyncio
import sys
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path

from cli.describing import counted
from cli.files import Found, NoSuchPath, walk
from cli.import_file import Importer, Row
from cli.outcome import REFUSED, Ended, Usage
from cli.output import Progress, emit, one_line, progress, say, table
from cli.session import Session, run, session

AT_ONCE = 4
LISTED = 5


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to import."""

    paths: tuple[Path, ...]
    project: str
    run: str | None
    wait: bool


def import_paths(wanted: Wanted, as_json: bool) -> None:
    """Import and print; exit code 3 when a file or a record was refused."""
    try:
        files = walk(wanted.paths)
    except NoSuchPath as error:
        raise Usage(str(error)) from None
    if wanted.run is not None and len(files) != 1:
        raise Usage(f"--run names the run of one file, and {len(files)} are given; import them one by one.")
    rows = run(_import_all(wanted, files, as_json))
    if not as_json:
        _print(rows)
    if any(row.answer.status == "refused" or row.answer.refused for row in rows):
        raise Ended(REFUSED)


async def _import_all(wanted: Wanted, files: list[Found], as_json: bool) -> list[Row]:
    rows: list[Row] = []
    async with session(wanted.project) as opened:
        with progress("importing", len(files)) as bar:
            async for row in import_files(opened, files, wanted, bar):
                rows.append(row)
                if as_json:
                    emit(row.answer)
                elif sys.stdout.isatty():
                    say(f"{row.answer.status:9} {row.answer.file}")
    return rows


async def import_files(
    opened: Session, files: list[Found], wanted: Wanted, bar: Progress | None = None
) -> AsyncIterator[Row]:
    """A row for each file in the order given, `AT_ONCE` files at a time."""
    importer = Importer(opened, await opened.temporal(), wanted.run, wanted.wait)
    gate = asyncio.Semaphore(AT_ONCE)
    done = 0

    async def one(file: Found) -> Row:
        nonlocal done
        async with gate:
            row = await importer.import_file(file)
        done += 1
        if bar is not None:
            bar.at(done)
        return row

    tasks = [asyncio.create_task(one(file)) for file in files]
    try:
        for task in tasks:
            yield await task
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _print(rows: list[Row]) -> None:
    """One row per file, then everything that was refused or noted."""
    columns = ("file", "status", "format", ">runs", ">events", ">new", ">calls", ">errors", ">unknown", ">candidates")
    table(columns, [_cells(row) for row in rows])
    skipped: dict[str, int] = {}
    for row in rows:
        answer = row.answer
        if answer.status == "skipped":
            reason = answer.reason or "it is no transcript"
            skipped[reason] = skipped.get(reason, 0) + 1
            continue
        if answer.reason:
            say(f"{answer.file}: {answer.status}: {answer.reason}")
        for refused in answer.refused[:LISTED]:
            say(f"{answer.file}: refused: {refused.where}: {refused.reason}")
        hidden = len(answer.refused[LISTED:]) + answer.refused_more
        if hidden > 0:
            say(f"{answer.file}: refused: {hidden} more (--json lists up to 100 of them)")
        for note in answer.notes[:LISTED]:
            say(f"{answer.file}: {one_line(note)}")
    for reason, count in skipped.items():
        say(f"skipped {counted(count, 'file')}: {reason}")
    say(_summary(rows))


def _cells(row: Row) -> tuple[object, ...]:
    answer = row.answer
    if answer.format is None:
        return (answer.file, answer.status)
    counts = (answer.events, answer.added, answer.tool_calls, answer.errors, answer.unknown)
    return (answer.file, answer.status, answer.format, len(answer.runs), *counts, answer.candidates)


def _summary(rows: list[Row]) -> str:
    count: Callable[[str], int] = lambda status: sum(row.answer.status == status for row in rows)  # noqa: E731
    parts = [f"{count(status)} {status}" for status in ("imported", "copy", "skipped", "refused") if count(status)]
    candidates = sum(row.answer.candidates or 0 for row in rows)
    more = f"; {counted(candidates, 'candidate')} (`temporality review` lists what waits)" if candidates else ""
    return f"{counted(len(rows), 'file')}: {', '.join(parts) or 'nothing to import'}{more}."
