"""Notes of a reader about its source: a sentence each, with the ids it is about, and a raw form that stays the same
in a longer copy.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from activities.importers.calls import Calls
from activities.importers.lineage import Lineage
from activities.importers.parse import TooDeep, raw_of
from domain.runs.transcript import Fact

MAX_SHOWN = 200


def shown(native: str) -> str:
    """A foreign id as it can stand in a sentence: on one line and not too long."""
    flat = "".join(c if c.isprintable() else "?" for c in native)
    return flat if len(flat) <= MAX_SHOWN else f"{flat[:MAX_SHOWN]}…"


def closing_note(
    kind: str, text: str, about: dict[str, Any], fact_type: str = "source.note", *, odd: bool = True
) -> Fact:
    """What only the end of this copy shows. `about` holds the ids that make it the same note in another copy."""
    try:
        raw = raw_of([kind, about])
    except TooDeep:
        raw = raw_of([kind])
    return Fact(
        type=fact_type,
        data={"kind": kind, "text": text, **about},
        raw=raw,
        part=kind,
        closing=True,
        anomaly=kind if odd else None,
    )


def unanswered(calls: Calls) -> list[Fact]:
    """One note for each call that has no result in this copy of the transcript."""
    return [
        closing_note(
            "call_without_result",
            f"The call `{shown(call.operation)}` of {shown(call.tool)} has no result in this copy of the transcript.",
            {"operation": call.operation[:2000], "tool": call.tool[:2000]},
        )
        for call in calls.waiting()
    ]


def tree_notes(lineage: Lineage) -> Iterator[Fact]:
    """What the end of a copy shows of its tree: parents it does not hold, circles, branches that were left."""
    for native, parent in lineage.settle():
        yield closing_note(
            "dangling_parent",
            f"The record `{shown(native)}` names the parent `{shown(parent)}`, which this copy does not hold.",
            {"record": native, "parent": parent},
        )
    for circle in lineage.cycles():
        names = ", ".join(f"`{shown(native)}`" for native in circle)
        yield closing_note(
            "cyclic_parents", f"The records {names} name each other as parents in a circle.", {"records": circle}
        )
    for branch in lineage.abandoned():
        yield closing_note(
            "branch_abandoned",
            f"The branch from `{shown(branch.root)}` to `{shown(branch.leaf)}` was left for another one; "
            f"it holds {branch.records} records.",
            {"root": branch.root, "leaf": branch.leaf, "records": branch.records},
            "source.branch_abandoned",
        )


def reused_call(native: str | None) -> tuple[str, str]:
    """The kind and the sentence of a call whose id was used before."""
    return "duplicate_call_id", f"The call id `{shown(native or '')}` was used before; this is counted as another call."


def lonely_result(calls: Calls, native: str | None, name: str | None = None) -> tuple[str, str]:
    """The kind and the sentence of a result that no open call waits for."""
    about = shown(native or name or "no id")
    if native is not None and calls.known(native):
        return "second_result", f"The result for `{about}` answers a call that has a result already."
    return "result_without_call", f"The result for `{about}` answers no call of this transcript."


def note(fact: Fact, said: tuple[str, str], part: str) -> Fact:
    """A note about the record of `fact`, kept beside it."""
    kind, text = said
    return replace(fact, type="source.note", data={"kind": kind, "text": text}, part=part, opens=None, anomaly=kind)
