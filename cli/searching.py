"""`search`: knowledge by words, each item with the words that chose it."""

from collections.abc import Iterator

from activities.postgres.reading import retrieval
from cli.describing import knowledge_lines
from cli.output import emit, say
from cli.session import run, session
from domain.retrieval.query import LIVE, Answer, Query


def search(text: str, project: str, limit: int, states: tuple[str, ...], as_json: bool) -> None:
    """Print the answer; nothing found is an answer too."""
    answer = run(_ask(text, project, limit, states))
    if as_json:
        emit(answer)
        return
    for line in lines(answer):
        say(line)


async def _ask(text: str, project: str, limit: int, states: tuple[str, ...]) -> Answer:
    async with session(project) as opened:
        query = Query(opened.project, text, states=states or LIVE, limit=limit, principal=opened.principal)
        return await retrieval.search(opened.database, query)


def lines(answer: Answer) -> Iterator[str]:
    """The answer for people."""
    for item in answer.items:
        first, *rest = knowledge_lines(item.knowledge)
        yield f"{item.rank}. {first}"
        yield from (f" {line}" for line in rest)
        chosen = ", ".join(f"{term.term} {term.score / 1000:.1f}" for term in item.terms)
        yield f"   chosen by: {chosen} (bits; rarer words weigh more)"
    yield f"{len(answer.items)} of {answer.matching} that match, among {answer.searched} in project {answer.authorization.project}."
    if answer.note:
        yield f"Nothing was searched: {answer.note}."
    if answer.common:
        yield f"In almost everything here: {', '.join(answer.common)}."
    if answer.unknown:
        yield f"Not found here: {', '.join(answer.unknown)}."
