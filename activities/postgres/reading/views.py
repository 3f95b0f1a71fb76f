"""One thing shown whole: a run, a frame, a task, an event, a node of knowledge."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson

from activities.postgres.pool import Database
from activities.postgres.reading.evidence import Bodies, evidence_of
from activities.postgres.reading.ids import resolve
from activities.postgres.reading.retrieval import Reading, reading
from activities.postgres.rebuild import read_event
from domain.approvals.state import APPROVALS, Approval
from domain.extraction.state import EXTRACTIONS, Extraction
from domain.journal.event import Event
from domain.retrieval.query import LOCAL
from domain.retrieval.views import (
    Counts,
    EventLine,
    EventView,
    FrameView,
    KnowledgeView,
    Moved,
    Relation,
    RunView,
    TaskView,
    Transition,
)
from domain.runs.events import body_text
from domain.runs.state import FRAMES, OPERATIONS, RUNS, TASKS, Frame, Operation, Run, Task

MOST = 500
"""Of a long list (events that moved knowledge, operations that failed), so many are shown."""
_SAYS = 160


async def show_run(database: Database, project: str, prefix: str, principal: str = LOCAL) -> RunView:
    """The run whose id begins with `prefix`. Raises as `resolve` and `reading` do, and so do all views."""
    async with reading(database, project, principal) as opened:
        run = await resolve(opened, "run", prefix)
        moving = await opened.fetch("knowledge_events_of_run", run=run, limit=MOST)
        return RunView(
            authorization=opened.authorization,
            run=(await opened.rows("run_by_id", RUNS, Run, id=run))[0],
            frames=tuple(await opened.rows("frames_of_run", FRAMES, Frame, run=run)),
            operations=tuple(await opened.rows("operations_not_well", OPERATIONS, Operation, run=run, limit=MOST)),
            extractions=tuple(await opened.rows("extractions_of_run", EXTRACTIONS, Extraction, run=run)),
            moved=await _moved(opened, [(source, event) for source, event in moving]),
        )


async def show_frame(database: Database, project: str, prefix: str, principal: str = LOCAL) -> FrameView:
    """The frame whose id begins with `prefix`, with its events."""
    async with reading(database, project, principal) as opened:
        frame_id = await resolve(opened, "frame", prefix)
        frame = (await opened.rows("frame_by_id", FRAMES, Frame, id=frame_id))[0]
        siblings = await opened.rows("frames_of_run", FRAMES, Frame, run=frame.run_id)
        events = [(int(seq), read_event(body)) for seq, body in await opened.fetch("bodies_of_run", run=frame.run_id)]
        return FrameView(
            authorization=opened.authorization,
            frame=frame,
            inner=tuple(other for other in siblings if other.parent_frame_id == frame_id),
            events=tuple(_line(seq, event) for seq, event in events if event.frame == frame_id),
        )


async def show_task(database: Database, project: str, prefix: str, principal: str = LOCAL) -> TaskView:
    """The task whose id begins with `prefix`, with its runs."""
    async with reading(database, project, principal) as opened:
        task = await resolve(opened, "task", prefix)
        return TaskView(
            authorization=opened.authorization,
            task=(await opened.rows("task_by_id", TASKS, Task, id=task))[0],
            runs=tuple(await opened.rows("runs_of_task", RUNS, Run, id=task)),
        )


async def show_event(database: Database, project: str, prefix: str, principal: str = LOCAL) -> EventView:
    """The event whose id begins with `prefix`, with what it did to knowledge."""
    async with reading(database, project, principal) as opened:
        event_id = await resolve(opened, "event", prefix)
        record = (await opened.fetch("event_by_id", id=event_id))[0]
        document: dict[str, Any] = orjson.loads(record[6])
        return EventView(
            authorization=opened.authorization, seq=int(record[0]), received_at=record[1], origin_hash=record[2].hex(),
            content_hash=record[3].hex(), prev_hash=record[4].hex(), hash=record[5].hex(), document=document,
            moved=await _moved(opened, [(document["source"]["id"], event_id)]),
        )  # fmt: skip


async def show_knowledge(
    database: Database,
    project: str,
    prefix: str,
    *,
    bodies: Bodies | None = None,
    forgotten: bool = False,
    principal: str = LOCAL,
) -> KnowledgeView:
    """The node whose id begins with `prefix`: ended ones too; a forgotten one only where `forgotten` asks for it."""
    async with reading(database, project, principal) as opened:
        node = await resolve(opened, "knowledge", prefix, hidden=forgotten)
        found = await opened.knowledge([node], forgotten=forgotten)
        evidence = await evidence_of(opened, [node], bodies)
        return KnowledgeView(
            knowledge=found[node],
            evidence=evidence.get(node, ()),
            transitions=tuple(Transition(*record) for record in await opened.fetch("transitions_of", id=node)),
            relations=tuple(Relation(*record) for record in await opened.fetch("relations_of", id=node)),
            approvals=tuple(await opened.rows("approvals_of", APPROVALS, Approval, ids=[node])),
        )


async def counts(database: Database, project: str, principal: str = LOCAL) -> Counts:
    """What the project holds."""
    async with reading(database, project, principal) as opened:
        events, runs, operations = (await opened.fetch("count_rows"))[0]
        by: dict[str, dict[str, int]] = {"knowledge": {}, "approvals": {}, "extractions": {}}
        for what, state, count in await opened.fetch("count_states"):
            by[what][state] = int(count)
        return Counts(
            opened.authorization,
            int(events or 0),
            int(runs),
            int(operations),
            by["extractions"],
            by["knowledge"],
            by["approvals"],
        )


async def proposed_by(database: Database, project: str, trajectory: str, principal: str = LOCAL) -> int | None:
    """How many candidates the last completed extraction of a trajectory proposed; None where there is none."""
    async with reading(database, project, principal) as opened:
        found = await opened.rows("extraction_of_trajectory", EXTRACTIONS, Extraction, trajectory=trajectory)
        return int(found[0].outcome["proposed"]) if found and found[0].state == "completed" else None


async def _moved(opened: Reading, events: Sequence[tuple[str, str]]) -> tuple[Moved, ...]:
    """What the events did to knowledge that may be shown; what was forgotten is left out."""
    if not events:
        return ()
    records = await opened.fetch(
        "moved_by_events", sources=sorted({source for source, _ in events}), events=[event for _, event in events]
    )
    shown = await opened.knowledge([knowledge for _, _, knowledge in records])
    return tuple(Moved(event, transition, shown[node]) for event, transition, node in records if node in shown)


def _line(seq: int, event: Event) -> EventLine:
    data = event.data
    texts = (
        data.get("text"),
        data.get("command"),
        data.get("output"),
        data.get("error"),
        data.get("title"),
        data.get("tool"),
    )
    says = next((text for text in map(body_text, texts) if text), "")
    return EventLine(
        seq,
        event.event_id,
        event.type,
        event.occurred_at,
        event.operation_id,
        " ".join(says[: 2 * _SAYS].split())[:_SAYS],
    )
