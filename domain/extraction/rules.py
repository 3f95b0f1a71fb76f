"""The deterministic `rules` provider: claims that agents and users state and that results of the run ground.

Sentence by sentence: does it stand alone and say something that lasts (`statements`), do its names occur in results
before it (`support`), was it taken back later, and is it a conclusion rather than a guess on the way. Precision comes
before recall: a run that taught nothing gives nothing. `explain` gives every decision with the rule or filter that made
it; `propose` gives what was kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from domain.extraction.candidate import Candidate, Citation
from domain.extraction.context import ContextItem, ExtractionContext
from domain.extraction.fixes import SPEAKS, fix, shown_to_work
from domain.extraction.resolve import Setting, joined
from domain.extraction.segment import Sentence
from domain.extraction.statements import Refused, Statement, alike, content, states
from domain.extraction.support import Seen, Support, support
from domain.extraction.telling import Telling, held, revised, setting, tell

PROVIDER = "rules/v1"
MOST = 5
"""Candidates of one run; the strongest stay."""
THRESHOLD = 3
"""What a statement must reach: strength of its rule, where it stands, how it is introduced, what it names."""
ALIKE = 0.6
"""Two statements of a run about the same names with this much in common are one."""
USER_CHARACTERS = 2_000
"""A longer user message is a prompt, a file or a log rather than somebody's statement."""

_BELIEVED = frozenset({"decision", "constraint", "incompatibility"})
"""What a user's own word is enough for; what users say about causes is a report of a symptom more often than a
finding.
"""


@dataclass(frozen=True, slots=True)
class KnownClaim:
    """A claim the project already has: its id, its text, its state."""

    knowledge: str
    proposition: str
    state: str = "proposed"


@dataclass(frozen=True, slots=True)
class Decision:
    """What became of a sentence: `kept`, or dropped for `reason`. `rule` is the rule that found it, where one did."""

    position: int
    event_id: str
    sentence: str
    kept: bool
    reason: str
    rule: str = ""
    score: int = 0
    proposition: str = ""
    support: Support | None = None


@dataclass(frozen=True, slots=True)
class _Found:
    item: ContextItem
    place: int
    sentence: Sentence
    statement: Statement
    support: Support
    score: int

    @property
    def order(self) -> tuple[int, int, int]:
        return (-self.score, self.item.position, self.place)


def propose(context: ExtractionContext, existing: Sequence[KnownClaim] = ()) -> list[Candidate]:
    """At most `MOST` candidates, the strongest first, then in the order of the run."""
    return [_candidate(decision) for decision in explain(context, existing) if decision.kept]


def explain(context: ExtractionContext, existing: Sequence[KnownClaim] = ()) -> tuple[Decision, ...]:
    """Every sentence that was looked at with what became of it: the kept ones first, in the order they are proposed."""
    found: list[_Found] = []
    dropped: list[Decision] = []
    telling = tell(context)
    for item in _speaking(context):
        for weighed in _looked_at(telling, item):
            if isinstance(weighed, _Found):
                found.append(weighed)
            else:
                dropped.append(weighed)
    kept: list[_Found] = []
    for candidate in sorted(found, key=lambda one: one.order):
        reason = _against(telling, candidate, kept)
        if reason:
            dropped.append(_dropped(candidate, reason))
        else:
            kept.append(candidate)
    return (*(_kept(candidate, existing) for candidate in kept), *sorted(dropped, key=lambda one: one.position))


def _speaking(context: ExtractionContext) -> list[ContextItem]:
    """Items somebody says something in; the run's final result where it is not its last message again."""
    said = [
        item
        for item in context.items
        if item.kind in ("agent_message", "agent_thought", "user_message") and not item.hint
    ]
    texts = {item.text.strip() for item in said}
    final = [item for item in context.items if item.kind == "final_result" and item.text.strip() not in texts]
    return [item for item in (*said, *final) if item.kind != "user_message" or item.characters <= USER_CHARACTERS]


def _looked_at(telling: Telling, item: ContextItem) -> list[_Found | Decision]:
    """Each sentence of an item weighed; one that the next one explains together with it, where that holds."""
    spoken = telling.sentences[item.position]
    looked: list[_Found | Decision] = []
    at = 0
    while at < len(spoken):
        near = setting(telling, item, at)
        both = joined(spoken[at], spoken[at + 1]) if at + 1 < len(spoken) else None
        weighed = _weigh(telling, item, at, (both, near)) if both else None
        if isinstance(weighed, _Found):
            looked.append(weighed)
            at += 2
            continue
        looked.append(_weigh(telling, item, at, (spoken[at], near)))
        at += 1
    return looked


def _weigh(telling: Telling, item: ContextItem, at: int, spoken: tuple[Sentence, Setting]) -> _Found | Decision:
    context, (sentence, near) = telling.context, spoken
    told = fix(sentence.text, near.place) if item.kind in SPEAKS else None
    worked = shown_to_work(context, item, told) if told else None
    said = replace(sentence, text=told.text) if told and worked else sentence
    stated = states(said, near)
    if isinstance(stated, Refused):
        return Decision(item.position, item.event_id, sentence.text, False, stated.reason)
    if item.kind == "user_message" and not stated[0].rules & _BELIEVED:
        return Decision(item.position, item.event_id, sentence.text, False, "user_request", stated[0].rule)
    seen = Seen(worked, held(telling, item))
    for statement in stated:
        if worked:
            statement = replace(statement, rule="verified_fix", strength=max(statement.strength, 2), concluding=True)
        supported = support(context, item, statement, seen)
        if supported is not None:
            found = _Found(item, at, sentence, statement, supported, _score(context, item, statement, supported))
            return found if found.score >= THRESHOLD else _dropped(found, "weak")
    return Decision(item.position, item.event_id, sentence.text, False, "ungrounded", stated[0].rule)


def _score(context: ExtractionContext, item: ContextItem, statement: Statement, supported: Support) -> int:
    names = len(statement.names)
    score = (
        statement.strength + 2 * statement.concluding + (names > 1) + (names > 2) + supported.whole + supported.verified
    )
    after = [other for other in context.items if other.position > item.position and other.kind != "final_result"]
    if item.kind in ("agent_message", "final_result", "user_message"):
        upcoming = next((other.kind for other in after if other.kind != "agent_thought"), None)
        # a message that ends its turn is meant for the reader; one before the next call is on the way
        score += 2 if upcoming in (None, "user_message") or item.kind == "user_message" else 0
    return score


def _against(telling: Telling, candidate: _Found, kept: Sequence[_Found]) -> str:
    """Why a candidate falls: taken back later, a hint repeated, said already by a stronger one, or one too many."""
    statement = candidate.statement
    if any(
        content(hint.text) and _within(content(statement.proposition), content(hint.text))
        for hint in telling.context.hints
    ):
        return "from_hint"
    if revised(telling, candidate.item, candidate.sentence, statement):
        return "revised"
    for stronger in kept:
        names, others = set(statement.names), set(stronger.statement.names)
        if (names <= others or others <= names) and alike(
            statement.proposition, stronger.statement.proposition
        ) >= ALIKE:
            return "said_already"
    return "over_most" if len(kept) >= MOST else ""


def _within(said: tuple[str, ...], hint: tuple[str, ...]) -> bool:
    """Whether the words of a statement stand in a hint one after another."""
    return bool(said) and any(hint[at : at + len(said)] == said for at in range(len(hint) - len(said) + 1))


def _kept(found: _Found, existing: Sequence[KnownClaim]) -> Decision:
    """A known claim with the same content lends its wording, so that it is found again instead of told a second
    time.
    """
    said = content(found.statement.proposition)
    known = next(
        (claim.proposition for claim in existing if content(claim.proposition) == said), found.statement.proposition
    )
    return replace(_dropped(found, "kept"), kept=True, proposition=known)


def _dropped(found: _Found, reason: str) -> Decision:
    return Decision(
        found.item.position,
        found.item.event_id,
        found.sentence.text,
        False,
        reason,
        found.statement.rule,
        found.score,
        found.statement.proposition,
        found.support,
    )


def _candidate(decision: Decision) -> Candidate:
    cited = decision.support.events if decision.support else ()
    return Candidate(
        kind="claim",
        proposition=decision.proposition,
        evidence=[Citation(event_id=event) for event in cited],
        provenance=decision.event_id,
        rule=decision.rule,
    )
