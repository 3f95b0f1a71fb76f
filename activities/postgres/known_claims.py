"""What the project already knows about a run's words: the few live claims that share most terms with it (spec/2 section 20)."""

from __future__ import annotations

from collections import Counter

from activities.postgres.pool import Database
from domain.extraction.context import ExtractionContext
from domain.extraction.rules import KnownClaim
from domain.retrieval.terms import terms

MOST_TERMS = 400
MOST_CLAIMS = 30


async def known_claims(database: Database, project: str, context: ExtractionContext) -> list[KnownClaim]:
    """At most 30 live claims, those with the most terms in common first; forgotten and ended ones never."""
    words: Counter[str] = Counter()
    for item in context.items:
        if item.role in ("agent", "user"):
            for piece in item.pieces:
                words.update(terms(piece.text))
    wanted = [word for word, _ in sorted(words.items(), key=lambda pair: (pair[1], pair[0]))[:MOST_TERMS]]
    async with database.scoped(project) as connection:
        cursor = await connection.execute(_SHARED, {"project": project, "terms": wanted, "limit": MOST_CLAIMS})
        return [KnownClaim(*record) for record in await cursor.fetchall()]


_SHARED = """
SELECT n.knowledge_id, n.proposition, n.state
FROM projection.terms t
JOIN projection.knowledge_nodes n ON n.project_id = t.project_id AND n.knowledge_id = t.knowledge_id
WHERE t.project_id = %(project)s AND t.term = ANY (%(terms)s) AND n.kind = 'claim' AND n.state IN ('proposed', 'confirmed', 'challenged')
  AND NOT n.forgotten
GROUP BY n.knowledge_id, n.proposition, n.state
ORDER BY count(*) DESC, n.knowledge_id
LIMIT %(limit)s
"""
