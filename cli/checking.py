"""`rebuild` and `verify`: the projections are what the journal says, and the journal is what it was."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import orjson
from pydantic import TypeAdapter, ValidationError

from activities.postgres import rebuild as rebuilding
from activities.postgres import verify as verifying
from activities.postgres.reading.projects import project_ids
from activities.postgres.rebuild import Rebuilt
from activities.postgres.verify import Checkpoint, Verified
from cli.outcome import NOT_IN_ORDER, Ended, Usage
from cli.output import emit, progress, say, table
from cli.session import Session, run, session
from domain.contracts.errors import NotFound

CHECKPOINTS = TypeAdapter(list[Checkpoint])
SCHEMA = "temporality.checkpoints/1"


@dataclass(frozen=True, slots=True)
class Check:
    """What `verify` was asked."""

    project: str
    every: bool
    full: bool
    export: Path | None
    against: Path | None


def rebuild(project: str, every: bool, as_json: bool) -> None:
    """Fold again, mend what differs, and say what differed."""
    for found in run(_rebuild(project, every)):
        if as_json:
            emit({**asdict(found), "identical": found.identical})
            continue
        say(f"Project {found.project}: {found.events} events folded again.")
        rows = [(one.table, one.rows, found.differing[one.table], one.sha256[:16]) for one in found.digests]
        table(("table", ">rows", ">differed", "sha256 of every column"), rows)
        say("Identical: nothing differed." if found.identical else "NOT identical: what differed was mended.")


async def _rebuild(project: str, every: bool) -> list[Rebuilt]:
    async with session(project) as opened:
        found: list[Rebuilt] = []
        for one in await _projects(opened, every):
            with progress(f"rebuilding {one}", 1) as bar:
                found.append(await rebuilding.rebuild(opened.database, one, bar.at))
        return found


def verify_(check: Check, as_json: bool) -> None:
    """Walk the chains; exit code 1 when anything is not in order."""
    checkpoints = _read(check.against) if check.against else ()
    found = run(_verify(check, checkpoints))
    for one in found:
        if as_json:
            emit({**asdict(one), "ok": one.ok})
        else:
            _print(one)
    if not all(one.ok for one in found):
        raise Ended(NOT_IN_ORDER)
    if check.export:
        heads = [asdict(one.head) for one in found if one.head]
        document: dict[str, Any] = {"schema": SCHEMA, "checkpoints": heads}
        _write(check.export, orjson.dumps(document, option=orjson.OPT_INDENT_2) + b"\n")
        if not as_json:
            say(f"{len(heads)} heads written to {check.export}; keep them where the database's keeper cannot write.")


async def _verify(check: Check, checkpoints: tuple[Checkpoint, ...]) -> list[Verified]:
    async with session(check.project) as opened:
        found: list[Verified] = []
        named = {item.project for item in checkpoints}
        for one in await _projects(opened, check.every, named):
            with progress(f"verifying {one}", 1) as bar:
                found.append(
                    await verifying.verify(
                        opened.database, one, full=check.full, checkpoints=checkpoints, progress=bar.at
                    )
                )
        return found


async def _projects(opened: Session, every: bool, named: set[str] | None = None) -> list[str]:
    """The projects meant; one that nobody knows is an error, unless a checkpoint remembers it."""
    known = await project_ids(opened.database)
    if every:
        return sorted({*known, *(named or set())})
    if opened.project not in known and opened.project not in (named or set()):
        listed = f"; there are {', '.join(known[:10])}" if known else "; nothing was recorded yet"
        raise NotFound(f"project {opened.project}{listed}")
    return [opened.project]


def _print(found: Verified) -> None:
    say(f"Project {found.project}: {found.events} events, columns of {found.columns_checked} derived again.")
    if found.erased:
        say(f"  {found.erased} events hold personal fields that were erased; the chain holds.")
    for problem in found.problems:
        say(f"  {problem}")
    if found.ok and found.head:
        say(f"  Whole: every body and link has its hash; the head is event {found.head.seq}, {found.head.hash}.")
    elif not found.ok:
        say("  NOT whole.")


def _read(path: Path) -> tuple[Checkpoint, ...]:
    try:
        document = orjson.loads(path.read_bytes())
        return tuple(CHECKPOINTS.validate_python(document["checkpoints"]))
    except OSError as error:
        raise Usage(f"{path} cannot be read ({error.strerror}).") from None
    except (orjson.JSONDecodeError, KeyError, TypeError, ValidationError):
        raise Usage(f"{path} holds no heads; `temporality verify --export FILE` writes such a file.") from None


def _write(path: Path, body: bytes) -> None:
    try:
        path.write_bytes(body)
    except OSError as error:
        raise Usage(f"{path} cannot be written ({error.strerror}).") from None
