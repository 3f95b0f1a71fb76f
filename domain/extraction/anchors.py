"""Find in a proposition everything that can be checked against its evidence: names, numbers and quoted texts.

An anchor is what a writer cannot paraphrase. Words of ordinary prose are none, so a claim may be said in its own
words and in its own language; what it names has to be there.
"""

import re
from dataclasses import dataclass
from enum import StrEnum


class AnchorKind(StrEnum):
    """What an anchor is, which decides how its edges are judged in evidence."""

    CODE = "code"
    QUOTED = "quoted"
    URL = "url"
    FLAG = "flag"
    PATH = "path"
    HOST = "host"
    DATE = "date"
    VERSION = "version"
    NUMBER = "number"
    ERROR = "error"
    IDENTIFIER = "identifier"
    ACRONYM = "acronym"


@dataclass(frozen=True, slots=True)
class Anchor:
    """A part of a proposition; `text` as written there, without the backticks or quotes around it."""

    kind: AnchorKind
    text: str


_DOMAINS = (
    "com|org|net|io|dev|app|ai|edu|gov|info|cloud|internal|local|localdomain|lan|example|test|invalid|"
    "ru|de|uk|eu|fr|cn|jp"
)
_FILES = (
    "py|pyi|js|jsx|ts|tsx|mjs|cjs|json|jsonl|ya?ml|toml|ini|cfg|conf|lock|md|rst|txt|html?|css|scss|sh|bash|sql|go|rs|"
    "java|kt|rb|php|c|h|cc|cpp|hpp|cs|swift|proto|xml|csv|log|env|ipynb|gradle|tf|svg|png|whl|gz|zip"
)
_DIGITS = r"\d+(?:[,_\u00a0\u202f]\d{3}(?!\d))*(?:\.\d+)?(?=[^\W\d_]{0,4}(?!\w))"
_FORMS = (
    (AnchorKind.CODE, r"(?P<ticks>(?<!`)`+(?!`))(?P<code>.+?)(?<!`)(?P=ticks)(?!`)"),
    (AnchorKind.URL, r"\b[a-z][a-z0-9+.-]{1,20}://[^\s<>\"'`«»“”]+"),
    (AnchorKind.QUOTED, r"\"[^\"]+\"|“[^”]+”|„[^“”]+[“”]|«[^»]+»|(?<![\w'’])['‘][^'‘’]+['’](?![\w])"),
    (AnchorKind.FLAG, r"(?<![\w-])--?[A-Za-z][\w-]*"),
    (
        AnchorKind.PATH,
        r"(?<![\w/.])(?:~|\.{1,2})?/[\w.@+-]+(?:/[\w.@+*-]+)*+/?"
        r"|(?<![\w/.@+-])[\w.@+-]+(?:(?:/[\w.@+*-]+)++/?|/(?!\w))",
    ),
    (
        AnchorKind.HOST,
        r"(?<![\w.])(?:(?:\d{1,3}\.){3}\d{1,3}|localhost(?=:\d))(?::\d{1,5})?(?![\w])"
        rf"|(?<![\w.])(?:[A-Za-z0-9][A-Za-z0-9-]{{0,62}}\.){{1,8}}(?:{_DOMAINS})(?::\d{{1,5}})?(?![\w-])",
    ),
    (AnchorKind.DATE, r"(?<![\w-])\d{4}-\d{2}-\d{2}(?!\w)"),
    (
        AnchorKind.VERSION,
        r"(?<![\w.])(?:v\d+(?:\.\d+)*+|\d+(?:\.\d+){2,}+|\d+\.\d+(?=[-+.]?(?:alpha|beta|rc|dev|post)))"
        r"(?:[-+.]?(?:alpha|beta|rc|dev|post|canary|next|snapshot)[.\w-]*)?(?!\w)",
    ),
    (AnchorKind.PATH, rf"(?<![\w.])\.?[A-Za-z0-9_][\w-]*(?:\.[\w-]+){{0,4}}?\.(?:{_FILES})(?![\w-])"),
    (AnchorKind.IDENTIFIER, r"[A-Za-z_$@][\w$]*(?:(?:\.|::|->|#)[A-Za-z_$][\w$]*)++|(?<!\w)[A-Za-z]\w*(?:-\w+)++"),
    (AnchorKind.NUMBER, rf"(?<![\w.])(?<![\w)]-)[-−]?{_DIGITS}|(?<=[\w)]-){_DIGITS}"),
    (AnchorKind.IDENTIFIER, r"[$@]?\w+(?:\+\+|#)?"),
)
_ANY = re.compile("|".join(f"(?P<f{place}>{form})" for place, (_, form) in enumerate(_FORMS)), re.DOTALL)

_ERROR = re.compile(r"(?:\w+\.)*[A-Z]\w*(?:Error|Exception|Warning|Fault|Failure)|E[A-Z]{3,}|SIG[A-Z]{3,}")
_MIXED_CASE = re.compile(r".*[a-z0-9][A-Z]|[A-Z]{2,}[a-z]", re.DOTALL)
_HEADER = re.compile(r"[A-Z]\w*(?:-[A-Z]\w*)+")
_ABBREVIATION = re.compile(r"(?:[A-Za-z]\.)+[A-Za-z]?|e\.g|i\.e|etc|vs", re.IGNORECASE)
_EMPHASISED = frozenset(
    "a and all always any are as at be before after both but by can cannot do does for from has have if in into is it"
    " its may must need never no non none not now of on only or out should so than that the then this to too up use was"
    " when with without will yes you"
    " не и или все всегда никогда только нельзя нет да но до после если без для на из".split()
)
_CYRILLIC = re.compile(r"[а-яёА-ЯЁ]")
_DECIMAL_COMMA = re.compile(r"(?<=\d),(?=\d{1,2}(?!\d))|(?<=\d),(?=\d{4,})")
_SPACED_THOUSANDS = re.compile(r"(?<![\d.,])(\d{1,3})((?: \d{3})+)(?![\d])")


def anchors(proposition: str) -> tuple[Anchor, ...]:
    """The anchors of a proposition in the order they stand, each once. Never raises. Source: spec/2 section 9.

    In a text with Cyrillic letters `1,5` is one number and `10 000` another, as they are written there.
    """
    if _CYRILLIC.search(proposition):
        proposition = _DECIMAL_COMMA.sub(".", proposition)
        proposition = _SPACED_THOUSANDS.sub(lambda found: found[0].replace(" ", "\u00a0"), proposition)
    found = (_anchor(match) for match in _ANY.finditer(proposition))
    return tuple(dict.fromkeys(anchor for anchor in found if anchor is not None))


def _anchor(match: re.Match[str]) -> Anchor | None:
    place = next(place for place in range(len(_FORMS)) if match[f"f{place}"] is not None)
    kind, text = _FORMS[place][0], match[0]
    if kind is AnchorKind.CODE:
        code = match["code"].strip()
        return Anchor(kind, code.removesuffix("()")) if code else None
    if kind is AnchorKind.QUOTED:
        quoted = text[1:-1].strip()
        return Anchor(kind, quoted) if quoted else None
    if kind is AnchorKind.URL:
        return Anchor(kind, text.rstrip(".,;:!?)]}"))
    if kind is AnchorKind.PATH:
        return _path(text.rstrip(".,;:!?"))
    if kind is AnchorKind.IDENTIFIER:
        return _identifier(text)
    return Anchor(kind, text)


def _path(text: str) -> Anchor | None:
    """A path, or nothing where the slash only means `or` (`Safari/Firefox`, `and/or`)."""
    pieces = [piece for piece in text.split("/") if piece]
    is_alternative = len(pieces) == 2 and not text.startswith(("/", "~", ".")) and not text.endswith("/")
    if is_alternative and all(piece.isalpha() and (piece in ("and", "or") or not piece.islower()) for piece in pieces):
        return None
    if is_alternative and all(piece.isdigit() for piece in pieces):
        return Anchor(AnchorKind.QUOTED, text)
    return Anchor(AnchorKind.PATH, text) if pieces else None


def _identifier(text: str) -> Anchor | None:
    """A name that was made for machines; a word of prose is none, and a word in capitals only by its letters."""
    name = text.rstrip(".")
    if _ERROR.fullmatch(name):
        return Anchor(AnchorKind.ERROR, name)
    if _ABBREVIATION.fullmatch(name):
        return None
    letters = re.sub(r"[^\w]", "", name)
    has_digit, has_letter = any(map(str.isdigit, letters)), any(map(str.isalpha, letters))
    is_made = (has_digit and has_letter) or "_" in name.strip("_") or re.search(r"[.:>#$@+]", name) is not None
    is_made = is_made or _HEADER.fullmatch(name) is not None
    if is_made or _MIXED_CASE.match(name):
        return Anchor(AnchorKind.IDENTIFIER, name)
    if len(name) > 1 and "-" not in name and name.isupper() and name.lower() not in _EMPHASISED:
        return Anchor(AnchorKind.ACRONYM, name)
    return None
