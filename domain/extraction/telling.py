"""What a run's agents and users said, sentence by sentence, and what of it bears on one sentence: its setting, whether
a guess was then seen to hold, whether it was taken back.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from domain.extraction.context import ContextItem, ExtractionContext
from domain.extraction.cues import CONFIRMED, REVISED
from domain.extraction.fixes import SPEAKS
from domain.extraction.reading import RESULTS
from domain.extraction.resolve import Setting, failure, needs_setting, place
from domain.extraction.segment import Sentence, sentences
from domain.extraction.statements import Statement

MESSAGES_BEFORE, SENTENCES_BEFORE = 4, 3
"""How far back a sentence without a name may find what it is about."""
MESSAGES_AFTER = 4
"""How soon a guess must be said to have held."""


@dataclass(frozen=True, slots=True)
class Telling:
    """A run's context with the sentences of every message by its position."""

    context: ExtractionContext
    sentences: Mapping[int, tuple[Sentence, ...]]

    def after(self, item: ContextItem) -> list[ContextItem]:
        """What agents said after an item."""
        return [other for other in self.context.items if other.position > item.position and other.kind in SPEAKS]


def tell(context: ExtractionContext) -> Telling:
    """The sentences of a context's messages, each message cut once."""
    said = [item for item in context.items if item.kind in SPEAKS or item.kind == "user_message"]
    return Telling(context, {item.position: tuple(sentences(item.text)) for item in said})


def setting(telling: Telling, item: ContextItem, at: int) -> Setting:
    """What the sentences before sentence `at` of an item, then those of the messages before, say it is about. A file
    counts where the last result before the message, or what was asked for it, names it too.
    """
    spoken = telling.sentences[item.position]
    before = [one.text for one in spoken[:at]]
    last = before[-1] if before else ""
    if not needs_setting(spoken[at].text):
        return Setting(last)
    items = [other for other in telling.context.items if other.position < item.position]
    earlier = [other for other in items if other.kind in SPEAKS][-MESSAGES_BEFORE:]
    messages = [one.text for other in earlier for one in telling.sentences[other.position]]
    where = place(before[-SENTENCES_BEFORE:]) or place(messages)
    results = [other for other in items if other.type in RESULTS][-1:]
    asked = [other for other in items if results and other.operation_id == results[0].operation_id]
    is_shown = where and any(where.split("`")[1] in other.text for other in (*results, *asked))
    return Setting(last, where if is_shown else "", failure([*messages, *before]))


def held(telling: Telling, item: ContextItem) -> int:
    """The position of the last of the next messages that says what was guessed was then seen; 0 where none does."""
    return max(
        (
            other.position
            for other in telling.after(item)[:MESSAGES_AFTER]
            if any(CONFIRMED.search(one.text) for one in telling.sentences[other.position])
        ),
        default=0,
    )


def revised(telling: Telling, item: ContextItem, sentence: Sentence, statement: Statement) -> bool:
    """Whether a later message of the agent takes back something about the same names."""
    names = set(statement.names)
    for other in telling.after(item):
        if other.kind == "final_result":
            continue
        for later in telling.sentences[other.position]:
            if later.text == sentence.text or not REVISED.search(later.text):
                continue
            if 2 * sum(_mentions(later.text, name.text) for name in names) >= len(names):
                return True
    return False


def _mentions(text: str, name: str) -> bool:
    """Whether a sentence names it; a name that is also a plain word only in a code span."""
    return f"`{name}" in text or (not re.fullmatch(r"[A-Za-z]?[a-z]+", name) and name in text)
