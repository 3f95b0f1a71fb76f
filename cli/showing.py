"""`show`: one thing whole."""

from collections.abc import Awaitable, Iterator

import orjson

from activities.postgres.reading import views
from cli.describing import counted, evidence_lines, knowledge_lines, moved_lines
from cli.output import emit, one_line, say, when
from cli.session import Session, run, session
from domain.retrieval.views import EventView, FrameView, KnowledgeView, RunView, TaskView

View = RunView | FrameView | TaskView | EventView | KnowledgeView
MOST = 200


def show(kind: str, ident: str, project: str, forgotten: bool, as_json: bool) -> None:
    """Print the one `kind` whose id begins with `ident`."""
    view = run(_read(kind, ident, project, forgotten))
    if as_json:
        emit(view)
        return
    for line in lines(view):
        say(line)


async def _read(kind: str, ident: str, project: str, forgotten: bool) -> View:
    async with session(project) as opened:
        return await _view(opened, kind, ident, forgotten)


def _view(opened: Session, kind: str, ident: str, forgotten: bool) -> Awaitable[View]:
    database, project, who = opened.database, opened.project, opened.principal
    match kind:
        case "run":
            return views.show_run(database, project, ident, who)
        case "frame":
            return views.show_frame(database, project, ident, who)
        case "task":
            return views.show_task(database, project, ident, who)
        case "event":
            return views.show_event(database, project, ident, who)
        case _:
            bodies = opened.artifacts
            return views.show_knowledge(database, project, ident, bodies=bodies, forgotten=forgotten, principal=who)


def lines(view: View) -> Iterator[str]:
    """The view for people."""
    match view:
        case RunView():
            yield from _run(view)
        case FrameView():
            frame = view.frame
            yield f"Frame {frame.frame_id} ({frame.kind}) of run {frame.run_id}"
            yield f"  {one_line(frame.title)}" if frame.title else "  without a title"
            yield f"  {when(frame.opened_at)} to {when(frame.last_at)} UTC, {counted(frame.events, 'event')}"
            for inner in view.inner:
                yield f"  holds frame {inner.frame_id}: {counted(inner.events, 'event')}"
            for line in view.events[:MOST]:
                yield f"  {line.seq:>6} {line.type:<20} {line.event}  {line.says}"
            if len(view.events) > MOST:
                yield f"  ... and {len(view.events) - MOST} more events (--json lists all)"
        case TaskView():
            yield f"Task {view.task.task_id}: {view.task.state}"
            yield f"  {view.task.title}" if view.task.title else "  without a title"
            for one in view.runs:
                yield f"  run {one.run_id}: {one.state}, {counted(one.events, 'event')}, {when(one.opened_at)} UTC"
        case EventView():
            yield from _event(view)
        case KnowledgeView():
            yield from _knowledge(view)


def _run(view: RunView) -> Iterator[str]:
    told = view.run
    yield f"Run {told.run_id}: {told.state}"
    if told.title:
        yield f"  {one_line(told.title)}"
    yield f"  {told.format or told.integration}, {when(told.opened_at)} to {when(told.last_at)} UTC"
    yield f"  workspace {told.workspace or '-'}, task {told.task_id or '-'}, trajectory {told.trajectory_id or '-'}"
    yield (
        f"  {counted(told.events, 'event')}: {counted(told.turns, 'turn')}, {counted(told.tool_calls, 'tool call')}, "
        f"{counted(told.tool_results, 'result')}, {counted(told.errors, 'error')}, {told.unknown} unknown"
    )
    if view.frames:
        yield f"{counted(len(view.frames), 'frame')}:"
        for frame in view.frames[:MOST]:
            yield f"  {frame.frame_id}  {frame.kind}, {counted(frame.events, 'event')}  {one_line(frame.title or '', 80)}"
    if view.operations:
        yield f"{counted(len(view.operations), 'operation')} that failed or never ended:"
        for item in view.operations[:MOST]:
            code = "" if item.exit_code is None else f" (exit code {item.exit_code})"
            yield f"  {item.state}{code}  {one_line(item.command or item.tool or item.operation_id, 110)}"
    for made in view.extractions:
        told_of = made.reason or ", ".join(f"{made.outcome.get(name, 0)} {name}" for name in _COUNTERS)
        yield f"Extraction {made.n} by {made.extractor}: {made.state}; {told_of}"
    if view.moved:
        yield "Knowledge it moved:"
        yield from moved_lines(view.moved)


_COUNTERS = ("proposed", "confirmed", "used", "strengthened", "challenged", "duplicates_skipped", "invalid_skipped")


def _event(view: EventView) -> Iterator[str]:
    document = view.document
    yield f"Event {view.seq} of project {document['context']['project']}: {document['type']} {document['event_id']}"
    yield f"  occurred {document['occurred_at']} ({document['time_basis']}), received {view.received_at.isoformat()}"
    yield f"  content {view.content_hash}"
    yield f"  hash    {view.hash}"
    yield f"  follows {view.prev_hash}"
    yield orjson.dumps(document, option=orjson.OPT_INDENT_2).decode()
    if view.moved:
        yield "Knowledge it moved:"
        yield from moved_lines(view.moved)


def _knowledge(view: KnowledgeView) -> Iterator[str]:
    yield from knowledge_lines(view.knowledge)
    yield "Evidence:"
    yield from evidence_lines(view.evidence, MOST)
    yield "What became of it:"
    for step in view.transitions:
        by = f"by {step.actor}" if step.actor else ""
        why = f" ({step.reason})" if step.reason else ""
        yield f"  {when(step.at)} {step.transition:<11} {by}{why}, run {step.run or '-'}, event {step.event}"
    for relation in view.relations:
        yield f"  {short_relation(relation.source, view)} {relation.relation} {short_relation(relation.target, view)}"
    for approval in view.approvals:
        reviewer = f" by {approval.reviewer}" if approval.reviewer else ""
        why = f": {approval.rationale}" if approval.rationale else ""
        yield f"  approval {approval.approval_id}: {approval.state}{reviewer} ({approval.application}){why}"


def short_relation(ident: str, view: KnowledgeView) -> str:
    """An id in a relation; the node itself is `this`."""
    return "this" if ident == view.knowledge.id else ident
