"""Deciding: an update that judges, records and applies, against one whose handler awaits a bare activity."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta

from activities.postgres.journal import Journal
from bench.events import session
from bench.floor_workflows import QUEUE, Update
from bench.installation import Installation
from bench.measure import Bar, p95
from bench.place import Place
from client.decide import decide
from client.starting import start_options
from domain.approvals.ids import approval_id
from domain.contracts.approval import ApprovalInput, Decision
from domain.contracts.names import TASK_QUEUE
from domain.contracts.starting import approval_start
from domain.journal.event import Event, stamp
from domain.knowledge.normalise import claim_identity

PROJECT = "decide"


async def deciding(place: Place, here: Installation) -> list[Bar]:
    """p95 of `decide` against p95 of the floor, one after the other in turn; the first tenth warms up."""
    count = place.size(full=120, quick=20)
    journal = Journal(here.database)
    said = next(session(PROJECT, "r", 1))
    await journal.append(PROJECT, [said])
    deadline = datetime.now(UTC) + timedelta(days=7)
    mine, bare = [], []
    for number in range(count):
        floor = await here.client.start_workflow(Update.run, id=f"update-{number}", task_queue=QUEUE)
        asked = await _ask(here, journal, said, number, deadline)
        # both have answered their first workflow task before they are asked
        await floor.describe()
        bare.append(await _timed(floor.execute_update(Update.decide)))
        decision = Decision(decision="approve", actor="human:bench:u1", decision_id=f"d{number}")
        mine.append(await _timed(decide(here.client, PROJECT, asked, decision)))
    skip = count // 10
    ours, floor_p95 = p95(mine[skip:]) * 1e3, p95(bare[skip:]) * 1e3
    detail = f"p95 {ours:.1f} ms of {count - skip} decisions, an update awaiting one bare activity {floor_p95:.1f} ms"
    return [Bar("Decide, p95", ours / floor_p95, most=1.4, detail=detail)]


async def _timed(asked: object) -> float:
    started = time.perf_counter()
    await asked  # type: ignore[misc]
    return time.perf_counter() - started


async def _ask(here: Installation, journal: Journal, said: Event, number: int, deadline: datetime) -> str:
    words = f"The bench's claim {number} needs port {5000 + number}."
    target = claim_identity(PROJECT, words, 0)
    name = approval_id("bench", target)
    now = datetime.now(UTC)
    knowledge = {
        "knowledge": target,
        "producer": "bench",
        "producer_version": "v1",
        "kind": "claim",
        "proposition": words,
    }
    action = {"kind": "knowledge.confirm", "target": target, "arguments": {"proposition": words}}
    asked = {"approval": name, "proposed_action": action, "deadline": stamp(deadline), "proposed_by_run": "r"}
    common = {"run": "r", "actor": "system:bench:kernel", "caused_by": (said.event_id,)}
    await journal.append(
        PROJECT,
        [
            Event(PROJECT, "temporality/bench", f"p{number}", "knowledge.proposed", now, knowledge, **common),
            Event(PROJECT, "temporality/bench", f"a{number}", "approval.requested", now, asked, **common),
        ],
    )
    start = approval_start(ApprovalInput(project=PROJECT, approval=name, deadline=deadline, proposed_by_run="r"))
    await here.client.start_workflow(start.workflow, start.input, task_queue=TASK_QUEUE, **start_options(start))
    return name
