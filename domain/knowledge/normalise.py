"""Decide when two texts are the same claim, and name claims and observations by what they say.

The rule, version `claim/v1`: only spelling is normalised, never content. Merging two claims that differ is worse than
keeping two spellings of one (retrieval nominates near-duplicates later), so whatever may be a name stays verbatim.

| what | what becomes of it |
|---|---|
| Unicode | canonical composition (NFC) everywhere; not NFKC, which would make `x²` into `x2` |
| invisible characters | removed from prose: soft hyphen, zero-width space, word joiner, BOM, direction marks |
| whitespace | any run of any kind is one space; none at the ends |
| quotes | `“ ” „ « »` are `"`, `‘ ’ ‚ ‹ ›` are `'`; single and double stay two things, as a shell takes them |
| dashes | hyphens, en dash and minus sign are `-`; an em dash is ` - `; `…` is `...` |
| trailing punctuation | a final `.`, `...`, `,`, `;` or `:` goes; `?`, `!` and `..` stay (`println!`) |
| case | `foo`, `Foo`, `FOO`, of letters alone, are `foo`; `fooBar`, `parse_Date`, `-V`, `README.md` stay |
| quoted strings | keep their case: `returns "True"` is not `returns "true"` |
| code spans | verbatim, with their backticks: case, spaces and quotes in them count |
| numbers, versions, paths, flags, operators, negations | untouched: `1.10` is not `1.1`, `a != b` is not `a == b` |

An id holds the version of the rule, so a better rule never renames what is stored.
"""

import hashlib
import json
import re
import unicodedata

CLAIM_VERSION = "claim/v1"

_CODE_SPAN = re.compile(r"((?<!`)(`+)(?!`).+?(?<!`)\2(?!`))", re.DOTALL)
_QUOTED = re.compile(r"""("[^"]*"|(?<![\w'])'[^']+'(?![\w']))""")
_SPACES = re.compile(r"\s+")
_TRAILING = re.compile(r"""(?<=[\w"'`)\]}%])(?:\.\.\.|[.,;:])$""")
_TOKEN = re.compile(r"\S+")
_PLAIN_WORD = re.compile(r"(\(*)([^\W\d_]+(?:['-][^\W\d_]+)*)([.,;:!?]?\)*[.,;:!?]?)")
_SPELLING = str.maketrans(
    {
        **dict.fromkeys(
            "\u00ad\u200b\u2060\ufeff\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069", ""
        ),
        **dict.fromkeys("“”„‟«»", '"'),
        **dict.fromkeys("‘’‚‛‹›", "'"),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2212", "-"),
        **dict.fromkeys("\u2014\u2015", " - "),
        "…": "...",
    }
)


def normalise_claim(text: str) -> str:
    """The normal form of a proposition under `claim/v1`; normalising it again changes nothing. Never raises."""
    pieces = _CODE_SPAN.split(unicodedata.normalize("NFC", text))
    spelled = "".join(code or _spelled(prose) for prose, code in _prose_and_code(pieces))
    ended = _TRAILING.sub("", spelled.strip())
    pieces = _CODE_SPAN.split(ended)
    return "".join(code or _lowered(prose) for prose, code in _prose_and_code(pieces))


def claim_identity(project: str, text: str, generation: int = 0) -> str:
    """`claim/v1/<32 hex>` of a project's claim, `.g<N>` behind it for the N-th node after a terminal one.

    Raises ValueError for a text without content and for a negative generation. Source: spec/2 section 14.
    """
    proposition = normalise_claim(text)
    if not proposition:
        raise ValueError("a claim has no content: give a proposition with at least one visible character")
    if generation < 0:
        raise ValueError(f"generation {generation} is negative: the first node of a claim has generation 0")
    suffix = f".g{generation}" if generation else ""
    return f"{CLAIM_VERSION}/{_digest(CLAIM_VERSION, project, proposition)}{suffix}"


def observation_identity(project: str, workspace: str, canonical_command: str) -> str:
    """`auto/<32 hex>` of a check in a workspace, the same in every run of the project. Source: spec/1."""
    return f"auto/{_digest('auto', project, workspace, canonical_command)}"


def _digest(*parts: str) -> str:
    return hashlib.sha256(json.dumps(parts, separators=(",", ":")).encode()).hexdigest()[:32]


def _prose_and_code(pieces: list[str]) -> list[tuple[str, str]]:
    """Pairs of which one side is empty, from a split that yields prose, span and backticks in turn."""
    pairs: list[tuple[str, str]] = []
    for place in range(0, len(pieces), 3):
        pairs.append((pieces[place], ""))
        if place + 1 < len(pieces):
            pairs.append(("", pieces[place + 1]))
    return pairs


def _spelled(prose: str) -> str:
    return _SPACES.sub(" ", unicodedata.normalize("NFC", prose.translate(_SPELLING)))


def _lowered(prose: str) -> str:
    pieces = _QUOTED.split(prose)
    return "".join(piece if place % 2 else _TOKEN.sub(_lower_plain, piece) for place, piece in enumerate(pieces))


def _lower_plain(token: re.Match[str]) -> str:
    plain = _PLAIN_WORD.fullmatch(token[0])
    if plain is None:
        return token[0]
    word = plain[2]
    is_one_shape = all(part in (part.lower(), part.upper(), part.capitalize()) for part in re.split("['-]", word))
    return unicodedata.normalize("NFC", plain[1] + word.lower() + plain[3]) if is_one_shape else token[0]
