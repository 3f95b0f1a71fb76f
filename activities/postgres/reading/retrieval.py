"""The one boundary to knowledge: every read of it goes through `reading`, which opens one authorised project.

Scope comes first, then state, then the words: what is hidden is gone before anything is ranked (law 16; spec/1,
Retrieval).
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from activities.postgres import row_codec
from activities.postgres.pool import Connection, Database
from activities.postgres.reading.statements import SQL
from domain.journal.rows import Table
from domain.knowledge.state import NODES
from domain.retrieval.query import LOCAL, Answer, Authorization, Item, Known, Query, authorize, distinct, known, plain
from domain.retrieval.rank import Posting, rank, weigh
from domain.retrieval.terms import terms

R = TypeVar("R")


class Reading:
    """One snapshot of one project, for whom `authorization` let in."""

    def __init__(self, connection: Connection, authorization: Authorization) -> None:
        self._connection = connection
        self.authorization = authorization
        self.project = authorization.project

    async def fetch(self, name: str, **parameters: Any) -> list[tuple[Any, ...]]:
        """The records of a named statement; the project is always a parameter of it."""
        cursor = await self._connection.execute(SQL[name], {"project": self.project, **parameters})
        return await cursor.fetchall()

    async def rows(self, name: str, table: Table, row: type[R], **parameters: Any) -> list[R]:
        """The records of a named statement that begins with all columns of `table`, as its rows."""
        width = len(table.columns)
        decoded = [row_codec.decode(table, record[:width]) for record in await self.fetch(name, **parameters)]
        return [found for found in decoded if isinstance(found, row)]

    async def knowledge(self, ids: Sequence[str], *, forgotten: bool = False) -> dict[str, Known]:
        """Nodes by id in the order asked for, ended ones too; forgotten ones only where they are asked for by name."""
        found: dict[str, Known] = {}
        for record in await self.fetch("nodes_by_id", ids=list(dict.fromkeys(ids))):
            node = row_codec.decode(NODES, record[:-1])
            if forgotten or not node.forgotten:
                found[node.knowledge_id] = known(node, int(record[-1]), self.authorization)
        return found


@asynccontextmanager
async def reading(database: Database, project: str, principal: str = LOCAL) -> AsyncGenerator[Reading]:
    """One snapshot of `project`. Raises `NotPermitted`, `MalformedId`, `JournalUnavailable`."""
    authorization = authorize(principal, project)
    async with database.scoped(authorization.project, repeatable=True) as connection:
        yield Reading(connection, authorization)


async def search(database: Database, query: Query) -> Answer:
    """The best min(limit, matching) nodes for the query's text, each with the words that chose it. No model is asked."""
    return await find(database, query, distinct(terms(plain(query.text))))


async def find(database: Database, query: Query, words: Sequence[str]) -> Answer:
    """The same for `words`, each once, as `terms` cuts them; the query's text is only repeated."""
    async with reading(database, query.project, query.principal) as opened:
        admitted = {"states": list(query.states), "kinds": list(query.kinds)}
        nodes = int((await opened.fetch("count_admissible", **admitted))[0][0])
        counted = await opened.fetch("term_frequencies", terms=list(words), **admitted) if words else []
        weights = weigh(words, nodes, {term: int(count) for term, count in counted})
        used = list(weights.of)
        postings = await opened.fetch("term_postings", terms=used, **admitted) if used else []
        ranked = rank((Posting(*posting) for posting in postings), weights.of)
        best = ranked[: query.limit]
        shown = await opened.knowledge([item.knowledge_id for item in best])
    return Answer(
        authorization=opened.authorization,
        text=query.text,
        states=query.states,
        searched=nodes,
        matching=len(ranked),
        items=tuple(
            Item(place, item.score, item.terms, shown[item.knowledge_id]) for place, item in enumerate(best, 1)
        ),
        common=weights.common,
        unknown=weights.unknown,
        note=None if words else "the text holds no word to search for",
    )
