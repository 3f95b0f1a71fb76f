"""What commands print: plain lines and tables for people, one JSON object to a line for programs.

Text that came from transcripts is data: control characters in it never reach the terminal.
"""

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

import orjson
from pydantic import BaseModel

_OPTIONS = orjson.OPT_UTC_Z | orjson.OPT_NON_STR_KEYS
_CONTROLS = {code: "\ufffd" for code in (*range(32), *range(127, 160)) if code not in (9, 10)}
_PIPE_WIDTH = 200


def json_text(value: Any) -> str:
    """One line of JSON; dataclasses, pydantic models, times and bytes are written as their values."""
    return orjson.dumps(value, default=_plain, option=_OPTIONS).decode()


def _plain(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if isinstance(value, bytes):
        return value.hex()
    return str(value)


def emit(value: Any) -> None:
    """Print `value` as one JSON object."""
    sys.stdout.write(json_text(value) + "\n")
    sys.stdout.flush()


def say(text: str = "") -> None:
    """Print lines for people."""
    sys.stdout.write(clean(text) + "\n")
    sys.stdout.flush()


def clean(text: str) -> str:
    """`text` without characters that would move the cursor or change the terminal."""
    return text.translate(_CONTROLS).encode("utf-8", "replace").decode()


def one_line(text: str, most: int = 160) -> str:
    """`text` on one line, cut with an ellipsis."""
    line = " ".join(text[: 4 * most].split())
    return line if len(line) <= most and len(text) <= 4 * most else line[: most - 1] + "…"


def when(at: datetime | None) -> str:
    """A time in UTC to the minute; a dash for none."""
    return "-" if at is None else f"{at.astimezone(UTC):%Y-%m-%d %H:%M}"


def table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print aligned columns; a name that starts with `>` stands at the right."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(width=None if sys.stdout.isatty() else _PIPE_WIDTH, highlight=False, soft_wrap=False)
    drawn = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="bold")
    for name in columns:
        drawn.add_column(name.lstrip(">"), justify="right" if name.startswith(">") else "left", overflow="fold")
    for row in rows:
        drawn.add_row(*(Text(clean("-" if cell is None else str(cell))) for cell in row))
    console.print(drawn)


class Progress:
    """A bar on a terminal, nothing anywhere else."""

    def __init__(self, bar: Any = None, task: Any = None) -> None:
        self._bar = bar
        self._task = task

    def at(self, done: int, total: int | None = None) -> None:
        """`done` of `total` steps are done."""
        if self._bar is not None:
            self._bar.update(self._task, completed=done, **({} if total is None else {"total": total}))


@contextmanager
def progress(title: str, total: int, wanted: bool = True) -> Iterator[Progress]:
    """A bar on standard error while standard error is a terminal."""
    if not wanted or not sys.stderr.isatty():
        yield Progress()
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bars

    columns = (TextColumn(title), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Bars(*columns, console=Console(stderr=True), transient=True) as bars:
        yield Progress(bars, bars.add_task(title, total=total))
