"""The face of the command: every subcommand with its words and options, each handing over to the module that does it.

Nothing heavy is imported before a subcommand is chosen.
"""

import tomllib
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    name="temporality",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    add_completion=False,
    help="What agents learned, kept with its evidence.",
    epilog="Exit codes: 0 done, 1 not in order, 2 usage, 3 refused (in part), 4 stack not reachable, 5 not found or not permitted.",
)

Project = Annotated[str, typer.Option("--project", metavar="NAME", help="The project.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, one object to a line.")]
As = Annotated[str | None, typer.Option("--as", metavar="TYPE:ISSUER:ID", help="Who decides (else TEMPORALITY_ACTOR).")]
Rationale = Annotated[str | None, typer.Option("--rationale", metavar="TEXT", help="Why.")]
Candidate = Annotated[str, typer.Argument(metavar="ID", help="A candidate's or an approval's id, or its beginning.")]


class Kind(StrEnum):
    """What `show` shows."""

    run = "run"
    frame = "frame"
    task = "task"
    event = "event"
    knowledge = "knowledge"


class State(StrEnum):
    """States of knowledge; the last three are ended."""

    proposed = "proposed"
    confirmed = "confirmed"
    challenged = "challenged"
    corrected = "corrected"
    superseded = "superseded"
    invalidated = "invalidated"


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


@app.command()
def demo(
    examples: Annotated[Path | None, typer.Option("--examples", metavar="FOLDER", help="Other transcripts.")] = None,
    as_json: Json = False,
) -> None:
    """The whole way on example transcripts, on servers of its own; nothing is left running."""
    from cli.demo.command import demo as work

    work(examples, as_json)


@app.command()
def up(
    detach: Annotated[bool, typer.Option("--detach", help="Return when it is up; `down` ends it.")] = False,
    as_json: Json = False,
) -> None:
    """Start Postgres, Temporal and a worker, and keep them running."""
    from cli.serving import up as work

    work(detach, as_json)


@app.command()
def down(as_json: Json = False) -> None:
    """Stop what `up` started; the data stays."""
    from cli.serving import down as work

    work(as_json)


@app.command()
def status(as_json: Json = False) -> None:
    """Say what runs, and where."""
    from cli.serving import status as work

    work(as_json)


@app.command()
def doctor(as_json: Json = False) -> None:
    """Say what this machine has and what is missing."""
    from cli.serving import doctor as work

    work(as_json)


@app.command()
def migrate() -> None:
    """Bring the database to this version's schema (`up` does)."""
    from cli.serving import migrate as work

    work()


@app.command("import")
def import_(
    paths: Annotated[list[Path], typer.Argument(metavar="PATH...", help="Transcripts, or folders of them.")],
    project: Project = "default",
    run: Annotated[
        str | None, typer.Option("--run", metavar="ID", help="The run's id, for one file of one run.")
    ] = None,
    no_wait: Annotated[bool, typer.Option("--no-wait", help="Return when durable; extraction goes on.")] = False,
    as_json: Json = False,
) -> None:
    """Hand in transcripts; their format is told by their content."""
    from cli.importing import Wanted, import_paths

    import_paths(Wanted(tuple(paths), project, run, not no_wait), as_json)


@app.command()
def show(
    kind: Annotated[Kind, typer.Argument(metavar="run|frame|task|event|knowledge")],
    ident: Annotated[str, typer.Argument(metavar="ID", help="Its id, or the beginning of it.")],
    project: Project = "default",
    forgotten: Annotated[bool, typer.Option("--forgotten", help="Show knowledge that was forgotten.")] = False,
    as_json: Json = False,
) -> None:
    """Show one thing whole, with evidence down to the event and the span of text."""
    from cli.showing import show as work

    work(kind.value, ident, project, forgotten, as_json)


@app.command()
def search(
    text: Annotated[str, typer.Argument(metavar="TEXT")],
    project: Project = "default",
    limit: Annotated[int, typer.Option("--limit", help="At most so many.")] = 10,
    state: Annotated[list[State] | None, typer.Option("--state", help="Only these; default: not ended.")] = None,
    as_json: Json = False,
) -> None:
    """Find knowledge, with the words that chose each item."""
    from cli.searching import search as work

    work(text, project, limit, tuple(one.value for one in state or ()), as_json)


@app.command()
def review(project: Project = "default", as_json: Json = False) -> None:
    """List the candidates that wait for a decision, with their evidence."""
    from cli.reviewing import review as work

    work(project, as_json)


@app.command()
def approve(
    ident: Candidate,
    project: Project = "default",
    actor: As = None,
    rationale: Rationale = None,
    as_json: Json = False,
) -> None:
    """Confirm a candidate."""
    from cli.deciding import Wish, decide

    decide(Wish("approve", ident, project, actor, rationale), as_json)


@app.command()
def reject(
    ident: Candidate,
    project: Project = "default",
    actor: As = None,
    rationale: Rationale = None,
    as_json: Json = False,
) -> None:
    """Reject a candidate."""
    from cli.deciding import Wish, decide

    decide(Wish("reject", ident, project, actor, rationale), as_json)


@app.command()
def edit(
    ident: Candidate,
    text: Annotated[str | None, typer.Option("--text", metavar="TEXT", help="The proposition as it should be.")] = None,
    project: Project = "default",
    actor: As = None,
    rationale: Rationale = None,
    as_json: Json = False,
) -> None:
    """Confirm a candidate in other words; without --text they are asked for, as plain text."""
    from cli.deciding import Wish, edit_

    edit_(Wish("edit", ident, project, actor, rationale), text, as_json)


@app.command()
def rebuild(
    project: Project = "default",
    every: Annotated[bool, typer.Option("--all", help="Every project.")] = False,
    as_json: Json = False,
) -> None:
    """Fold the journal again and compare: the projections are what the journal says, to the byte."""
    from cli.checking import rebuild as work

    work(project, every, as_json)


@app.command()
def verify(
    project: Project = "default",
    every: Annotated[bool, typer.Option("--all", help="Every project.")] = False,
    full: Annotated[bool, typer.Option("--full", help="Derive the columns of every row again, not of 1 %.")] = False,
    export: Annotated[
        Path | None, typer.Option("--export", metavar="FILE", help="Write the heads to keep elsewhere.")
    ] = None,
    against: Annotated[
        Path | None, typer.Option("--against", metavar="FILE", help="Compare with exported heads.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Hash every event again and follow the chain; 1 when anything was changed."""
    from cli.checking import Check, verify_

    verify_(Check(project, every, full, export, against), as_json)
