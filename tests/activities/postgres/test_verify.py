"""`verify` finds whatever a superuser may have done to a journal, and only that."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from activities.postgres.verify import Checkpoint, verify
from tests.support.events import happened
from tests.support.installation import Installation

EVENTS = 250


@pytest_asyncio.fixture(loop_scope="session")
async def kept(installation: Installation, project: str) -> AsyncIterator[str]:
    """A project of 250 events in three batches."""
    for start in (0, 100, 200):
        batch = [happened(project, f"e{i:03}", operation_id=f"op{i}") for i in range(start, min(start + 100, EVENTS))]
        await installation.journal.append(project, batch)
    yield project


def tamper(installation: Installation, statement: str, *parameters: object) -> None:
    with installation.superuser() as connection:
        done = connection.execute(statement.encode(), parameters)
        assert done.rowcount > 0, "nothing was tampered with"


async def test_a_healthy_journal_has_no_problems(installation: Installation, kept: str) -> None:
    plain, full = await verify(installation.database, kept), await verify(installation.database, kept, full=True)
    assert (plain.problems, plain.events, plain.columns_checked) == ([], EVENTS, 3)
    assert (full.problems, full.events, full.columns_checked) == ([], EVENTS, EVENTS)
    assert full.head is not None
    assert full.head.seq == EVENTS


TAMPERINGS = {
    "an edited body": (
        "UPDATE journal.events SET body = convert_to(replace(convert_from(body, 'UTF8'), 'e041', 'e04!'), 'UTF8')"
        " WHERE project_id = %s AND seq = 42",
        "event 42: its body does not have the hash",
    ),
    "an edited body with its hash": (
        "UPDATE journal.events SET body = 'x', content_hash = sha256('x') WHERE project_id = %s AND seq = 42",
        "event 42: its place, time of receipt or content",
    ),
    "an edited body with all its own hashes": (
        "UPDATE journal.events SET body = 'x', content_hash = sha256('x'), hash = sha256(prev_hash || int8send(seq) || "
        "int8send((extract(epoch FROM received_at) * 1000000)::bigint) || sha256('x')) WHERE project_id = %s AND seq = 42",
        "event 43: it does not follow the event before it",
    ),
    "a deleted row": ("DELETE FROM journal.events WHERE project_id = %s AND seq = 42", "event 42 is missing"),
    "a deleted first row": ("DELETE FROM journal.events WHERE project_id = %s AND seq = 1", "event 1 is missing"),
    "several deleted rows": (
        "DELETE FROM journal.events WHERE project_id = %s AND seq BETWEEN 42 AND 50",
        "events 42 to 50 are missing",
    ),
    "an inserted row": (
        "INSERT INTO journal.events SELECT project_id, 251, source_id, 'inserted', type, run_id, operation_id, occurred_at,"
        " received_at, origin_hash, content_hash, prev_hash, hash, body FROM journal.events WHERE project_id = %s AND seq = 42",
        "event 251: it does not follow the event before it",
    ),
    "swapped rows": (
        "UPDATE journal.events e SET body = o.body, content_hash = o.content_hash FROM journal.events o"
        " WHERE e.project_id = %s AND o.project_id = e.project_id AND (e.seq, o.seq) IN ((42, 43), (43, 42))",
        "event 42: its place, time of receipt or content",
    ),
    "another time of receipt": (
        "UPDATE journal.events SET received_at = received_at + interval '1 second' WHERE project_id = %s AND seq = 42",
        "event 42: its place, time of receipt",
    ),
    "a cut tail": (
        "DELETE FROM journal.events WHERE project_id = %s AND seq > 240",
        "the chain ends at event 240, the project's head says 250",
    ),
    "everything gone": (
        "DELETE FROM journal.events WHERE project_id = %s",
        "the chain ends at event 0, the project's head says 250",
    ),
    "a head moved back": (
        "UPDATE journal.projects SET head_seq = 249 WHERE project_id = %s",
        "the chain ends at event 250, the project's head says 249",
    ),
}


@pytest.mark.parametrize("name", TAMPERINGS)
async def test_tampering_is_found(installation: Installation, kept: str, name: str) -> None:
    statement, sentence = TAMPERINGS[name]
    tamper(installation, statement, kept)
    found = await verify(installation.database, kept)
    assert not found.ok
    assert any(problem.startswith(sentence) for problem in found.problems), found.problems


COLUMNS = {
    "type": "'turn.agent'",
    "run_id": "'another'",
    "operation_id": "NULL",
    "occurred_at": "occurred_at + interval '1 day'",
    "source_id": "'another'",
    "event_id": "'another'",
}


@pytest.mark.parametrize("column", COLUMNS)
async def test_an_edited_column_is_found_by_full(installation: Installation, kept: str, column: str) -> None:
    tamper(
        installation, f"UPDATE journal.events SET {column} = {COLUMNS[column]} WHERE project_id = %s AND seq = 42", kept
    )
    assert (await verify(installation.database, kept)).ok
    found = await verify(installation.database, kept, full=True)
    assert [problem.partition(" says")[0] for problem in found.problems] == [f"event 42: the column {column}"]


async def test_a_tail_cut_together_with_the_head_is_found_by_a_checkpoint(
    installation: Installation, kept: str
) -> None:
    before = await verify(installation.database, kept)
    assert before.head is not None
    tamper(installation, "DELETE FROM journal.events WHERE project_id = %s AND seq > 240", kept)
    tamper(
        installation,
        "UPDATE journal.projects p SET head_seq = 240, head_hash = e.hash FROM journal.events e"
        " WHERE p.project_id = %s AND e.project_id = p.project_id AND e.seq = 240",
        kept,
    )
    assert (await verify(installation.database, kept)).ok
    found = await verify(installation.database, kept, checkpoints=(before.head,))
    assert found.problems == ["a checkpoint names event 250, and the journal ends at 240: the tail was cut"]


async def test_history_rewritten_under_a_checkpoint_is_found(installation: Installation, kept: str) -> None:
    checkpoint = Checkpoint(kept, 100, "00" * 32)
    found = await verify(installation.database, kept, checkpoints=(checkpoint, Checkpoint("another", 1, "00")))
    assert found.problems == ["event 100 does not have the hash its checkpoint says: history was rewritten"]


async def test_a_journal_full_of_problems_names_the_first_fifty_and_counts_on(
    installation: Installation, kept: str
) -> None:
    tamper(installation, "UPDATE journal.events SET body = 'x' WHERE project_id = %s", kept)
    found = await verify(installation.database, kept)
    assert (len(found.problems), found.events) == (50, EVENTS)


async def test_a_project_that_is_not_there_is_empty(installation: Installation, project: str) -> None:
    found = await verify(installation.database, project)
    assert (found.events, found.head, found.ok) == (0, None, True)
