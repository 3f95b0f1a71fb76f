"""Search over a real journal: scope and state first, then the words, and every item explained."""

import pytest

from activities.postgres.journal import Journal
from activities.postgres.pool import Database
from activities.postgres.reading.retrieval import search
from domain.contracts.errors import MalformedMessage, NotPermitted
from domain.retrieval.query import STATES, Answer, Query
from tests.support.seed import Seeded

ROUNDING = "Totals are one cent short because round_cents rounds half to even"
FLOAT = "Amounts must be parsed from strings because a float loses a cent"
BUILD = "The build needs node 20"


@pytest.fixture
async def ledger(journal: Journal) -> Seeded:
    return Seeded(journal, "ledger")


async def three(seeded: Seeded) -> dict[str, str]:
    cited = await seeded.command("python -c 1", "0.595 -> 0.60")
    return {text: await seeded.claim(text, cited) for text in (ROUNDING, FLOAT, BUILD)}


def texts(answer: Answer) -> list[str]:
    return [item.knowledge.proposition for item in answer.items]


async def test_the_rarest_words_decide_and_every_item_says_which(database: Database, ledger: Seeded) -> None:
    await three(ledger)
    answer = await search(database, Query("ledger", "why is a cent lost by half rounds"))
    assert texts(answer) == [ROUNDING, FLOAT]
    first = answer.items[0]
    assert {term.term for term in first.terms} >= {"half", "rounds", "cent"}
    assert first.score == sum(term.score for term in first.terms)
    by_term = {term.term: term.weight for term in first.terms}
    assert by_term["half"] > by_term["cent"] > 0
    assert (answer.searched, answer.matching) == (3, 2)
    assert "why" in answer.unknown


async def test_an_item_says_what_it_is_and_who_was_let_in(database: Database, ledger: Seeded) -> None:
    ids = await three(ledger)
    answer = await search(database, Query("ledger", "node", principal="human:example.org:u1"))
    found = answer.items[0].knowledge
    assert (found.id, found.project, found.kind, found.state) == (ids[BUILD], "ledger", "claim", "proposed")
    assert found.valid_from is not None and found.valid_to is None
    assert (found.provenance.origin_run, found.provenance.producer) == ("run-1", "knowledge-extractor")
    assert (found.provenance.evidence, found.provenance.confirmations) == (1, 0)
    assert (found.authorization.principal, found.authorization.decision) == ("human:example.org:u1", "granted")


@pytest.mark.parametrize("ending", ["knowledge.corrected", "knowledge.superseded", "knowledge.invalidated"])
async def test_what_ended_is_gone_before_ranking_and_found_when_asked_for(
    database: Database, ledger: Seeded, ending: str
) -> None:
    ids = await three(ledger)
    await ledger.move(ids[ROUNDING], ending, reason_code="test")
    answer = await search(database, Query("ledger", "cent", limit=1))
    assert texts(answer) == [FLOAT]
    assert answer.searched == 2
    assert len((await search(database, Query("ledger", "cent", states=STATES))).items) == 2


async def test_what_is_forgotten_is_never_found(database: Database, ledger: Seeded) -> None:
    ids = await three(ledger)
    await ledger.move(ids[BUILD], "knowledge.forgotten")
    answer = await search(database, Query("ledger", "build node", states=STATES))
    assert answer.items == ()
    await ledger.move(ids[BUILD], "knowledge.restored")
    assert texts(await search(database, Query("ledger", "build node"))) == [BUILD]


async def test_confirmed_stands_before_proposed_where_the_words_are_equal(database: Database, ledger: Seeded) -> None:
    ids = await three(ledger)
    await ledger.move(ids[FLOAT], "knowledge.confirmed", basis="operator")
    assert texts(await search(database, Query("ledger", "cent"))) == [FLOAT, ROUNDING]


@pytest.mark.parametrize("limit", [1, 3, 7, 20])
async def test_a_second_project_never_makes_an_answer_shorter(database: Database, journal: Journal, limit: int) -> None:
    """Law 15: min(k, admissible), whatever else is in the tables."""
    for project, count in (("mine", 7), ("other", 60)):
        seeded = Seeded(journal, project)
        cited = await seeded.command("ls", "x")
        for number in range(count):
            await seeded.claim(f"shared words about thing{number} of {project}", cited)
    answer = await search(database, Query("mine", "shared words", limit=limit))
    assert len(answer.items) == min(limit, 7)
    assert {item.knowledge.project for item in answer.items} == {"mine"}


async def test_words_in_everything_are_left_out_while_another_is_left(database: Database, ledger: Seeded) -> None:
    cited = await ledger.command("ls", "x")
    for number in range(10):
        await ledger.claim(f"service item{number} restarts", cited)
    answer = await search(database, Query("ledger", "service item3"))
    assert texts(answer) == ["service item3 restarts"]
    assert answer.common == ("service",)
    alone = await search(database, Query("ledger", "service", limit=4))
    assert len(alone.items) == 4 and alone.common == ("service",)


@pytest.mark.parametrize("text", ["", "   ", "zzzz", "'; DROP TABLE x; --", "%", "\u0000", "é" * 3000])
async def test_any_text_is_only_text(database: Database, ledger: Seeded, text: str) -> None:
    await three(ledger)
    assert (await search(database, Query("ledger", text))).items == ()


async def test_an_unknown_project_is_empty_and_the_reserved_one_is_closed(database: Database) -> None:
    assert (await search(database, Query("nobody", "cent"))).items == ()
    with pytest.raises(NotPermitted):
        await search(database, Query("_installation", "cent"))


@pytest.mark.parametrize("wrong", [{"limit": 0}, {"limit": 1000}, {"states": ("true",)}, {"text": "x" * 9000}])
def test_a_question_out_of_bounds_says_so(wrong: dict[str, object]) -> None:
    with pytest.raises(MalformedMessage):
        Query(**{"project": "ledger", "text": "cent", **wrong})  # pyright: ignore[reportArgumentType]


async def test_the_words_reach_an_index_under_row_level_security(database: Database, journal: Journal) -> None:
    """Other projects' rows are not read: matching is plain equality of text (DESIGN section 9)."""
    for project, count in (("mine", 3), ("big", 400)):
        seeded = Seeded(journal, project)
        cited = await seeded.command("ls", "x")
        for number in range(count):
            await seeded.claim(f"common words{number} everywhere", cited)
    from activities.postgres.reading.statements import SQL

    parameters = {"project": "mine", "terms": ["common"], "states": ["proposed"], "kinds": ["claim"]}
    async with database.scoped("mine") as connection:
        await connection.execute("SET LOCAL enable_seqscan = off")
        cursor = await connection.execute(b"EXPLAIN (FORMAT TEXT) " + SQL["term_postings"], parameters)
        plan = "\n".join(row[0] for row in await cursor.fetchall())
    assert "Seq Scan on terms" not in plan
    assert any("Index Cond" in line and "term = w.term" in line for line in plan.splitlines()), plan
