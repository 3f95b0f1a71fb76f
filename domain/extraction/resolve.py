"""Making a sentence stand alone with what stands near it: whose `it` is, which code, which failure, and what follows.

Only what was said is put together, in its own words. A part that is a guess, or that nothing grounds, can be cut off
where it hangs on a part that says something by itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from domain.extraction.anchors import Anchor, AnchorKind, anchors
from domain.extraction.segment import Sentence
from domain.extraction.wording import words

LONGEST_JOINED = 320
"""Characters of two sentences that are read as one."""


@dataclass(frozen=True, slots=True)
class Setting:
    """What stands near a sentence: the sentence before it, the place in the code it speaks of (`fields.py`), the
    failure that is looked into; '' where there is none.
    """

    before: str = ""
    place: str = ""
    failure: str = ""


NOWHERE = Setting()

_IT = re.compile(r"^(?:it|он|она|оно) (?=[a-zа-я]+)", re.I)
_KINDS = (
    r"function|method|class|module|script|command|hook|endpoint|option|flag|file|table|field|helper|setting|package|"
    r"library|component|decorator|fixture|query|job|service|container|image|parser|cache|interface|type"
)
_SUBJECT = re.compile(
    rf"^((?:the )?`[^`]+`(?:'s)?(?: (?:{_KINDS}))?(?:'s(?: [a-z]+){{1,3}}?)?) (?=(?:is|was|does|has|only|just|[a-z]+s)\b)",
    re.I,
)
_UNNAMED = re.compile(
    r"^the (?:current |existing |original |present )?"
    r"(?P<head>implementation|code|function|method|class|script|module|logic|check|test|query|component|definition) "
    r"(?!(?:in|of|for|from|at|that|with|on|has been|was|have been)\b)(?=[a-z])",
    re.I,
)
_FAILURE = re.compile(
    r"^the (?:issue|problem|bug|error|failure|crash|exception) (?P<is>is|was)(?: indeed| actually)? "
    r"(?=(?:caused by|due to|because|triggered by)\b)",
    re.I,
)
_NEEDS = re.compile(
    r"\bthe (?:current |existing |original |present )?(?:implementation|code|file|function|method|class|script|module|logic|check|"
    r"test|query|component|definition|configuration|config|issue|problem|bug|error|failure|crash|exception)\b",
    re.I,
)
_FAILED = re.compile(
    r"^(?:the )?(?P<what>`[^`]+`(?: (?!is |was )[a-z]+)? (?:in|from|of|at) `[^`]+`(?: (?:file|module|script|test))?) "
    r"(?=[a-z])",
    re.I,
)
_FOLLOWS = re.compile(r"^(?:so|therefore|thus|hence|as a result|that's why|which is why)\b,? +", re.I)
_BECAUSE = re.compile(r"^(?:this|that|it)(?: is|'s|’s) (?=(?:because|due to|caused by)\b)", re.I)
_EFFECT = re.compile(
    r"^this (?=(?:means|causes|leads to|results in|breaks|prevents|makes|explains|triggers|hides|avoids)\b)", re.I
)
_HANGS = re.compile(
    r",? (?:suggesting|indicating|implying|meaning)\b|, (?:which|so|because|since|while|as)\b"
    r"|,? and (?=(?:can|could|may|might|should|would|all|the|this|these|they|then|it)\b)|; | [—–] "
)
_NAMED = frozenset({AnchorKind.CODE, AnchorKind.IDENTIFIER})
_FILE = re.compile(r"[\w./-]*\w\.[A-Za-z]{1,5}")
_NO_FILE = words("self; this; e.g; i.e; etc")


def joined(first: Sentence, second: Sentence) -> Sentence | None:
    """The two as one where the second only says what follows from the first or why it is so, else None."""
    head, tail = first.text.rstrip(), second.text
    if not re.search(r"[\w`)\"'][.!]?$", head) or (first.item and second.item) or len(head + tail) > LONGEST_JOINED:
        return None
    head = head.rstrip(".!")
    for form, link in ((_FOLLOWS, ", so "), (_BECAUSE, " "), (_EFFECT, ", which ")):
        rest = form.sub("", tail, count=1)
        if rest != tail and rest:
            keeps = rest.startswith(("`", "I ")) or not re.match(r"[A-Z][a-z]*\b", rest)
            return replace(first, text=head + link + (rest if keeps else rest[0].lower() + rest[1:]))
    return None


def needs_setting(text: str) -> bool:
    """Whether the sentence speaks of code or a failure without its name, so that it matters what stands near it."""
    return _NEEDS.search(text) is not None


def resolved(text: str, setting: Setting) -> str:
    """The text with its first words named: `It` after `The X is Z`, code without a name, the failure looked into."""
    pronoun, subject = _IT.match(text), _SUBJECT.match(setting.before)
    if pronoun and subject:
        return f"{subject[1]} {text[pronoun.end() :]}"
    unnamed = _UNNAMED.match(text)
    if unnamed and setting.place:
        return f"The {unnamed['head']} in {setting.place} {text[unnamed.end() :]}"
    failure = _FAILURE.match(text)
    if failure and setting.failure:
        return f"{setting.failure} {failure['is']} {text[failure.end() :]}"
    return text


def heads(text: str, prose: str) -> Iterator[str]:
    """The text without its last parts, the longest first. `prose` is the text with code blanked, as long as it."""
    for hanging in reversed(list(_HANGS.finditer(prose))):
        head = text[: hanging.start()].rstrip(" ,;")
        yield head if head.endswith(".") else f"{head}."


def place(sentences: Sequence[str]) -> str:
    """The file the last of the sentences that names one speaks of, with up to two names said with it: `a.py` (`f`)."""
    for text in reversed(sentences):
        found = anchors(text)
        files = [one.text for one in found if is_file(one)]
        if len(set(files)) == 1:
            names = [one.text for one in found if one.kind is AnchorKind.CODE and not is_file(one)]
            said = ", ".join(f"`{name}`" for name in dict.fromkeys(names) if " " not in name and "/" not in name)
            return f"`{files[0]}`" + (f" ({said})" if said and len(names) <= 2 else "")
        if files:
            return ""
    return ""


def failure(sentences: Sequence[str]) -> str:
    """What the last of the sentences that begins with a failure and its place calls it: The `E` in `f`."""
    for text in reversed(sentences):
        found = _FAILED.match(text)
        if found and any(one.kind is AnchorKind.ERROR for one in anchors(found["what"].replace("`", " "))):
            return f"The {found['what']}"
    return ""


def is_file(anchor: Anchor) -> bool:
    """Whether an anchor is the name of a file with its extension."""
    kind = anchor.kind is AnchorKind.PATH or anchor.kind in _NAMED
    if not kind or _NO_FILE.search(anchor.text) or not _FILE.fullmatch(anchor.text):
        return False
    return any(one.kind is AnchorKind.PATH for one in anchors(f" {anchor.text} "))
