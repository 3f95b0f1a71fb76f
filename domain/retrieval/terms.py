"""Split a text into the terms of the lexical index; documents and queries go through the same rules.

Nothing is left out for being common (document frequency weighs that) and nothing is guessed: a term is a piece of the
text, in one spelling. The rules:

| what | what becomes of it |
|---|---|
| spelling | NFKC, then case folding; U+0000 and lone surrogates part words |
| a word in any script | one term, with its combining marks |
| a compound (`src/app.py`, `server-09`, `Foo::bar`, `parseDate`) | the whole, then path steps, names, words, humps |
| a number or version (`1.10`, `3.11.4`) | whole only; `12,000` is `12000` |
| scripts without spaces (Han, Kana, Thai, Lao, Khmer, Burmese) | every two neighbouring characters |
| English plurals, Russian endings | the word, then also the word without it |
| `C++`, `C#` | whole |

`server-09` and `server-90` share `server` and nothing else. A term has at most 128 bytes of UTF-8: a longer whole is
left out and its pieces stay, a longer piece is cut.
"""

import re
import unicodedata
from collections.abc import Iterator

LONGEST_TERM_BYTES = 128

_MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed\u0711\u0730-\u074a\u07a6-\u07b0"
    "\u0900-\u0963\u0966-\u0df3\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece\u0f71-\u0f84\u102b-\u103e"
    "\u1056-\u1059\u17b4-\u17d3\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\u3099\u309a\ufe20-\ufe2f\u200c\u200d"
)
_WORD = rf"[\w{_MARKS}]+"
_COMPOUND = re.compile(rf"{_WORD}(?:(?:::|->|[-./@:'#])(?={_WORD}){_WORD})*+(?:(?<=[A-Za-z])(?:\+\+|#)(?!\w))?")
_THOUSANDS = re.compile(r"(?<![\d.,])\d{1,3}(?:,\d{3})+(?![\d,])")
_NUMBER = re.compile(r"v?\d+(?:[.:]\d+)*")
_LEVELS = (re.compile(r"/"), re.compile(r"::|->|[.:@]|#(?=\w)"), re.compile(r"[-_]"))
_UNSPACED = re.compile(
    "[\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]+"
)
_JOINTS = "-./:@'#>_"
_WORD_ONLY = re.compile(r"[a-z]{4,}")
_NO_PLURALS = ("ss", "us", "is", "os")
_EITHER = ("sses", "xes", "zes", "ches", "shes")
_ENDINGS = (
    *(
        "иями",
        "ами",
        "ями",
        "ого",
        "его",
        "ому",
        "ему",
        "ыми",
        "ими",
        "иях",
        "ией",
        "иям",
        "ием",
        "ах",
        "ях",
        "ов",
        "ев",
    ),
    *("ей", "ой", "ий", "ый", "ая", "яя", "ое", "ее", "ые", "ие", "ию", "ия", "ии", "ам", "ям", "ом", "ем", "ую", "юю"),
    *("а", "я", "о", "е", "у", "ю", "ы", "и", "ь", "й"),
)
_RUSSIAN = re.compile(r"[а-яё]{5,}")
_SHORTEST_STEM = 4


def terms(text: str) -> tuple[str, ...]:
    """The terms of a text, each once, in the order they are first met. Never raises; time grows with the length."""
    plain = unicodedata.normalize("NFKC", text.replace("’", "'"))
    plain = _THOUSANDS.sub(lambda found: found[0].replace(",", ""), plain)
    found: dict[str, None] = {}
    for compound in dict.fromkeys(_COMPOUND.findall(plain)):
        for piece in _pieces(compound):
            for term in _forms(piece):
                found.setdefault(term)
    return tuple(found)


def _pieces(compound: str) -> Iterator[str]:
    """A compound, its steps, their parts and the words in those, from the whole to the smallest."""
    if compound.strip("_"):
        yield from _whole(compound)
    level = [compound]
    for separator in _LEVELS:
        level = [part for one in level for part in _parts(one, separator)]
        yield from level
    for word in level:
        yield from _halves(word)
        yield from _humps(word)


def _whole(compound: str) -> Iterator[str]:
    if len(_folded(compound).encode("utf-8", "replace")) <= LONGEST_TERM_BYTES:
        yield compound


def _parts(compound: str, separator: re.Pattern[str]) -> list[str]:
    if _NUMBER.fullmatch(compound):
        return [compound]
    return [part for part in separator.split(compound) if part.strip("_'")]


def _halves(word: str) -> Iterator[str]:
    """What stands on a side of an apostrophe and is more than an elision (`user's`, `l'état`)."""
    if "'" in word:
        yield from (half for half in word.split("'") if len(half) > 2)


def _humps(word: str) -> Iterator[str]:
    """The words of `camelCase`, `PascalCase` and `HTTPServer`."""
    if word.islower() or word.isupper() or word[1:].islower():
        return
    start = 0
    for at in range(1, len(word)):
        rises = word[at].isupper() and not word[at - 1].isupper()
        ends_capitals = word[at - 1].isupper() and word[at].isupper() and word[at + 1 : at + 2].islower()
        if rises or ends_capitals:
            yield word[start:at]
            start = at
    if start:
        yield word[start:]


def _forms(piece: str) -> Iterator[str]:
    """The terms of a piece: itself, or its pairs of characters, and the word without its ending."""
    folded = _folded(piece)
    at = 0
    for run in _UNSPACED.finditer(folded):
        yield from _bounded(folded[at : run.start()].strip(_JOINTS))
        yield from _pairs(run[0])
        at = run.end()
    term = folded[at:] if at == 0 else folded[at:].strip(_JOINTS)
    yield from _bounded(term)
    for stem in _without_ending(term):
        yield from _bounded(stem)


def _folded(piece: str) -> str:
    return unicodedata.normalize("NFKC", piece.casefold())


def _pairs(run: str) -> Iterator[str]:
    if len(run) == 1:
        yield run
    yield from (run[at : at + 2] for at in range(len(run) - 1))


def _bounded(term: str) -> Iterator[str]:
    cut = term.encode("utf-8", "replace")[:LONGEST_TERM_BYTES].decode("utf-8", "ignore")
    if cut.strip("_'"):
        yield cut


def _without_ending(word: str) -> tuple[str, ...]:
    """The English singular, both where it may be either (`caches`, `searches`), or the Russian stem of a plain word."""
    if _WORD_ONLY.fullmatch(word) and word.endswith("s") and not word.endswith(_NO_PLURALS):
        if word.endswith("ies"):
            return (word[:-3] + "y",)
        return (word[:-1], word[:-2]) if word.endswith(_EITHER) else (word[:-1],)
    if _RUSSIAN.fullmatch(word):
        for ending in _ENDINGS:
            if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_STEM:
                return (word[: -len(ending)],)
    return ()
