"""The review queue: candidates that wait for a decision with their evidence, and the approval meant by an id."""

from __future__ import annotations

from activities.postgres import row_codec
from activities.postgres.pool import Database
from activities.postgres.reading.evidence import Bodies, evidence_of
from activities.postgres.reading.ids import candidates, resolve
from activities.postgres.reading.retrieval import reading
from domain.approvals.state import APPROVALS, Approval
from domain.contracts.errors import MalformedId, NotFound
from domain.retrieval.query import LOCAL
from domain.retrieval.views import Waiting

MOST = 200


async def waiting(
    database: Database, project: str, *, limit: int = MOST, bodies: Bodies | None = None, principal: str = LOCAL
) -> tuple[Waiting, ...]:
    """Candidates with a pending approval, oldest first; what was forgotten meanwhile is left out."""
    async with reading(database, project, principal) as opened:
        asked: list[tuple[Approval, bool]] = [
            (row_codec.decode(APPROVALS, record[:-1]), bool(record[-1]))
            for record in await opened.fetch("approvals_waiting", limit=limit)
        ]
        ids = [approval.target for approval, _ in asked]
        shown = await opened.knowledge(ids)
        evidence = await evidence_of(opened, list(shown), bodies)
        return tuple(
            Waiting(approval, shown[approval.target], evidence.get(approval.target, ()), overdue)
            for approval, overdue in asked
            if approval.target in shown
        )


async def approval_meant(database: Database, project: str, prefix: str, principal: str = LOCAL) -> Approval:
    """The approval whose id begins with `prefix`, or the pending (else the last) one of the candidate whose id does.

    Raises `NotFound`, and `MalformedId` when the prefix fits several.
    """
    async with reading(database, project, principal) as opened:
        found = await candidates(opened, "approval", prefix)
        nodes = await candidates(opened, "knowledge", prefix)
        start, place = f"`{prefix[:80]}`", f"project {opened.project}"
        if not found and not nodes:
            raise NotFound(f"no candidate and no approval of {place} has an id that begins with {start}")
        if found and nodes and prefix not in found + nodes:
            both = f"an approval ({found[0]}) and of a candidate ({nodes[0]})"
            raise MalformedId(f"{start} begins the id of {both}; give more of it")
        if nodes and prefix not in found:
            node = await resolve(opened, "knowledge", prefix)
            asked = await opened.fetch("approvals_of_target_ids", id=node)
            if not asked:
                raise NotFound(
                    f"nobody asked for a decision about {node}; `temporality show knowledge {node}` tells more"
                )
            approval = str(asked[0][0])
        else:
            approval = await resolve(opened, "approval", prefix)
        return (await opened.rows("approval_by_id", APPROVALS, Approval, id=approval))[0]
