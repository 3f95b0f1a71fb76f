"""The `temporality` command: its subcommands are gathered here.

It ends without the interpreter's shutdown: a short process that used Temporal's SDK aborts there now and then.
"""

import os
import sys
import tomllib
from pathlib import Path
from typing import Annotated, NoReturn

import typer

app = typer.Typer(name="temporality", no_args_is_help=True, pretty_exceptions_enable=False, rich_markup_mode=None)


def _version(wanted: bool) -> None:
    if wanted:
        project = tomllib.loads((Path(__file__).resolve().parents[1] / "pyproject.toml").read_text())["project"]
        print(f"{project['name']} {project['version']}")
        raise typer.Exit


@app.callback()
def temporality(
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Print it.")] = False,
) -> None:
    """What agents learned, kept with its evidence."""


def main() -> NoReturn:
    """Run the command and leave with its exit code: 0 done, 2 usage, 3 refused in part, 4 no stack, 5 not found."""
    code: int | str | None = 0
    try:
        app()
    except SystemExit as end:
        code = end.code
    if isinstance(code, str):
        print(code, file=sys.stderr)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code if isinstance(code, int) else int(code is not None))
