"""`review`: the candidates that wait for a decision, each with what it stands on."""

from collections.abc import Iterator, Sequence

from activities.postgres.reading.review import waiting
from cli.describing import evidence_lines, left_until, short
from cli.output import emit, say, when
from cli.session import run, session
from domain.retrieval.views import Waiting


def review(project: str, as_json: bool) -> None:
    """Print the queue, oldest first; under --json one object for each candidate."""
    items = run(_read(project))
    if as_json:
        for item in items:
            emit(item)
        return
    for line in lines(items):
        say(line)


async def _read(project: str) -> Sequence[Waiting]:
    async with session(project) as opened:
        return await waiting(opened.database, opened.project, bodies=opened.artifacts, principal=opened.principal)


def lines(items: Sequence[Waiting]) -> Iterator[str]:
    """The queue for people."""
    for item in items:
        known, asked = item.knowledge, item.approval
        yield known.proposition
        yield f"  {short(known.id)}  {known.state} {known.kind} from run {known.provenance.origin_run or '-'}"
        late = (
            "deadline passed" if item.overdue else f"decide {left_until(asked.deadline)}, by {when(asked.deadline)} UTC"
        )
        yield f"  {late}  (approval {asked.approval_id})"
        yield from evidence_lines(item.evidence)
        yield ""
    if items:
        yield f"{len(items)} waiting. Say: temporality approve|reject|edit ID --as human:YOUR-ORG:YOU"
    else:
        yield "Nothing waits for a decision."
