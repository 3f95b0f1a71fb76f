"""`approve`, `reject`, `edit`: a person's decision, sent to the approval's workflow and answered by what its transaction decided.

Nothing is called done that was not: a decision without effect says why and ends with code 3.
"""

import sys
from dataclasses import dataclass, replace
from typing import Any

import typer
from uuid_utils import uuid7

from activities.postgres.reading.review import approval_meant
from activities.postgres.reading.views import show_knowledge
from cli.describing import short
from cli.outcome import NOT_FOUND, REFUSED, Ended, Usage
from cli.output import clean, emit, say, when
from cli.session import Session, run, session
from domain.access.scope import decider_refusal
from domain.approvals.state import Approval
from domain.contracts.approval import Decision, DecisionAnswer, Verdict
from domain.contracts.errors import MalformedMessage, NotFound, NotPermitted
from domain.retrieval.views import KnowledgeView

MAX_TEXT = 2000


@dataclass(frozen=True, slots=True)
class Wish:
    """A decision as it was typed."""

    verdict: Verdict
    ident: str
    project: str
    actor: str | None
    rationale: str | None
    # the new proposition of an edit; `ask` has it asked for
    text: str | None = None
    ask: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the transaction decided, and the node as it is now."""

    answer: DecisionAnswer
    approval: Approval
    view: KnowledgeView | None


def edit_(wish: Wish, text: str | None, as_json: bool) -> None:
    """Decide with other words, asked for as plain text where --text does not give them."""
    decide(replace(wish, text=text, ask=text is None), as_json)


def decide(wish: Wish, as_json: bool) -> None:
    """Send the decision and print what it did."""
    outcome = run(_decide(wish))
    answer = outcome.answer
    if as_json:
        emit(_object(outcome))
    else:
        _print(outcome)
    if not answer.effective:
        raise Ended(NOT_FOUND if answer.reason_code == "not_permitted" else REFUSED)
    if answer.application in ("apply_failed", "conflict"):
        raise Ended(REFUSED)


async def _decide(wish: Wish) -> Outcome:
    async with session(wish.project) as opened:
        actor = _actor(wish.actor or opened.settings.actor)
        approval = await approval_meant(opened.database, opened.project, wish.ident, opened.principal)
        if wish.ask:
            wish = replace(wish, text=await _ask_for_text(opened, approval))
        return await send(opened, approval, wish, actor)


async def send(opened: Session, approval: Approval, wish: Wish, actor: str) -> Outcome:
    """The decision about `approval`, sent as the update `decide`, and the node after it."""
    from client.decide import decide as send_decision

    if wish.text is not None and not 0 < len(wish.text.strip()) <= MAX_TEXT:
        raise MalformedMessage(
            f"a proposition has 1 to {MAX_TEXT} characters, and this one has {len(wish.text.strip())}"
        )
    decision = Decision(
        decision=wish.verdict,
        actor=actor,
        decision_id=str(uuid7()),
        rationale=wish.rationale,
        replacement=None if wish.text is None else wish.text.strip(),
    )
    answer = await send_decision(await opened.temporal(), opened.project, approval.approval_id, decision)
    shown = answer.knowledge[-1] if answer.knowledge else approval.target
    try:
        view = await show_knowledge(opened.database, opened.project, shown, principal=opened.principal)
    except NotFound:
        view = None
    return Outcome(answer, approval, view)


def _actor(actor: str | None) -> str:
    refusal = decider_refusal(actor)
    if refusal is None and actor is not None:
        return actor
    if actor is None:
        raise Usage(refusal or "")
    raise NotPermitted(refusal or "")


async def _ask_for_text(opened: Session, approval: Approval) -> str:
    """The new proposition, typed on the terminal or piped in."""
    if not sys.stdin.isatty():
        return sys.stdin.read()
    view = await show_knowledge(opened.database, opened.project, approval.target, principal=opened.principal)
    sys.stderr.write(f"It says: {clean(view.knowledge.proposition)}\n")
    return str(typer.prompt("It should say", err=True, type=str))


def _object(outcome: Outcome) -> dict[str, Any]:
    known = outcome.view.knowledge if outcome.view else None
    told: dict[str, Any] = outcome.answer.model_dump(mode="json")
    return {**told, "target": outcome.approval.target, "node": known}


def _print(outcome: Outcome) -> None:
    answer, known = outcome.answer, outcome.view.knowledge if outcome.view else None
    if answer.effective:
        say(f"{answer.state.capitalize()} by {answer.reviewer} at {when(answer.decided_at)} UTC; {_applied(answer)}.")
    else:
        say(f"No effect: {answer.reason or answer.reason_code}. The approval is {answer.state}.")
    if known is not None:
        say(f"  {known.proposition}")
        say(f"  is {known.state} ({short(known.id)})")


def _applied(answer: DecisionAnswer) -> str:
    match answer.application:
        case "applied":
            return "applied in the same transaction"
        case "none":
            return "nothing was to be applied"
        case _:
            return f"NOT applied ({answer.application}): {answer.reason or answer.reason_code}"
