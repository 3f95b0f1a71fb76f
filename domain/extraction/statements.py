"""From a sentence to a statement that stands alone, or the reason why it does not.

Words are looked for outside code spans and quoted strings only. What a statement is about are its names: code, paths,
identifiers. Ids of single records (a reservation, a user, a commit) and places of one machine are no names: what is
said of them ends with the run.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from domain.extraction.anchors import Anchor, AnchorKind, anchors
from domain.extraction.cues import CAUSE_IS, CONCLUDING, CUES, FOUND, LABELS, LEADS
from domain.extraction.refusals import ADVICE, REFUSALS
from domain.extraction.resolve import NOWHERE, Setting, heads, resolved
from domain.extraction.segment import Sentence

MIN_WORDS, MAX_WORDS, MAX_LENGTH = 5, 60, 420

_SPANS = re.compile(r"`[^`]*`|\"[^\"]*\"|“[^”]*”|«[^»]*»|(?<!\w)'[^'\n]{1,80}'(?!\w)")
_WE = re.compile(r"(?<![\w-])(?:we|our|ours|us|мы|наш\w*|нам|нас)(?![\w-])", re.I)
_SCRIPTS = re.compile(r"[^\x00-\u024f\u0370-\u04ff\u2000-\u2bff\ufe00-\ufe0f]")
_RECORD = re.compile(
    r"[A-Z0-9]{5,10}|[A-Z]{2,4}\d{2,6}|\w*_\d{3,}|[0-9a-f]{7,64}|[0-9a-f-]{32,36}|#?\d[\d.,:/%-]*|\d{4}-\d\d-\d\d.*",
    re.ASCII,
)
_PLACES = re.compile(
    r"(?:^|[\s=`\"'(])(?:/(?:tmp|private|var/folders)/|~/|[A-Z]:\\)|localhost|127\.0\.0\.1|flag\{", re.I
)
_SHAPED = re.compile(r"[_./\\()\[\]{}=<>:@$*-]|[a-zа-я][A-Z]|[A-Z][a-z]+[A-Z]|\d")
_TYPED = re.compile(
    r"(?<![\w`.])([A-Z][A-Za-z0-9]+) (?:component|interface|struct|enum|trait|module|hook|decorator|middleware)s?\b"
)
_CUT = frozenset({"hedged", "passing_detail", "length"})
"""What may be wrong with a last part only: the rest is looked at without it."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A proposition as it would be proposed: the rule that found it, that rule's strength, and the names it is
    about.
    """

    proposition: str
    rule: str
    strength: int
    concluding: bool
    names: tuple[Anchor, ...]
    # every rule whose words it holds; users are believed on some of them only
    rules: frozenset[str]


@dataclass(frozen=True, slots=True)
class Refused:
    """Why a sentence is no statement worth keeping: the name of the filter."""

    reason: str


def state(sentence: Sentence, setting: Setting = NOWHERE) -> Statement | Refused:
    """The statement a sentence makes, or the first reason why it makes none; `setting` is what stands near it."""
    found = states(sentence, setting)
    return found if isinstance(found, Refused) else found[0]


def states(sentence: Sentence, setting: Setting = NOWHERE) -> tuple[Statement, ...] | Refused:
    """The statement a sentence makes and then what it says without its last parts, the longest first."""
    text, concluding, causal = _bare(sentence)
    text = resolved(text, setting)
    whole = _judged(text, concluding, causal)
    if isinstance(whole, Refused) and whole.reason not in _CUT:
        return whole
    shorter = [_judged(head, concluding, causal) for head in heads(text, _prose(text))]
    found = tuple(one for one in (whole, *shorter) if isinstance(one, Statement))
    return found or (whole if isinstance(whole, Refused) else Refused("no_cue"))


def _judged(text: str, concluding: bool, causal: bool) -> Statement | Refused:
    words = _prose(text)
    found = [cue for cue in CUES if cue.words.search(words)]
    rules = frozenset(cue.rule for cue in found)
    for reason, pattern in REFUSALS:
        if pattern.search(words) and not (reason == ADVICE and "cause" in rules):
            return Refused(reason)
    if not MIN_WORDS <= len(text.split()) <= MAX_WORDS or len(text) > MAX_LENGTH:
        return Refused("length")
    if _SCRIPTS.search(words):
        return Refused("language")
    if not (found or causal):
        return Refused("no_cue")
    first = next((cue for cue in found if cue.rule == "decision"), found[0] if found else None)
    rule, strength = ("cause", 3) if causal or first is None else (first.rule, first.strength)
    if rule != "decision" and _WE.search(words):
        return Refused("narrative")
    if _PLACES.search(text):
        return Refused("passing_detail")
    names = _names(text)
    if not names:
        return Refused("no_name")
    return Statement(_sentence(text), rule, strength, concluding or causal, names, rules)


def _names(text: str) -> tuple[Anchor, ...]:
    """What the text is about: its anchors that last, and capitalised words that are said to be a component or the like."""
    typed = (Anchor(AnchorKind.CODE, found[1]) for found in _TYPED.finditer(_prose(text)))
    return tuple(dict.fromkeys((*(anchor for anchor in anchors(text) if is_name(anchor)), *typed)))


_NAMING = frozenset({AnchorKind.CODE, AnchorKind.FLAG, AnchorKind.PATH, AnchorKind.ERROR, AnchorKind.IDENTIFIER})


def is_name(anchor: Anchor) -> bool:
    """Whether an anchor names something that lasts: code, a path, an identifier; no number, no single record's id."""
    if not re.search(r"[^\W\d_]", anchor.text) or _RECORD.fullmatch(anchor.text):
        return False
    return anchor.kind in _NAMING or (anchor.kind is AnchorKind.QUOTED and bool(_SHAPED.search(anchor.text)))


def _bare(sentence: Sentence) -> tuple[str, bool, bool]:
    """The text without openings; whether a label or an opening says that it concludes; whether it is said to be a
    cause.
    """
    text, label = sentence.text.strip(), sentence.label.strip()
    concluding = causal = False
    if label and LABELS.fullmatch(label):
        concluding = bool(CONCLUDING.search(label))
    elif label and not sentence.heading:
        text = f"{label}: {text}"
    stripped = True
    while stripped:
        stripped = False
        for lead in LEADS:
            rest = lead.sub("", text, count=1)
            if rest != text and rest.strip():
                concluding = concluding or bool(FOUND.search(text[: len(text) - len(rest)]))
                text, stripped = rest.strip(), True
    cause = CAUSE_IS.match(text)
    if cause:
        what, does = cause["what"] or cause["ru"], cause["does"] or cause["rudoes"]
        text, causal = f"{what} {does}", True
    return text, concluding, causal


def _prose(text: str) -> str:
    """The text with code spans and quoted strings blanked, so that words in them are no cues."""
    return _SPANS.sub(lambda span: "¤" * len(span.group()), text.replace("’", "'"))


def _sentence(text: str) -> str:
    first = text[0].upper() + text[1:] if text[:1].islower() and re.match(r"[^\W\d_]+[ ,]", text) else text
    return re.sub(r"[!.]*!$", ".", first.rstrip())


_SMALL = re.compile(
    r"a|an|the|that|is|are|was|were|be|been|being|to|of|in|on|at|for|and|so|then|when|it|its|this|as|by|with|also|just|very|"
    r"это|что|в|на|с|и|то|же|уже|для"
)


def content(text: str) -> tuple[str, ...]:
    """The words and code of a text in order, without those that only bind: two texts with the same content say the
    same.
    """
    tokens = re.findall(r"`[^`]*`|\"[^\"]*\"|[\w./:()=-]*\w", text)
    return tuple(
        token if token[0] in '`"' else token.casefold() for token in tokens if not _SMALL.fullmatch(token.casefold())
    )


def alike(one: str, other: str) -> float:
    """How much of the content of two texts is the same, from 0 to 1 (Jaccard over words and code)."""
    left, right = frozenset(content(one)), frozenset(content(other))
    return len(left & right) / len(left | right) if left | right else 0.0
