"""One boundary for every read: a second project's rows show in none of them (COMPLAINTS rows 10 and 11).

The table of reads is compared with what the module offers, so that a new read path cannot be left out of it.
"""

import ast
import inspect
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import ModuleType

import orjson
import pytest

from activities.postgres.journal import Journal
from activities.postgres.pool import Database
from activities.postgres.reading import evidence, ids, retrieval, review, statements, views
from activities.postgres.reading.retrieval import find, reading, search
from domain.contracts.errors import NotFound, NotPermitted, TemporalityError
from domain.retrieval.query import STATES, Query
from tests.support.seed import Seeded

CANARY = "canary4711"
ASKED = "4711 shared"
ROOT = Path(__file__).resolve().parents[3]
Read = Callable[[Database, str], Awaitable[object]]

READS: dict[str, Read] = {
    "search": lambda d, p: search(d, Query(p, ASKED, states=STATES, limit=200)),
    "find": lambda d, p: find(d, Query(p, "", states=STATES), ("shared", "title")),
    "show_run": lambda d, p: views.show_run(d, p, "run-1"),
    "show_frame": lambda d, p: views.show_frame(d, p, "frame-1"),
    "show_task": lambda d, p: views.show_task(d, p, "task-1"),
    "show_event": lambda d, p: views.show_event(d, p, _event("theirs")),
    "show_knowledge": lambda d, p: views.show_knowledge(d, p, "claim", forgotten=True),
    "counts": views.counts,
    "proposed_by": lambda d, p: views.proposed_by(d, p, "trajectory-1"),
    "waiting": review.waiting,
    "approval_meant": lambda d, p: review.approval_meant(d, p, "node_"),
}
WRITERS = {
    "activities/postgres/journal.py": "folds under the lock",
    "activities/postgres/rebuild.py": "folds the journal again",
    "activities/postgres/row_codec.py": "loads the aggregates of a fold",
    "activities/approving.py": "an edit carries over the evidence of the node it is about",
}
INSIDE = {"reading", "evidence_of", "resolve", "candidates", "load"}
"""Parts of the boundary itself: they take an opened reading, or open one."""


def _event(project: str) -> str:
    from domain.contracts.ids import digest_id

    return digest_id(project, "run-1", "1")


async def fill(journal: Journal, project: str, word: str) -> str:
    seeded = Seeded(journal, project)
    opened = {"title": f"{word} title"}
    await seeded.happened("run.opened", opened, frame="frame-1", task="task-1")
    cited = await seeded.command(f"echo {word}", f"{word} output")
    return await seeded.claim(f"shared {word} proposition", cited, asked=True)


def public_functions(module: ModuleType) -> set[str]:
    return {
        name
        for name, value in vars(module).items()
        if inspect.isfunction(value) and value.__module__ == module.__name__ and not name.startswith("_")
    }


def test_every_read_is_in_the_table() -> None:
    offered = set().union(
        *(public_functions(module) for module in (retrieval, views, review, evidence, ids, statements))
    )
    assert offered - INSIDE == set(READS)


@pytest.mark.parametrize("name", sorted(READS))
async def test_another_projects_rows_never_show(database: Database, journal: Journal, name: str) -> None:
    await fill(journal, "mine", "harmless")
    await fill(journal, "theirs", CANARY)
    seen = orjson.dumps(await READS[name](database, "theirs"), default=str)
    assert name in ("counts", "proposed_by", "approval_meant") or CANARY.encode() in seen, "the canary must be there"
    for project in ("mine", "nobody"):
        try:
            shown = orjson.dumps(await READS[name](database, project), default=str)
        except TemporalityError as error:
            assert isinstance(error, NotFound)
            shown = str(error).encode()
        assert CANARY.encode() not in shown
        assert b'"theirs"' not in shown


@pytest.mark.parametrize("name", sorted(READS))
async def test_the_reserved_scope_is_closed_to_every_read(database: Database, name: str) -> None:
    with pytest.raises(NotPermitted):
        await READS[name](database, "_installation")


async def test_an_opened_reading_sees_its_project_only_even_for_a_wrong_parameter(
    database: Database, journal: Journal
) -> None:
    """Row-level security stands below the statements: asking for the other project's name shows nothing."""
    node = await fill(journal, "theirs", CANARY)
    async with reading(database, "mine") as opened:
        assert await opened.knowledge([node], forgotten=True) == {}
        opened.project = "theirs"
        assert await opened.fetch("ids_of_knowledge", prefix="", beyond="~", limit=9, hidden=True) == []


def test_nothing_but_the_boundary_reads_projections() -> None:
    """Tables of knowledge are named by the reading room, by the journal's own machinery, and by nobody else."""
    for path in [*ROOT.glob("activities/**/*.py"), *ROOT.glob("cli/**/*.py"), *ROOT.glob("client/**/*.py")]:
        place = str(path.relative_to(ROOT))
        if place in WRITERS:
            continue
        tree = ast.parse(path.read_text())
        texts = [
            node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)
        ]
        assert not any("projection." in text for text in texts), f"{place} reads a projection past the boundary"


def test_only_the_boundary_opens_a_scope_in_the_reading_room() -> None:
    for path in (ROOT / "activities/postgres/reading").glob("*.py"):
        if path.name not in ("retrieval.py", "projects.py"):
            assert ".scoped(" not in path.read_text() and ".connection(" not in path.read_text(), path.name


def test_every_statement_names_the_project_itself() -> None:
    for name, statement in statements.SQL.items():
        assert b"%(project)s" in statement, name
