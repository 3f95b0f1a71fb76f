"""Rebuild folds the journal to the very rows the appends left, at any prefix and while appends go on, and mends what differs (law 1)."""

import asyncio
import hashlib
import random
from collections.abc import Iterator

import pytest

from activities.postgres import row_codec, states
from activities.postgres.rebuild import events_between, read_event, rebuild
from domain.approvals.state import APPROVALS
from domain.contracts.errors import StaleFold
from domain.journal.catalogue import Catalogue, EventType, Payload
from domain.journal.event import Event
from domain.journal.rows import WorkingSet
from domain.projections.fold import FOLD_VERSION, TABLES, fold
from domain.runs.state import OPERATIONS
from tests.support.events import NOON, happened, knows, proposed, ran
from tests.support.installation import Installation

SCHEMA = "second"
COMMANDS = ("make test", "pytest -q && ruff check", "cargo build", "cd sub; npm test", "ls", "echo test")
MOVES = ("confirmed", "used", "challenged", "invalidated", "forgotten", "restored", "linked", "proposed")


def story(project: str, chance: random.Random, length: int) -> Iterator[list[Event]]:
    """Batches of a project's life: runs, frames, tasks, commands, knowledge in every state, and odd content."""
    for step in range(length):
        run = f"run-{chance.randrange(3)}"
        known = f"claim-{chance.randrange(4)}"
        odd = {"float": 1.0, "half": 0.5, "big": 2**70, "nul": "\x00", "ключ": [1, (2,)]}
        cited = {"ref": f"{step}-turn", "type": "user_statement", "content_hash": f"{step}", "run": run}
        move, place = (
            chance.choice(MOVES),
            {"frame": f"frame-{chance.randrange(5)}", "task": f"task-{chance.randrange(2)}"},
        )
        code = chance.choice([0, 0, 0, 1])
        yield [
            happened(project, f"{step}-turn", run=run, **place),
            *ran(project, f"op-{chance.randrange(40)}-{step % 7}", chance.choice(COMMANDS), run=run, exit_code=code),
            happened(project, f"{step}-odd", "custom.thing", data=odd),
            happened(project, f"{step}-open", "run.opened", run=run, data={"title": "t\x00", "format": "test"}),
            proposed(project, known, f"{step}", evidence=(cited,)),
            knows(project, move, known, f"{step}-{move}", data=told(move)),
        ]


def told(move: str) -> dict[str, object]:
    """What each move says beside the node."""
    words: dict[str, dict[str, object]] = {
        "confirmed": {"basis": "operator"},
        "used": {"basis": "execution-reuse.v1"},
        "challenged": {"reason_code": "doubt", "reason": "why"},
        "invalidated": {"reason_code": "rejected"},
        "linked": {"relation": "supports", "to": "claim-0"},
        "proposed": {"kind": "claim", "proposition": "The flaky test needs a fixed port."},
    }
    return words.get(move, {})


@pytest.fixture(scope="module", autouse=True)
def second_schema(installation: Installation) -> None:
    """The projections' tables again, empty, in another schema and without row-level security."""
    with installation.superuser() as connection:
        connection.execute(f"CREATE SCHEMA {SCHEMA}".encode())
        for table in TABLES:
            connection.execute(
                f"CREATE TABLE {SCHEMA}.{table.name} (LIKE projection.{table.name} INCLUDING ALL)".encode()
            )


def text_of(installation: Installation, schema: str, project: str) -> dict[str, str]:
    """sha256 over the ordered text of every column of the project's rows, by table."""
    digests: dict[str, str] = {}
    for table in TABLES:
        order = ", ".join(f"t.{column}" for column in table.key)
        rows = installation.rows(
            f"SELECT t::text FROM {schema}.{table.name} t WHERE project_id = %s ORDER BY {order}", project
        )
        digests[table.name] = hashlib.sha256("\n".join(text for (text,) in rows).encode()).hexdigest()
    return digests


async def folded_aside(installation: Installation, project: str, upto: int) -> dict[str, str]:
    """Fold the stored bytes of the first `upto` events from nothing into the second schema, and hash that."""
    rows = WorkingSet(closed=True)
    async with installation.database.scoped(project) as connection:
        async for seq, event, content in events_between(connection, project, 0, upto):
            fold(rows, event, content, seq)
    with installation.superuser() as connection:
        for table in TABLES:
            connection.execute(f"DELETE FROM {SCHEMA}.{table.name} WHERE project_id = %s".encode(), (project,))
            columns = ", ".join(table.columns)
            text = row_codec.encode(item for item in rows.rows() if item[0] is table)
            connection.execute(
                f"INSERT INTO {SCHEMA}.{table.name} SELECT {columns} FROM"
                f" jsonb_populate_recordset(NULL::{SCHEMA}.{table.name}, %s::jsonb -> %s)".encode(),
                (text, table.name),
            )
    return text_of(installation, SCHEMA, project)


async def test_every_prefix_folds_to_what_the_appends_left_there(
    installation: Installation, project: str, rng: random.Random
) -> None:
    checked = head = 0
    for batch in story(project, rng, 40):
        head = (await installation.journal.append(project, batch)).head
        if rng.random() < 0.25:
            checked += 1
            assert await folded_aside(installation, project, head) == text_of(installation, "projection", project)
    assert checked > 3
    found = await rebuild(installation.database, project)
    assert (found.identical, found.events) == (True, head)
    assert {item.table: item.rows for item in found.digests}["knowledge_nodes"] > 5


async def test_batches_of_any_size_and_any_number_of_workers_leave_the_same_rows(
    installation: Installation, project: str, rng: random.Random
) -> None:
    async def work(number: int) -> None:
        async with installation.worker(merge=bool(number % 2)) as journal:
            await asyncio.gather(
                *(journal.append(project, batch) for batch in story(project, random.Random(number), 12))
            )

    await asyncio.gather(*(work(number) for number in range(3)))
    found = await rebuild(installation.database, project)
    assert found.identical, found.differing


async def test_rebuilding_while_appends_go_on_holds_nobody_up_and_differs_in_nothing(
    installation: Installation, project: str, rng: random.Random
) -> None:
    done = asyncio.Event()

    async def append() -> int:
        head = 0
        async with installation.worker() as journal:
            for batch in story(project, rng, 40):
                head = (await journal.append(project, batch)).head
        done.set()
        return head

    async def again_and_again() -> list[bool]:
        identical: list[bool] = []
        while not done.is_set():
            identical.append((await rebuild(installation.database, project)).identical)
        return identical

    head, found = await asyncio.gather(append(), again_and_again())
    assert len(found) > 1
    assert all(found)
    assert await folded_aside(installation, project, head) == text_of(installation, "projection", project)


DAMAGE = {
    "an edited row": "UPDATE projection.knowledge_nodes SET state = 'confirmed', uses = uses + 1 WHERE project_id = %s",
    "a deleted row": "DELETE FROM projection.operations WHERE project_id = %s",
    "a row too many": (
        "INSERT INTO projection.relationships SELECT project_id, 'x', 'supports', 'y', 1, 'e' FROM journal.projects"
        " WHERE project_id = %s"
    ),
    "everything": "DELETE FROM projection.runs WHERE project_id = %s",
}


@pytest.mark.parametrize("name", DAMAGE)
async def test_planted_damage_is_mended(
    installation: Installation, project: str, rng: random.Random, name: str
) -> None:
    for batch in story(project, rng, 10):
        await installation.journal.append(project, batch)
    healthy = text_of(installation, "projection", project)
    with installation.superuser() as connection:
        connection.execute(DAMAGE[name].encode(), (project,))
    assert text_of(installation, "projection", project) != healthy
    found = await rebuild(installation.database, project)
    assert not found.identical
    assert text_of(installation, "projection", project) == healthy
    assert (await rebuild(installation.database, project)).identical


async def test_an_appending_worker_does_not_trust_rows_that_a_rebuild_mended(
    installation: Installation, project: str
) -> None:
    """Its cache is of before the damage, and so is right; what it folds next must leave a healthy project."""
    await installation.journal.append(project, ran(project, "op"))
    with installation.superuser() as connection:
        connection.execute("UPDATE projection.runs SET events = 77 WHERE project_id = %s", (project,))
    await rebuild(installation.database, project)
    await installation.journal.append(project, ran(project, "op2"))
    assert (await rebuild(installation.database, project)).identical


async def test_a_worker_of_an_older_fold_is_refused_and_rebuilds_nothing(
    installation: Installation, project: str
) -> None:
    await installation.journal.append(project, [happened(project, "a")])
    with installation.superuser() as connection:
        connection.execute(
            "UPDATE journal.projects SET fold_version = %s WHERE project_id = %s", (FOLD_VERSION + 1, project)
        )
    with pytest.raises(StaleFold):
        await installation.journal.append(project, [happened(project, "b")])
    with pytest.raises(StaleFold):
        await rebuild(installation.database, project)
    assert installation.rows("SELECT count(*) FROM journal.events WHERE project_id = %s", project) == [(1,)]


async def test_a_worker_of_a_newer_fold_rebuilds_first(installation: Installation, project: str) -> None:
    await installation.journal.append(project, ran(project, "op"))
    with installation.superuser() as connection:
        connection.execute(
            "UPDATE journal.projects SET fold_version = %s WHERE project_id = %s", (FOLD_VERSION - 1, project)
        )
        connection.execute(
            "UPDATE projection.operations SET tool = 'as an older fold said' WHERE project_id = %s", (project,)
        )
    receipt = await installation.journal.append(project, [happened(project, "b")])
    assert receipt.count("recorded") == 1
    assert installation.rows("SELECT fold_version FROM journal.projects WHERE project_id = %s", project) == [
        (FOLD_VERSION,)
    ]
    rows = await states.load(installation.database, project, OPERATIONS, ("r1", "op"))
    assert rows["r1", "op"].tool == "bash"


async def test_old_data_is_folded_as_the_current_version_reads_it(
    installation: Installation, project: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Live and rebuilt rows agree where a producer still writes an older version of a type; stored bytes never change."""

    class Opened(Payload):
        title: str

    newer = Catalogue([EventType("run.opened", Opened, 2, {1: lambda data: {"title": data["name"]}})])
    monkeypatch.setattr("domain.projections.batch.CATALOGUE", newer)
    monkeypatch.setattr("activities.postgres.rebuild.CATALOGUE", newer)
    await installation.journal.append(
        project, [happened(project, "a", "run.opened", data={"name": "as it was called"})]
    )
    assert installation.rows("SELECT title FROM projection.runs WHERE project_id = %s", project) == [
        ("as it was called",)
    ]
    assert (await rebuild(installation.database, project)).identical
    [(body,)] = installation.rows("SELECT body FROM journal.events WHERE project_id = %s", project)
    assert b'"name"' in body
    assert read_event(body).data == {"title": "as it was called"}


async def test_progress_counts_to_the_end(installation: Installation, project: str) -> None:
    told: list[tuple[int, int]] = []
    await installation.journal.append(project, [happened(project, f"{i}", occurred_at=NOON) for i in range(30)])
    await rebuild(installation.database, project, lambda done, total: told.append((done, total)))
    assert told[-1] == (30, 30)


async def test_rows_read_back_are_the_rows_that_were_folded(
    installation: Installation, project: str, rng: random.Random
) -> None:
    """Typed values survive the way through JSON and Postgres: tuples, times, None, and objects."""
    rows = WorkingSet(closed=True)
    seq = head = 0
    for batch in story(project, rng, 10):
        head = (await installation.journal.append(project, batch)).head
    async with installation.database.scoped(project) as connection:
        async for seq, event, content in events_between(connection, project, 0, head):
            fold(rows, event, content, seq)
    assert seq == head > 0
    for (table, key), row in rows.written.items():
        if table.keyed and table is not APPROVALS and "\\x00" not in repr(row):
            assert (await states.load(installation.database, project, table, key))[key] == row
