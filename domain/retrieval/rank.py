"""Rank what the words of a question found, by how rare each word is in the project.

Integers only: the same postings give the same order on every machine. A word that occurs in almost everything tells
nothing apart and is left out, as long as another word is left (spec/1, Retrieval).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from domain.retrieval.query import Matched

SMALL = 8
"""In fewer nodes than this, no word counts as common: with three nodes, two of them share most words."""
_STATES: Final[Mapping[str, int]] = {"confirmed": 0, "proposed": 1, "challenged": 2}


@dataclass(frozen=True, slots=True)
class Posting:
    """A word that stands in a node, `occurrences` times; `state` and `confirmations` are the node's and break ties."""

    term: str
    knowledge_id: str
    occurrences: int
    state: str
    confirmations: int


@dataclass(frozen=True, slots=True)
class Ranked:
    """A node with its score and the words that made it, heaviest first."""

    knowledge_id: str
    score: int
    terms: tuple[Matched, ...]


@dataclass(frozen=True, slots=True)
class Weights:
    """What each usable word weighs, which words are too common to be used, and which occur nowhere."""

    of: Mapping[str, int]
    common: tuple[str, ...]
    unknown: tuple[str, ...]


def weight(nodes: int, holding: int) -> int:
    """floor(1000 * log2((nodes + 1) / holding)), at least 1: thousandths of a bit that meeting the word tells.

    `holding` of `nodes` nodes hold the word, 1 <= holding <= nodes.
    """
    return max(1, (((nodes + 1) ** 1000) // (holding**1000)).bit_length() - 1)


def weigh(words: Sequence[str], nodes: int, frequencies: Mapping[str, int]) -> Weights:
    """Weights of `words` among `nodes` admissible nodes, where `frequencies` says how many of them hold each word.

    Common is what nine tenths hold, from `SMALL` nodes on. Where every word is common, all are used: finding something
    is better than finding nothing.
    """
    found = [word for word in words if frequencies.get(word)]
    common = tuple(word for word in found if nodes >= SMALL and frequencies[word] * 10 >= nodes * 9)
    usable = [word for word in found if word not in common] or found
    of = {word: weight(nodes, frequencies[word]) for word in usable}
    return Weights(of, common, tuple(word for word in words if word not in found))


def rank(postings: Iterable[Posting], weights: Mapping[str, int]) -> tuple[Ranked, ...]:
    """Every node of the postings, best first. A word said twice in a proposition counts 4/3, more often up to twice.

    Ties go to confirmed before proposed before challenged, to more confirmations, then to the id.
    """
    matched: dict[str, list[Matched]] = {}
    order: dict[str, tuple[int, int]] = {}
    for posting in postings:
        weighs = weights[posting.term]
        times = max(1, posting.occurrences)
        score = weighs * 2 * times // (times + 1)
        matched.setdefault(posting.knowledge_id, []).append(Matched(posting.term, weighs, posting.occurrences, score))
        order[posting.knowledge_id] = (_STATES.get(posting.state, 3), -posting.confirmations)
    ranked = [
        Ranked(node, sum(item.score for item in items), tuple(sorted(items, key=lambda item: (-item.score, item.term))))
        for node, items in matched.items()
    ]
    return tuple(sorted(ranked, key=lambda item: (-item.score, *order[item.knowledge_id], item.knowledge_id)))
