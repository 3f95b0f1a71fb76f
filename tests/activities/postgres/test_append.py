"""Appends: once whoever repeats them, gapless whoever races, and answered for what was decided under the lock (laws 1-3, 19)."""

import asyncio
import random
import threading
from collections.abc import Sequence

import psycopg
import pytest

from activities.postgres import states
from activities.postgres.journal import Journal, Receipt
from activities.postgres.pool import Database
from activities.postgres.verify import verify
from domain.contracts.errors import JournalUnavailable, NotFound
from domain.journal.canonical import NotAdmitted
from domain.journal.event import Event
from domain.journal.rows import WorkingSet
from domain.knowledge.normalise import observation_identity
from domain.knowledge.state import NODES, Node
from domain.projections.batch import recorded
from domain.runs.state import OPERATIONS, RUNS, Run
from tests.support.events import happened, knows, ran
from tests.support.installation import Installation


def statuses(receipt: Receipt) -> list[str]:
    return [item.status for item in receipt.written]


async def run_row(installation: Installation, project: str, run: str = "r1") -> Run:
    return (await states.load(installation.database, project, RUNS, (run,)))[run,]


async def test_an_event_is_recorded_once_and_answered_with_its_place(installation: Installation, project: str) -> None:
    event = happened(project, "a")
    first = await installation.journal.append(project, [event])
    again = await installation.journal.append(project, [event, event])
    assert (statuses(first), statuses(again)) == (["recorded"], ["duplicate", "duplicate"])
    assert {item.seq for item in (*first.written, *again.written)} == {1}
    assert (await run_row(installation, project)).events == 1


def test_the_same_event_three_times_from_eight_threads_is_one_event(installation: Installation, project: str) -> None:
    found: list[str] = []

    async def three_times() -> None:
        database = Database(installation.endpoint.app_url, max_connections=1)
        await database.open()
        journal = Journal(database)
        for _ in range(3):
            found.extend(statuses(await journal.append(project, [happened(project, "same")])))
        await database.close()

    threads = [threading.Thread(target=asyncio.run, args=(three_times(),)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (found.count("recorded"), found.count("duplicate")) == (1, 23)
    assert installation.rows("SELECT count(*) FROM journal.events WHERE project_id = %s", project) == [(1,)]


async def test_the_same_event_from_eight_tasks_of_one_worker_is_one_event(
    installation: Installation, project: str
) -> None:
    receipts = await asyncio.gather(
        *(installation.journal.append(project, [happened(project, "same")]) for _ in range(24))
    )
    assert sorted(status for receipt in receipts for status in statuses(receipt)) == ["duplicate"] * 23 + ["recorded"]


async def test_other_content_under_a_recorded_id_is_refused_and_the_rest_recorded(
    installation: Installation, project: str
) -> None:
    await installation.journal.append(project, [happened(project, "a")])
    other = happened(project, "a", data={"text": "something else"})
    receipt = await installation.journal.append(project, [happened(project, "b"), other, happened(project, "c")])
    assert statuses(receipt) == ["recorded", "conflict", "recorded"]
    assert [item.seq for item in receipt.written] == [2, 1, 3]
    bodies = installation.rows("SELECT body FROM journal.events WHERE project_id = %s AND event_id = 'a'", project)
    assert len(bodies) == 1
    assert b"something else" not in bodies[0][0]


async def test_what_the_producer_said_decides_and_not_what_was_made_of_it(
    installation: Installation, project: str
) -> None:
    said = "ab" * 32
    first = happened(project, "a", data={"text": "as the old importer put it"}, origin_hash=said)
    better = happened(project, "a", data={"text": "as a better importer puts it"}, origin_hash=said)
    assert statuses(await installation.journal.append(project, [first])) == ["recorded"]
    assert statuses(await installation.journal.append(project, [better])) == ["duplicate"]


async def test_two_contents_of_one_id_in_one_batch_conflict(installation: Installation, project: str) -> None:
    receipt = await installation.journal.append(
        project, [happened(project, "a"), happened(project, "a", data={"text": "?"})]
    )
    assert statuses(receipt) == ["recorded", "conflict"]


async def test_six_writers_with_rollbacks_and_sleeps_miss_none(
    installation: Installation, project: str, rng: random.Random
) -> None:
    seeds = [rng.random() for _ in range(6)]

    async def write(number: int, seed: float) -> list[Event]:
        chance, mine = random.Random(seed), []
        async with installation.worker(connections=2) as journal:
            for step in range(25):
                batch = [
                    happened(project, f"{number}-{step}-{i}", run=f"run-{number % 2}")
                    for i in range(chance.randint(1, 4))
                ]
                if chance.random() < 0.3:
                    with pytest.raises(NotFound):
                        await journal.transact(project, given_up(batch))
                await journal.append(project, batch)
                mine.extend(batch)
                if chance.random() < 0.3:
                    await asyncio.sleep(chance.random() / 200)
        return mine

    async def roll_back() -> None:
        chance = random.Random(seeds[0])
        async with await psycopg.AsyncConnection.connect(installation.endpoint.app_url) as connection:
            for _ in range(15):
                await connection.execute("SELECT set_config('temporality.scopes', %s, true)", (project,))
                await connection.execute(
                    "UPDATE journal.projects SET head_seq = head_seq + 7 WHERE project_id = %s", (project,)
                )
                await asyncio.sleep(chance.random() / 100)
                await connection.rollback()

    written = await asyncio.gather(*(write(number, seed) for number, seed in enumerate(seeds)), roll_back())
    sent = {event.event_id for mine in written if mine for event in mine}
    stored = installation.rows("SELECT seq, event_id FROM journal.events WHERE project_id = %s ORDER BY seq", project)
    assert [seq for seq, _ in stored] == list(range(1, len(stored) + 1))
    assert {event_id for _, event_id in stored} == sent
    counted = sum([(await run_row(installation, project, f"run-{number}")).events for number in (0, 1)])
    assert counted == len(sent)
    assert (await verify(installation.database, project, full=True)).problems == []


def given_up(batch: Sequence[Event]):
    """A command that decided on events and then found a reason against them."""

    def decide(rows: WorkingSet, late: bool) -> Sequence[Event]:
        raise NotFound(f"a reason not to write {len(batch)} events")

    return decide


async def test_heuristic_transitions_of_two_workers_are_never_lost_or_doubled(
    installation: Installation, project: str
) -> None:
    async def work(number: int) -> None:
        async with installation.worker() as journal:
            for step in range(20):
                await journal.append(project, ran(project, f"{number}-{step}", run=f"run-{number}"))

    await asyncio.gather(work(1), work(2), work(3))
    [(confirmations, uses, state)] = installation.rows(
        "SELECT confirmations, uses, state FROM projection.knowledge_nodes WHERE project_id = %s", project
    )
    assert (confirmations, uses, state) == (1, 58, "confirmed")
    kinds = installation.rows(
        "SELECT type, count(*) FROM journal.events WHERE project_id = %s AND type LIKE 'knowledge.%%' GROUP BY 1 ORDER BY 1",
        project,
    )
    assert kinds == [("knowledge.confirmed", 1), ("knowledge.proposed", 1), ("knowledge.used", 58)]


async def test_a_worker_never_answers_from_aggregates_another_worker_moved(
    installation: Installation, project: str
) -> None:
    """Also where nothing is written: a cached absence or a cached count would be an answer about the past."""
    seen: list[int | None] = []

    def look(rows: WorkingSet, late: bool) -> Sequence[Event]:
        run = rows.get(RUNS, Run, "r1")
        seen.append(run.events if run else None)
        if run is None:
            raise NotFound("run r1")
        return ()

    async with installation.worker() as one, installation.worker() as two:
        with pytest.raises(NotFound):
            await two.transact(project, look)
        await one.append(project, [happened(project, "a")])
        await two.transact(project, look)
        assert seen[-1] == 1
        await one.append(project, [happened(project, "b")])
        await two.transact(project, look)
        assert seen[-1] == 2


async def test_a_bad_unit_of_a_merged_group_fails_alone(installation: Installation, project: str) -> None:
    def broken(rows: WorkingSet, late: bool) -> Sequence[Event]:
        raise KeyError("a fault of ours")

    journal = installation.journal
    first = asyncio.create_task(journal.append(project, [happened(project, "first")]))
    await asyncio.sleep(0)
    outcomes = await asyncio.gather(
        journal.append(project, [happened(project, "good")]),
        journal.transact(project, broken),
        journal.append(project, [happened(project, "nul\x00id")]),
        journal.append(project, [happened(project, "x" * 2000)]),
        journal.append(project, [happened(project, "half \ud800")]),
        journal.append(project, [knows(project, "confirmed", "k", "1", data={"basis": "operator"}, actor=None)]),
        journal.append(project, [happened(project, "also good")]),
        return_exceptions=True,
    )
    await first
    assert [type(outcome) for outcome in outcomes] == [
        Receipt,
        KeyError,
        NotAdmitted,
        NotAdmitted,
        NotAdmitted,
        NotAdmitted,
        Receipt,
    ]
    assert "U+0000" in str(outcomes[2])
    assert "2000 bytes" in str(outcomes[3])
    assert "actor" in str(outcomes[5])
    stored = installation.rows("SELECT event_id FROM journal.events WHERE project_id = %s ORDER BY seq", project)
    assert stored == [("first",), ("good",), ("also good",)]


async def test_what_the_database_refuses_is_told_without_its_words(installation: Installation, project: str) -> None:
    """A fault of ours that no check foresees: here a constraint nobody knows of."""
    with installation.superuser() as connection:
        connection.execute("ALTER TABLE projection.frames ADD CONSTRAINT planted CHECK (frame_id <> 'secret-frame')")
    journal = installation.journal
    good, bad = await asyncio.gather(
        journal.append(project, [happened(project, "a")]),
        journal.append(project, [happened(project, "b", frame="secret-frame")]),
        return_exceptions=True,
    )
    assert isinstance(good, Receipt)
    assert isinstance(bad, Exception)
    assert "CheckViolation" in str(bad)
    assert "secret-frame" not in str(bad)
    with installation.superuser() as connection:
        connection.execute("ALTER TABLE projection.frames DROP CONSTRAINT planted")


async def test_a_cancelled_caller_takes_nobody_with_it(installation: Installation, project: str) -> None:
    journal = installation.journal
    tasks = [asyncio.create_task(journal.append(project, [happened(project, f"{i}")])) for i in range(10)]
    await asyncio.sleep(0)
    for task in tasks[::2]:
        task.cancel()
    outcomes = await asyncio.gather(*tasks, return_exceptions=True)
    assert [isinstance(outcome, Receipt) for outcome in outcomes] == [i % 2 == 1 for i in range(10)]
    assert statuses(await journal.append(project, [happened(project, "after")])) == ["recorded"]


async def test_a_database_that_does_not_answer_is_said_and_nothing_is_lost(
    installation: Installation, project: str
) -> None:
    others = [pid for (pid,) in installation.rows("SELECT pid FROM pg_stat_activity")]
    async with installation.worker(connections=1) as journal:
        await journal.append(project, [happened(project, "a")])
        installation.rows(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE application_name = 'temporality' AND datname = current_database() AND pid <> ALL (%s)",
            others,
        )
        outcomes: list[str] = []
        for _ in range(20):
            try:
                outcomes = statuses(await journal.append(project, [happened(project, "b")]))
                break
            except JournalUnavailable:
                await asyncio.sleep(0.1)
        assert outcomes == ["recorded"]


async def test_zero_bytes_stay_in_the_journal_and_do_not_break_rows(installation: Installation, project: str) -> None:
    _, end = ran(project, "op")
    command = {"tool": "ba\x00sh", "command": "make\x00 test"}
    await installation.journal.append(
        project,
        [
            happened(project, "a", data={"text": "nul \x00 here"}),
            happened(project, "s", "tool.started", data=command, operation_id="op", frame="f", workspace="/re\x00po"),
            end,
        ],
    )
    rows = await states.load(installation.database, project, OPERATIONS, ("r1", "op"))
    assert rows["r1", "op"].command == "make\ufffd test"
    [(body,)] = installation.rows("SELECT body FROM journal.events WHERE project_id = %s AND event_id = 'a'", project)
    assert b"nul \\u0000 here" in body
    assert (await verify(installation.database, project, full=True)).ok


async def test_sequence_and_chain_are_the_projects_own(installation: Installation, project: str) -> None:
    other = f"{project}-other"
    await installation.journal.append(project, [happened(project, "a")])
    receipt = await installation.journal.append(other, [happened(other, "a")])
    assert receipt.written[0].seq == 1


async def test_time_of_receipt_never_runs_backwards(installation: Installation, project: str) -> None:
    await installation.journal.append(project, [happened(project, "a")])
    with installation.superuser() as connection:
        connection.execute(
            "UPDATE journal.projects SET head_received_at = clock_timestamp() + interval '1 hour' WHERE project_id = %s",
            (project,),
        )
    await installation.journal.append(project, [happened(project, "b")])
    [(later,)] = installation.rows(
        "SELECT received_at > clock_timestamp() + interval '59 minutes' FROM journal.events WHERE project_id = %s AND event_id = 'b'",
        project,
    )
    assert later


async def test_more_aggregates_than_the_cache_keeps_fold_in_one_batch(
    installation: Installation, project: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("activities.postgres.journal.MAX_CACHED_ROWS", 10)
    events = [happened(project, f"{i}", frame=f"frame-{i}") for i in range(60)]
    async with installation.worker() as journal:
        for _ in range(2):
            await journal.append(project, events)
            await journal.append(project, [happened(project, f"{i}-again", frame=f"frame-{i}") for i in range(60)])
    assert installation.rows("SELECT DISTINCT events FROM projection.frames WHERE project_id = %s", project) == [(2,)]


async def test_a_decision_on_missing_nodes_is_asked_again_with_them(installation: Installation, project: str) -> None:
    node = observation_identity(project, "/repo", "make test")
    looked: list[Node | None] = []

    def decide(rows: WorkingSet, late: bool) -> Sequence[Event]:
        looked.append(rows.get(NODES, Node, node))
        return ()

    await installation.journal.append(project, ran(project, "op"))
    async with installation.worker() as journal:
        await journal.transact(project, decide)
    assert [found.state if found else None for found in looked] == ["proposed"]


async def test_an_empty_append_says_where_the_journal_stands(installation: Installation, project: str) -> None:
    receipt = await installation.journal.transact(project, recorded(()))
    assert receipt.written == ()
