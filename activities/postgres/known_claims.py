"""What the project already knows about a run's words: the few live claims that share its rarest terms (spec/2 section 20)."""

from __future__ import annotations

from collections import Counter

from activities.postgres.pool import Database
from activities.postgres.reading.retrieval import find
from domain.extraction.context import ExtractionContext
from domain.extraction.rules import KnownClaim
from domain.extraction.versions import ACTOR
from domain.retrieval.query import Query
from domain.retrieval.terms import terms

MOST_TERMS = 400
MOST_CLAIMS = 30


async def known_claims(database: Database, project: str, context: ExtractionContext) -> list[KnownClaim]:
    """At most 30 live claims, those with the rarest terms in common first; forgotten and ended ones never."""
    words: Counter[str] = Counter()
    for item in context.items:
        if item.role in ("agent", "user"):
            for piece in item.pieces:
                words.update(terms(piece.text))
    wanted = [word for word, _ in sorted(words.items(), key=lambda pair: (pair[1], pair[0]))[:MOST_TERMS]]
    query = Query(project, "", kinds=("claim",), limit=MOST_CLAIMS, principal=ACTOR)
    found = await find(database, query, wanted)
    return [KnownClaim(item.knowledge.id, item.knowledge.proposition, item.knowledge.state) for item in found.items]
