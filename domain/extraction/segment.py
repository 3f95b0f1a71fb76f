"""Sentences of a message: blocks first, then sentences that never end inside a code span, a quoted string or a number.

Fenced code, tables and quotations of a message are no sentences of its author. A heading or a bold lead such as `Root
cause:` is kept as the label of the sentences it stands over.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence on one line, without marks of emphasis; `label` is the heading or lead over it, '' where there is
    none.

    `heading` says that the label stands over more than this sentence, `item` that it is a list item's.
    """

    text: str
    label: str = ""
    heading: bool = False
    item: bool = False


_FENCE = re.compile(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1[^\n]*$|\Z)", re.S | re.M)
_INLINE = re.compile(r":[ \t]*```[^\n]+?```")
_BLOCKS = re.compile(r"<(system-reminder|example|document|file|output|code|EXAMPLE)\b[^>]*>.*?(?:</\1>|\Z)", re.S)
_HEADING = re.compile(r"^\s*(?:#{1,6}\s+(?P<hash>.+?)\s*#*|\*\*(?P<bold>[^*]{2,60}?):?\*\*:?)\s*$")
_MARKER = re.compile(r"^\s*(?:[-*•+–]\s+|\(?\d{1,2}[.)]\s+|\[[ xX]\]\s+)")
_SKIPPED = re.compile(r"^\s*(?:[|>]|<[^>]+>\s*$|[-=*_]{3,}\s*$|(?: {4,}|\t)\S)")
_LABEL = re.compile(r"^(?:\*\*|__)?([A-ZА-ЯЁ][\w' -]{2,40}?)(?:\*\*|__)?:(?:\*\*|__)?\s+(?=\S)")
_EMPHASIS = re.compile(r"\*\*|(?<![\w*`])\*(?=[^\s*])([^*\n]+?)(?<=[^\s*])\*(?![\w*])")
_OPAQUE = re.compile(r"`+[^`]*`+|\"[^\"\n]{1,200}\"|“[^”\n]{1,200}”|«[^»\n]{1,200}»|https?://\S+")
_ABBREVIATION = re.compile(r"\b(?:e\.g|i\.e|etc|vs|cf|approx|resp|No|Fig|т\.е|т\.к|т\.п|др|см|рис)\.(?=\s)", re.I)
_END = re.compile(
    r"(?<=[.!?…])[\"')\]\x01]*\s+(?=[A-ZА-ЯЁ\x01\"'(\[\d✓✅❌])"
    r"|(?<=[a-zа-яё0-9)\x01][.!?])(?=(?:To|The|This|That|Let|Lets|Let's|Now|We|I|It|If|In|For|After|So|As|Next|First|Since|"
    r"One|Our|Using|A|An|On|Upon|By|When|While|Because|Instead|Another|But|And|Here|There|These|Then|With|Without|Which)\b)"
    r"|(?<=[a-zа-яё0-9)\x01][.!?])(?=\x01)|(?<=\x01:)(?=[A-Z\x01])"
)


def sentences(text: str) -> Iterator[Sentence]:
    """The sentences of a message in order."""
    heading = ""
    for block, item in _units(_BLOCKS.sub("\n", _FENCE.sub("\n", _INLINE.sub(":\n\n", text)))):
        title = _HEADING.match(block)
        if title:
            heading = _plain(title["hash"] or title["bold"] or "").rstrip(":")
            continue
        lead = _LABEL.match(block)
        body = block[lead.end() :] if lead else block
        for place, sentence in enumerate(split(_plain(body))):
            if lead and place == 0:
                yield Sentence(sentence, lead[1].strip(), False, item)
            else:
                yield Sentence(sentence, heading, bool(heading), item)


def split(paragraph: str) -> list[str]:
    """The sentences of one paragraph."""
    hidden = _OPAQUE.sub(lambda match: "\x01" * len(match.group()), paragraph)
    hidden = _ABBREVIATION.sub(lambda match: match.group()[:-1] + "\x02", hidden)
    parts: list[str] = []
    start = 0
    for end in _END.finditer(hidden):
        parts.append(paragraph[start : end.start()])
        start = end.end()
        # closing marks belong to the sentence they close
        parts[-1] += paragraph[end.start() : end.end()].rstrip()
    parts.append(paragraph[start:])
    return [part.strip() for part in parts if part.strip()]


def _units(text: str) -> Iterator[tuple[str, bool]]:
    """Paragraphs and list items, each on one line, and whether it is an item."""
    held: list[str] = []
    item = False
    for line in (*text.split("\n"), ""):
        marked = _MARKER.match(line)
        ended = bool(held) and held[-1].endswith((".", "!", "?"))
        breaks = (
            ended
            or not line.strip()
            or marked
            or _HEADING.match(line)
            or (_SKIPPED.match(line) and not (item and held))
        )
        if breaks and held:
            yield " ".join(held), item
            held = []
        if not line.strip() or (_SKIPPED.match(line) and not marked and not held):
            item = item and bool(line.strip())
            continue
        if _HEADING.match(line):
            yield line.strip(), False
            item = False
            continue
        if marked:
            item, line = True, line[marked.end() :]
        elif not held:
            item = False
        held.append(line.strip())


def _plain(text: str) -> str:
    """Without marks of emphasis outside code spans, white space in one form."""
    pieces = re.split(r"(`+[^`]*`+)", text)
    plain = (
        piece if place % 2 else _EMPHASIS.sub(lambda mark: mark[1] or "", piece) for place, piece in enumerate(pieces)
    )
    return re.sub(r"\s+", " ", "".join(plain)).strip()
