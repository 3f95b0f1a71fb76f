"""What is shown of one thing, by id or by the start of one, down to the quoted characters."""

import pytest

from activities.postgres.journal import Journal
from activities.postgres.pool import Database
from activities.postgres.reading.ids import resolve
from activities.postgres.reading.retrieval import reading
from activities.postgres.reading.review import approval_meant, waiting
from activities.postgres.reading.views import (
    counts,
    proposed_by,
    show_event,
    show_frame,
    show_knowledge,
    show_run,
    show_task,
)
from domain.contracts.errors import MalformedId, NotFound
from tests.support.seed import Seeded


class Bodies:
    """A store of one body."""

    def __init__(self, **bodies: bytes) -> None:
        self.bodies = bodies

    async def get(self, project: str, sha256: str) -> bytes:
        return self.bodies[sha256]


@pytest.fixture
async def ledger(journal: Journal) -> Seeded:
    return Seeded(journal, "ledger")


async def test_evidence_is_shown_down_to_the_span(database: Database, ledger: Seeded) -> None:
    cited = await ledger.command("python -c 'round(...)'", "first\n0.595 -> 0.60\nlast")
    node = await ledger.claim("round gives 0.60", cited, quote="0.595 -> 0.60")
    view = await show_knowledge(database, "ledger", node)
    (citation,) = view.evidence
    assert citation.event == cited.event_id and citation.command == "python -c 'round(...)'"
    assert citation.excerpt is not None
    assert citation.excerpt.text == "0.595 -> 0.60"
    assert (citation.excerpt.before, citation.excerpt.after) == ("first\n", "\nlast")
    assert citation.excerpt.verified is True and citation.excerpt.outcome == "exit code 0"
    assert [step.transition for step in view.transitions] == ["proposed"]


async def test_an_observation_shows_the_check_that_ran(database: Database, ledger: Seeded) -> None:
    await ledger.command("pytest -q", "3 passed in 0.1s")
    run = await show_run(database, "ledger", "run-1")
    (moved,) = run.moved
    assert (moved.transition, moved.knowledge.kind) == ("proposed", "observation")
    (citation,) = (await show_knowledge(database, "ledger", moved.knowledge.id)).evidence
    assert citation.excerpt is not None and citation.excerpt.text == "3 passed in 0.1s"
    assert (citation.type, citation.command) == ("check_result", "pytest -q")


async def test_a_body_held_elsewhere_is_read_and_its_preview_is_said_to_be_one(
    database: Database, ledger: Seeded
) -> None:
    import hashlib

    body = b"x" * 20_000 + b" the end"
    sha256 = hashlib.sha256(body).hexdigest()
    held = {"artifact": sha256, "bytes": len(body), "preview": "xxx"}
    await ledger.happened("tool.started", {"tool": "Bash", "command": "pytest"}, operation_id="o", workspace="/r")
    ended = {"tool": "Bash", "exit_code": 0, "output": held}
    event = await ledger.happened("tool.completed", ended, operation_id="o", workspace="/r")
    node = (await show_event(database, "ledger", event.event_id)).document
    assert node["data"]["output"]["artifact"] == sha256
    (moved,) = (await show_run(database, "ledger", "run-1")).moved
    (bare,) = (await show_knowledge(database, "ledger", moved.knowledge.id)).evidence
    assert bare.excerpt is not None and (bare.excerpt.text, bare.excerpt.complete) == ("xxx", False)
    stored = Bodies(**{sha256: body})
    (read,) = (await show_knowledge(database, "ledger", moved.knowledge.id, bodies=stored)).evidence
    assert read.excerpt is not None and read.excerpt.complete and read.excerpt.verified is True


async def test_a_run_a_frame_a_task_and_an_event(database: Database, ledger: Seeded) -> None:
    await ledger.happened("run.opened", {"title": "Fix", "format": "claude_code"}, task="task-9")
    await ledger.happened("turn.user", {"text": "please  fix\nit"}, frame="frame-1", task="task-9")
    await ledger.command("pytest", "1 failed", exit_code=1)
    run = await show_run(database, "ledger", "run-")
    assert (run.run.title, run.run.events, run.run.errors) == ("Fix", 4, 1)
    assert [frame.frame_id for frame in run.frames] == ["frame-1"]
    assert [operation.exit_code for operation in run.operations] == [1]
    frame = await show_frame(database, "ledger", "frame")
    assert [(line.type, line.says) for line in frame.events] == [("turn.user", "please fix it")]
    assert [found.run_id for found in (await show_task(database, "ledger", "task-9")).runs] == ["run-1"]
    event = await show_event(database, "ledger", frame.events[0].event[:10])
    assert (event.seq, event.document["data"]["text"]) == (2, "please  fix\nit")
    assert len(event.hash) == 64 and event.moved == ()


async def test_the_queue_holds_what_waits_with_its_evidence(database: Database, ledger: Seeded) -> None:
    cited = await ledger.command("ls", "a b")
    node = await ledger.claim("a stands before b", cited, asked=True)
    await ledger.claim("nobody was asked about this", cited)
    (item,) = await waiting(database, "ledger")
    assert (item.knowledge.id, item.overdue) == (node, False)
    assert item.evidence[0].excerpt is not None and item.evidence[0].excerpt.text == "a b"
    await ledger.move(node, "knowledge.forgotten")
    assert await waiting(database, "ledger") == ()


async def test_an_approval_is_meant_by_its_own_id_or_by_its_candidates(database: Database, ledger: Seeded) -> None:
    cited = await ledger.command("ls", "a b")
    node = await ledger.claim("a stands before b", cited, asked=True)
    other = await ledger.claim("nobody was asked about this", cited)
    digest = node.rpartition("/")[2]
    meant = await approval_meant(database, "ledger", digest[:10])
    assert meant.target == node
    for prefix in (node, node[:16], meant.approval_id, meant.approval_id[:12], meant.approval_id[5:15].lower()):
        assert (await approval_meant(database, "ledger", prefix)).approval_id == meant.approval_id
    with pytest.raises(NotFound, match="nobody asked"):
        await approval_meant(database, "ledger", other)
    with pytest.raises(NotFound, match="no candidate and no approval"):
        await approval_meant(database, "ledger", "claim/v1/zz")
    with pytest.raises(MalformedId, match="more than one knowledge"):
        await approval_meant(database, "ledger", "claim/")


async def test_a_prefix_of_several_lists_them_and_a_whole_id_wins(database: Database, ledger: Seeded) -> None:
    for run in ("r", "r1", "r10", "r2", "é"):
        await ledger.happened("run.opened", {}, run)
    async with reading(database, "ledger") as opened:
        assert await resolve(opened, "run", "r") == "r"
        assert await resolve(opened, "run", "r1") == "r1"
        assert await resolve(opened, "run", "r10") == "r10"
        assert await resolve(opened, "run", "é") == "é"
        with pytest.raises(NotFound, match="no run of project ledger"):
            await resolve(opened, "run", "x")
    many = Seeded(ledger.journal, "many")
    for number in range(12):
        await many.happened("run.opened", {}, f"run-{number:02}")
    async with reading(database, "many") as opened:
        with pytest.raises(MalformedId, match=r"run-00, run-01, .*, \.\.\.\); give more"):
            await resolve(opened, "run", "run-")


@pytest.mark.parametrize("prefix", ["", "\0", "\udcff", "x" * 2000])
async def test_what_begins_no_id_is_refused(database: Database, prefix: str) -> None:
    async with reading(database, "ledger") as opened:
        with pytest.raises(MalformedId):
            await resolve(opened, "event", prefix)


@pytest.mark.parametrize("prefix", ["%", "_", "run_1", "'; --", "../..", "a\nb"])
async def test_hostile_prefixes_find_nothing(database: Database, ledger: Seeded, prefix: str) -> None:
    await ledger.happened("run.opened", {})
    with pytest.raises(NotFound):
        await show_run(database, "ledger", prefix)


async def test_what_is_forgotten_is_shown_only_where_it_is_asked_for_by_name(
    database: Database, ledger: Seeded
) -> None:
    cited = await ledger.command("ls", "a b")
    node = await ledger.claim("a stands before b", cited)
    await ledger.move(node, "knowledge.forgotten")
    with pytest.raises(NotFound):
        await show_knowledge(database, "ledger", node)
    assert (await show_knowledge(database, "ledger", node, forgotten=True)).knowledge.forgotten
    assert (await show_run(database, "ledger", "run-1")).moved == ()
    assert (await counts(database, "ledger")).knowledge == {}


async def test_counts(database: Database, ledger: Seeded) -> None:
    cited = await ledger.command("ls", "a b")
    await ledger.claim("a stands before b", cited, asked=True)
    found = await counts(database, "ledger")
    assert (found.events, found.runs, found.operations) == (4, 1, 1)
    assert (found.knowledge, found.approvals) == ({"proposed": 1}, {"pending": 1})
    assert await proposed_by(database, "ledger", "no-such-trajectory") is None
    empty = await counts(database, "nobody")
    assert (empty.events, empty.runs, empty.knowledge) == (0, 0, {})
