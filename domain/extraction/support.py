"""Which events of a run ground a statement: results before it first, what was asked for them, then results after it.

Every anchor of the statement must occur in what is cited, and at least one name in something the agent did not say
itself.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from domain.extraction.anchors import Anchor, anchors
from domain.extraction.context import ContextItem, ExtractionContext
from domain.extraction.grounding import locate, ungrounded
from domain.extraction.reading import GROUNDS, SHORT_ARGUMENT
from domain.extraction.statements import Statement

MOST_CITED = 5


@dataclass(frozen=True, slots=True)
class Support:
    """The cited events in the order of the run.

    `whole` where one of them holds two names or more of the statement and no name is missing in it; `verified` where a
    check that had failed passed before the run ended.
    """

    events: tuple[str, ...]
    whole: bool
    verified: bool


@dataclass(frozen=True, slots=True)
class Seen:
    """What came after a sentence: the result that shows its fix to work, and the position of the message that says a
    guess held (0 where none does): what came back in between was seen.
    """

    worked: ContextItem | None = None
    held: int = 0


def support(context: ExtractionContext, speaker: ContextItem, statement: Statement, seen: Seen) -> Support | None:
    """The least evidence that grounds the statement, or None. A user's statement is evidence of itself; results come
    before what users said, for they are what was seen.
    """
    wanted = tuple(dict.fromkeys((*anchors(statement.proposition), *statement.names)))
    by_user = speaker.type == "user_statement"
    before = [item for item in context.items if _may_ground(item) and item.position < speaker.position]
    after = [
        item
        for item in context.items
        if _may_ground(item) and item.position > speaker.position and item.type != "user_statement"
    ]
    results = [item for item in before if item.type != "user_statement"]
    own = [speaker] if by_user else []
    cited: list[ContextItem] = []
    missing = set(wanted)
    for pool in (own, results, before, after):
        _cover(pool, missing, cited)
        if pool is before:
            _ask(context, speaker, missing, cited)
    cited.extend([seen.worked] if seen.worked else [])
    chosen = sorted({item.position: item for item in cited}.values(), key=lambda item: item.position)
    strong = [item for item in chosen if item.type in GROUNDS]
    if missing or len(chosen) > MOST_CITED or not _names_in(strong, statement.names):
        return None
    known = [
        item for item in strong if item.type != "user_statement" and item.position < max(seen.held, speaker.position)
    ]
    if not by_user and not known:
        return None
    if ungrounded(statement.proposition, tuple(text for item in chosen for text in _texts(item))):
        return None
    names = statement.names
    whole = len(names) > 1 and any(all(_holds(item, name) for name in names) for item in strong)
    return Support(tuple(item.event_id for item in chosen), whole, _verified(context))


def _may_ground(item: ContextItem) -> bool:
    return item.type in GROUNDS and not item.hint


def _cover(pool: Iterable[ContextItem], missing: set[Anchor], cited: list[ContextItem]) -> None:
    """Adds the items of `pool` that hold most of what is missing, the latest of equals, until they hold no more of
    it.
    """
    holds = {item.position: (item, {anchor for anchor in missing if _holds(item, anchor)}) for item in pool}
    while missing:
        best = max(holds.values(), key=lambda found: (len(found[1] & missing), found[0].position), default=None)
        if best is None or not best[1] & missing:
            return
        cited.append(best[0])
        missing -= best[1]


def _ask(context: ExtractionContext, speaker: ContextItem, missing: set[Anchor], cited: list[ContextItem]) -> None:
    """What was asked for a result: a path or a command may stand in the call alone. Calls of cited results come
    first.
    """
    if not missing:
        return
    results = {
        item.operation_id or "": item
        for item in context.items
        if item.operation_id and _may_ground(item) and item.position < speaker.position
    }
    answered = {item.operation_id for item in cited}
    calls = [item for item in context.items if item.kind == "tool_call" and item.operation_id in results]
    calls.sort(key=lambda item: item.operation_id in answered)
    for call in reversed(calls):
        found = {anchor for anchor in missing if _holds(call, anchor)}
        if found:
            missing -= found
            cited.extend((call, results[call.operation_id or ""]))


def _holds(item: ContextItem, anchor: Anchor) -> bool:
    return any(locate(anchor, text) is not None for text in _texts(item))


def _texts(item: ContextItem) -> tuple[str, ...]:
    if item.kind != "tool_call":
        return tuple(piece.text for piece in item.pieces)
    return tuple(
        piece.text
        for piece in item.pieces
        if piece.field == "command" or (len(piece.text) <= SHORT_ARGUMENT and "\n" not in piece.text)
    )


def _names_in(items: Iterable[ContextItem], names: tuple[Anchor, ...]) -> bool:
    return any(_holds(item, name) for item in items for name in names)


def _verified(context: ExtractionContext) -> bool:
    failed = False
    for item in context.items:
        if item.type == "check_result":
            if item.success is False:
                failed = True
            elif item.success and failed:
                return True
    return False
