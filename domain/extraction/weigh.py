"""Weighing one candidate against its evidence: is it cited, by whom, and does every name in it occur there.

A claim stands on at least one result or user statement. What counts for independence is less than what is cited: only
such evidence in which something of the claim was found. Else any fresh output beside the old bytes would make two
findings independent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from domain.extraction.anchors import anchors
from domain.extraction.candidate import Candidate, Citation
from domain.extraction.events import Invalid
from domain.extraction.grounding import locate, ungrounded
from domain.extraction.material import Cited
from domain.extraction.reading import GROUNDS
from domain.journal.event import stamp
from domain.knowledge.decide import Claim
from domain.knowledge.normalise import normalise_claim

_QUOTE = 240
_BEFORE = 100
_HINT_LENGTH = 12
"""A proposition shorter than this is no repetition of a hint merely because the hint contains it."""


@dataclass(frozen=True, slots=True)
class Weighed:
    """A candidate whose evidence holds: as it would be proposed, with the cited texts it stands on."""

    candidate: Candidate
    claim: Claim
    stands_on: tuple[Cited, ...]
    caused_by: tuple[str, ...]

    @property
    def telling(self) -> tuple[Mapping[str, Any], ...]:
        """The citations that count for independence."""
        return tuple(item for item in self.claim.evidence if item["type"] in GROUNDS and "span" in item)

    @property
    def hashes(self) -> frozenset[str]:
        return frozenset(item["content_hash"] for item in self.telling if item.get("content_hash"))


def weigh(candidate: Candidate, evidence: Sequence[Cited], hints: Sequence[str]) -> Weighed | Invalid:
    """`candidate` with located evidence, or why it is invalid. `evidence` is the run's material, `hints` the texts
    it was given.
    """
    if not normalise_claim(candidate.proposition):
        return refuse(candidate, "invalid_candidate", "the proposition says nothing")
    material: dict[str, list[Cited]] = {}
    for item in evidence:
        material.setdefault(item.event_id, []).append(item)
    unknown = [item.event_id for item in candidate.evidence if item.event_id not in material]
    if unknown:
        return refuse(candidate, "unknown_evidence", f"no such event in this run: {', '.join(unknown[:5])}")
    cited = {item.event_id: material[item.event_id] for item in candidate.evidence}
    if any(text.hint for texts in cited.values() for text in texts):
        return refuse(candidate, "from_hint", "it cites text the run was given as a hint")
    if _repeats(candidate.proposition, hints):
        return refuse(candidate, "from_hint", "it repeats a hint the run was given")
    citations = _without_provenance(candidate, cited)
    stands_on = tuple(text for item in citations for text in cited[item.event_id] if text.type in GROUNDS)
    if not stands_on:
        return refuse(candidate, "no_evidence", "it cites no tool, command or check result and no user statement")
    missing = ungrounded(
        candidate.proposition, tuple(text.text for text in (*stands_on, *_asked(citations, cited, stands_on)))
    )
    if missing:
        return refuse(
            candidate, "ungrounded", f"not in the cited evidence: {', '.join(anchor.text for anchor in missing[:5])}"
        )
    items: list[dict[str, Any]] = []
    for citation in citations:
        item = _item(candidate.proposition, citation, cited[citation.event_id])
        if item is None:
            return refuse(
                candidate, "ungrounded", f"the quote does not occur in event {citation.event_id}: {citation.quote}"
            )
        items.append(item)
    provenance = (candidate.provenance,) if candidate.provenance else ()
    caused_by = tuple(dict.fromkeys((*(item.event_id for item in citations), *provenance)))
    claim = Claim(
        candidate.proposition.strip(), tuple(items), candidate.provenance, candidate.confidence, candidate.kind
    )
    return Weighed(candidate, claim, stands_on, caused_by)


def refuse(candidate: Candidate, code: str, reason: str) -> Invalid:
    """The candidate as an invalid one."""
    return Invalid(reason_code=code, reason=reason[:300], proposition=candidate.proposition[:200])


def _repeats(proposition: str, hints: Sequence[str]) -> bool:
    said = normalise_claim(proposition)
    for hint in hints:
        told = normalise_claim(hint)
        if said == told or (len(said) >= _HINT_LENGTH and said in told):
            return True
    return False


def _without_provenance(candidate: Candidate, cited: dict[str, list[Cited]]) -> list[Citation]:
    """Citations, each event once, without the message the proposition was written in; a user's own statement is its
    own evidence.
    """
    kept: dict[str, Citation] = {}
    for item in candidate.evidence:
        written_here = item.event_id == candidate.provenance and cited[item.event_id][0].type not in GROUNDS
        if not written_here and item.event_id not in kept:
            kept[item.event_id] = item
    return list(kept.values())


def _asked(citations: list[Citation], cited: dict[str, list[Cited]], stands_on: tuple[Cited, ...]) -> list[Cited]:
    """Calls whose results are cited too: what was asked grounds only together with what came back."""
    answered = {text.operation for text in stands_on if text.operation}
    texts = (text for item in citations for text in cited[item.event_id])
    return [text for text in texts if text.type == "tool_call" and text.operation in answered]


def _item(proposition: str, citation: Citation, texts: list[Cited]) -> dict[str, Any] | None:
    """The citation in the envelope's form; None where its quote does not occur."""
    if citation.quote is not None:
        for text in texts:
            found = locate(citation.quote, text.text)
            if found is not None:
                return _form(text, found.start, found.end)
        return None
    places = [(score, text, place) for text in texts for score, place in [_window(proposition, text.text)]]
    score, text, place = max(places, key=lambda found: found[0])
    return _form(text, *place) if score else _form(text, None, None)


def _form(text: Cited, start: int | None, end: int | None) -> dict[str, Any]:
    item: dict[str, Any] = {"ref": text.event_id, "type": text.type, "observed_at": stamp(text.occurred_at)}
    if start is not None and end is not None:
        item["span"] = {"field": text.field, "start": start, "end": end}
        item["quote"] = text.text[start:end]
    if text.run:
        item["run"] = text.run
    if text.content_hash:
        item["content_hash"] = text.content_hash
    if text.artifact:
        item["artifact"] = text.artifact
    return item


def _window(proposition: str, text: str) -> tuple[int, tuple[int, int]]:
    """How many anchors of the proposition the best line of `text` holds, and where the part of it worth quoting
    lies.
    """
    best, place = 0, (0, 0)
    wanted = anchors(proposition)
    for anchor in wanted:
        found = locate(anchor, text)
        if found is None:
            continue
        low = max(text.rfind("\n", 0, found.start) + 1, found.start - _BEFORE)
        line_end = text.find("\n", found.end)
        high = max(min(line_end if line_end >= 0 else len(text), low + _QUOTE), found.end)
        low += len(text[low:high]) - len(text[low:high].lstrip())
        high = low + len(text[low:high].rstrip())
        score = sum(locate(other, text[low:high]) is not None for other in wanted)
        if score > best:
            best, place = score, (low, high)
    return best, place
