"""Ids by unique prefix: people type the first characters of an id; one that fits several is answered with their list.

An id that is given whole wins over longer ones that begin with it.
"""

from __future__ import annotations

from typing import Final, Literal

from activities.postgres.reading.retrieval import Reading
from domain.contracts.errors import MalformedId, NotFound
from domain.contracts.ids import MAX_ID
from domain.retrieval.query import plain

Kind = Literal["run", "frame", "task", "event", "knowledge", "approval"]
_STATEMENTS: Final[dict[Kind, str]] = {
    "run": "ids_of_runs",
    "frame": "ids_of_frames",
    "task": "ids_of_tasks",
    "event": "ids_of_events",
    "knowledge": "ids_of_knowledge",
    "approval": "ids_of_approvals",
}
# what ids of a kind begin with, so that a person may leave it out
_BEGINNINGS: Final[dict[Kind, tuple[str, ...]]] = {"knowledge": ("claim/v1/", "auto/"), "approval": ("node_",)}
LISTED = 6
_LAST_CHARACTER = chr(0x10FFFF)
_MAX_PREFIX = 4 * MAX_ID


async def resolve(opened: Reading, kind: Kind, prefix: str, *, hidden: bool = False) -> str:
    """The one id of `kind` that is `prefix` or begins with it; `hidden` finds forgotten knowledge too.

    Raises `NotFound`, or `MalformedId` with the first ids when several begin so.
    """
    found = await candidates(opened, kind, prefix, hidden=hidden)
    if not found:
        raise NotFound(f"no {kind} of project {opened.project} has an id that begins with `{prefix[:80]}`")
    exact = [one for one in found if one in _spellings(kind, prefix)]
    if len(found) > 1 and len(exact) != 1:
        listed = ", ".join(found[:LISTED]) + (", ..." if len(found) > LISTED else "")
        raise MalformedId(f"`{prefix[:80]}` begins the id of more than one {kind} ({listed}); give more of it")
    return exact[0] if exact else found[0]


async def candidates(opened: Reading, kind: Kind, prefix: str, *, hidden: bool = False) -> list[str]:
    """Up to `LISTED` + 1 ids of `kind` that begin with `prefix`. Raises `MalformedId` for what can begin no id."""
    if not prefix or len(prefix) > _MAX_PREFIX or plain(prefix) != prefix:
        raise MalformedId(f"`{prefix[:40]}` can begin no id; give the first characters of one")
    more = {"hidden": hidden} if kind == "knowledge" else {}
    found: set[str] = set()
    for spelling in _spellings(kind, prefix):
        records = await opened.fetch(
            _STATEMENTS[kind], prefix=spelling, beyond=spelling + _LAST_CHARACTER, limit=LISTED + 1, **more
        )
        found.update(record[0] for record in records)
    return sorted(found)


def _spellings(kind: Kind, prefix: str) -> tuple[str, ...]:
    beginnings = _BEGINNINGS.get(kind, ())
    short = prefix.upper() if kind == "approval" else prefix
    return (prefix, *(begin + short for begin in beginnings if not prefix.startswith(begin)))
