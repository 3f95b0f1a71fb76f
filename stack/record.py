"""`stack.json`: where the servers of a home are, and which processes they are, for everybody who did not start them.

It is written when everything answers and removed at the stop; what a killed owner left is never believed.
"""

import json
import os
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from stack.errors import StackNotRunning
from stack.postgres import PostgresEndpoint
from stack.process import ProcessMark, is_alive
from stack.temporal import TemporalEndpoint

FILE = "stack.json"
SCHEMA = "temporality.stack/1"


@dataclass(frozen=True)
class StackRecord:
    """One running stack. A server that is not ours (a URL was given) is None."""

    owner: ProcessMark
    postgres: PostgresEndpoint | None = None
    postgres_mark: ProcessMark | None = None
    temporal: TemporalEndpoint | None = None
    temporal_mark: ProcessMark | None = None
    worker_mark: ProcessMark | None = None
    ready: bool = True  # False while the servers answer and the owner still prepares, e.g. migrates
    schema: str = SCHEMA


_ADAPTER = TypeAdapter(StackRecord)


def write(home: Path, record: StackRecord) -> None:
    """Replaces the file in one step; private, because the URLs may hold passwords."""
    unfinished = home / f"{FILE}.new"
    text = json.dumps(_ADAPTER.dump_python(record, mode="json"), indent=2)
    handle = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with open(handle, "w", encoding="utf-8") as file:
        file.write(text + "\n")
    unfinished.replace(home / FILE)


def remove(home: Path) -> None:
    (home / FILE).unlink(missing_ok=True)


def read(home: Path) -> StackRecord | None:
    """What the file says, whether or not it still holds; None where there is none or it is not readable as one."""
    try:
        return _ADAPTER.validate_json((home / FILE).read_bytes())
    except (FileNotFoundError, NotADirectoryError, ValidationError):
        return None


def running(home: Path) -> StackRecord:
    """The stack that runs now. Raises StackNotRunning when there is no file or its owner has ended."""
    record = read(home)
    if record is None or not is_alive(record.owner):
        raise StackNotRunning(home)
    return record
