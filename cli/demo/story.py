"""What happens in a demo and what the journal says of it afterwards; nothing here is known beforehand.

Each scene does its work and gives what was read back, so that the telling has no figure of its own.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from activities.postgres import rebuild as rebuilding
from activities.postgres import verify as verifying
from activities.postgres.reading import retrieval, review, views
from activities.postgres.rebuild import Rebuilt, TableDigest
from activities.postgres.verify import Verified
from cli.deciding import Outcome, Wish, send
from cli.demo.script import Planned, Script, choose
from cli.files import Found
from cli.import_file import Importer, Row
from cli.session import Session
from domain.projections.fold import TABLES
from domain.retrieval.query import LIVE, Answer, Query
from domain.retrieval.views import Counts, KnowledgeView, RunView, Transition, Waiting

PROJECT = "demo"
INDEPENDENT = "extraction-reverification.v1"
MOST_FOUND = 3


@dataclass(frozen=True, slots=True)
class Decided:
    """A decision of the script, the candidate it was about, and what its transaction decided."""

    planned: Planned
    candidate: Waiting
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Independent:
    """A claim that another session found again on evidence of its own, and the step that confirmed it."""

    view: KnowledgeView
    step: Transition


@dataclass(frozen=True, slots=True)
class Rebuild:
    """The digests of every table before, and the rebuild with those after."""

    before: tuple[TableDigest, ...]
    rebuilt: Rebuilt

    @property
    def identical(self) -> bool:
        """Whether nothing differed, by the rebuild's own word and by the digests."""
        return self.rebuilt.identical and self.before == self.rebuilt.digests


@dataclass(slots=True)
class Story:
    """Everything a demo tells, in its order."""

    script: Script
    rows: list[Row] = field(default_factory=list[Row])
    runs: list[RunView] = field(default_factory=list[RunView])
    waiting: list[Waiting] = field(default_factory=list[Waiting])
    independent: list[Independent] = field(default_factory=list[Independent])
    decided: list[Decided] = field(default_factory=list[Decided])
    found: Answer | None = None
    verified: Verified | None = None
    rebuild: Rebuild | None = None
    counts: Counts | None = None
    workflows: dict[str, dict[str, int]] = field(default_factory=dict[str, dict[str, int]])


class Play:
    """The scenes of one demo, on one session."""

    def __init__(self, session: Session, folder: Path, script: Script) -> None:
        self._session = session
        self._folder = folder
        self.story = Story(script)

    async def import_all(self) -> None:
        """One transcript after the other, as the sessions happened, each with its extraction."""
        importer = Importer(self._session, await self._session.temporal(), run=None, wait=True)
        for name in self.story.script.transcripts:
            row = await importer.import_file(Found(self._folder / name, name))
            self.story.rows.append(row)
            for run in row.answer.runs:
                self.story.runs.append(await views.show_run(self._session.database, PROJECT, run.run))

    async def look(self) -> None:
        """The queue with its evidence, and what was confirmed without anybody."""
        database, bodies = self._session.database, self._session.artifacts
        self.story.waiting = list(await review.waiting(database, PROJECT, bodies=bodies))
        for ident in _confirmed(self.story.runs):
            view = await views.show_knowledge(database, PROJECT, ident, bodies=bodies)
            step = next((step for step in view.transitions if step.reason == INDEPENDENT), None)
            if step is not None and step.transition == "confirmed":
                self.story.independent.append(Independent(view, step))

    async def decide(self) -> None:
        """Two decisions, as an operator takes them."""
        for planned, item in choose(self.story.script, self.story.waiting):
            wish = Wish(planned.decision, item.approval.approval_id, PROJECT, None, planned.rationale)
            outcome = await send(self._session, item.approval, wish, self.story.script.reviewer)
            self.story.decided.append(Decided(planned, item, outcome))

    async def search(self) -> None:
        """The script's question, else the first claim's own words."""
        asked = self.story.script.search or next((item.knowledge.proposition for item in self.story.waiting), "")
        query = Query(PROJECT, asked, states=LIVE, limit=MOST_FOUND)
        self.story.found = await retrieval.search(self._session.database, query)

    async def check(self) -> None:
        """The chain, then the projections before and after folding the journal again, then the sums."""
        database = self._session.database
        self.story.verified = await verifying.verify(database, PROJECT, full=True)
        async with database.scoped(PROJECT) as connection:
            before = tuple([await rebuilding.digest(connection, PROJECT, table) for table in TABLES])
        self.story.rebuild = Rebuild(before, await rebuilding.rebuild(database, PROJECT))
        self.story.counts = await views.counts(database, PROJECT)
        client = await self._session.temporal()
        seen: dict[str, Counter[str]] = {}
        async for item in client.list_workflows():
            status = item.status.name.lower() if item.status else "unknown"
            seen.setdefault(item.workflow_type, Counter())[status] += 1
        self.story.workflows = {kind: dict(counted) for kind, counted in sorted(seen.items())}


def _confirmed(runs: Sequence[RunView]) -> list[str]:
    """Claims that one of the runs confirmed, each once."""
    moved = (item for run in runs for item in run.moved)
    found = (item.knowledge.id for item in moved if item.transition == "confirmed" and item.knowledge.kind == "claim")
    return list(dict.fromkeys(found))
