"""Secrets that only their label gives away: `password=...`, `"api_key": "..."`, `Authorization: Bearer ...`, URLs.

A label alone proves nothing: `token = tokens.pop()`, `password: str` and `api_key="your-api-key"` hold no secret, so
the value has to look like one. In the user part of a URL there is nothing else it could be.
"""

import binascii
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import pairwise

from domain.contracts.redaction_findings import MARKER_START, Finding, Scanned

_PASSWORDS = ("password", "passwd", "passphrase", "passwort", "pwd", "_pass")
_KEY_OWNERS = ("api", "access", "account", "private", "secret", "auth", "encryption", "signing", "master", "service")
_TOKENS = ("secret", "token", "credential", "authorization")
_KEYS = tuple(f"{owner}{joint}key" for owner in _KEY_OWNERS for joint in ("", "_", "-", " "))
_LABELS = (*((stem, "password") for stem in _PASSWORDS), *((stem, "secret") for stem in (*_TOKENS, *_KEYS)))
_STEMS = (
    *((stem.encode(), family) for stem, family in _LABELS if not stem.endswith("key")),
    (b"key", "secret"),
)
_OWNED_KEY = re.compile(rf"(?:{'|'.join(_KEY_OWNERS)})[_-]?$", re.IGNORECASE)
_LABEL_ENDING = re.compile(r"[ _-]?(?:key|value|base|string|prod|dev|live|[0-9]{1,2})?s?$")
_AFTER_STEM = re.compile(
    r"(?:[_-]?(?:key|value|base|string|prod|dev|live|\d{1,2}))?"
    r"(?:\\{0,4}[\"'`]?\]?[ \t]{0,4}(?P<sign>=>|:=|={1,3}|:)[ \t]{0,4}|(?P<flag>[ \t]{1,4}))"
    r"(?:\\{0,4}(?P<quote>[\"'`])(?P<quoted>[^\"'`\\\s]{1,2048}(?:\\[^\s\"'`][^\"'`\\\s]{0,512}){0,8})"
    r"|(?P<bare>[^\s\"'`,;&<>(){}\[\]\\|]{4,2048}))",
    re.IGNORECASE,
)
_SCHEME = re.compile(r"(?:bearer|basic|token)[ \t]{1,4}(?P<value>[A-Za-z0-9._~+/=-]{8,4096})", re.IGNORECASE)
_URL_USER = re.compile(
    r"://(?:[^\s/:@\"'<>\\`]{0,128}:(?P<password>[^\s/@\"'<>\\`]{1,256})|(?P<user>[A-Za-z0-9_-]{20,256}))@"
)
_CURL_USER = re.compile(r" (?:-u|--user)[ =]{1,2}[\"']?[\w.@-]{1,64}:(?P<value>[^\s\"']{4,128})")
_NETRC = re.compile(r"login[ \t\n]{1,4}\S{1,64}[ \t\n]{1,4}password[ \t]{1,4}(?P<value>\S{4,128})")
_SCHEMES = (b"bearer ", b"basic ", b"authorization: token ")
_USERS = ((b" -u", _CURL_USER, b"curl"), (b" --user", _CURL_USER, b"curl"), (b"login ", _NETRC, b"machine "))
_TEMPLATE = re.compile(r"[<{$%*•…]|&lt;|\.\.|[xX]{3}|\[redacted|\[.*\]$")
_PLACEHOLDER = re.compile(
    r"(?:your|my|the|some|any|new|old|current|fake|dummy|mock|sample|example|test|testing|placeholder|changeme|change|"
    r"insert|enter|replace|redacted|hidden|required|optional|invalid|wrong|missing|bearer|basic|null|none|undefined|"
    r"true|false|string|str|bytes|number|integer|int|bool|boolean|any|object|text|default|process|os|env|self|this|"
    r"settings|config|await|function|const|let|var|return|get|abc123|123456)(?![a-z0-9])"
    r"|[a-z_.-]*(?:pass(?:word|wd|phrase|wort)?|secret|token|api[_-]?key|credential)[a-z_.-]*[0-9]{0,2}$",
    re.IGNORECASE,
)
_COUNTING = re.compile(r"0?123(?:4(?:5(?:6(?:7(?:89?)?)?)?)?)?0?")
_EXPRESSION = re.compile(r"!?[A-Za-z_$][\w$]*(?:(?:\.|->|::|\?\.)[A-Za-z_$][\w$]*)+[:.]?|!?[01]")
_NAME = re.compile(r"[A-Za-z_$][A-Za-z_$]*")
_PATH = re.compile(r"~?/|\.{1,2}/|[A-Za-z]:[\\/]|[a-z][a-z0-9+.-]{1,20}://")
_COUNTED_WORDS = re.compile(r"_*[A-Za-z]+(?:[_-][A-Za-z]+)*[_-]?\d{0,3}")
_MIXES = re.compile(r"[0-9!@#$%^&*~+]")
_LONG_VALUE = 256
"""Characters; a label inside a value this long is part of it."""

_FEWEST: Mapping[str, int] = {"password": 6, "secret": 8}


def labelled_values(scanned: Scanned) -> Iterator[Finding]:
    """Values behind a label, a scheme or a user name that look like secrets."""
    text = scanned.text
    for stem, family in _STEMS:
        if stem in scanned.low:
            yield from _behind_label(scanned, stem, family)
    for scheme in _SCHEMES:
        if scheme in scanned.low:
            yield from _behind_scheme(scanned, scheme)
    for at in scanned.places(b"://"):
        yield from _in_url(text, at)
    for words, form, program in _USERS:
        for at in scanned.places(words) if words in scanned.plain else ():
            found = form.match(text, at) if program in scanned.low[max(0, at - 200) : at] else None
            if found is not None and not _TEMPLATE.match(found["value"]):
                yield Finding(*found.span("value"), "password")


def label_family(label: str) -> str | None:
    """`password` or `secret` where a key of an object says that its value is one, else None."""
    return None if len(label) > 128 else _family(label)


@lru_cache(maxsize=2_048)
def _family(label: str) -> str | None:
    # the same few keys stand in every record of a transcript
    low = label.lower()
    for form in (low, _LABEL_ENDING.sub("", low)):
        if form == "pass":
            return "password"
        for stem, family in _LABELS:
            if form.endswith(stem):
                return family
    return None


def secret_in_value(family: str, value: str) -> tuple[int, int] | None:
    """Where the secret stands in the value of a labelled key: the whole, or what follows `Bearer`; None if there is
    none. The value of an object is data, never code, so a password needs no digits here."""
    if not 4 <= len(value) <= 8192 or MARKER_START in value:
        return None
    scheme = _SCHEME.fullmatch(value)
    if scheme is not None:
        return scheme.span("value") if _is_credential(scheme, fewest=8) else None
    if any(char.isspace() for char in value) or _TEMPLATE.match(value) or _is_placeholder(value):
        return None
    if _PATH.match(value) or not (family == "password" or _looks_issued(value, fewest=8)):
        return None
    return 0, len(value)


def _behind_label(scanned: Scanned, stem: bytes, family: str) -> Iterator[Finding]:
    text, done = scanned.text, 0
    for at in scanned.places_in_any_case(stem):
        if at < done or (stem == b"key" and not _OWNED_KEY.search(text[max(0, at - 12) : at])):
            continue
        found = _AFTER_STEM.match(text, at + len(stem))
        if found is None or (found["flag"] is not None and not _is_option(text, at)):
            continue
        group = "quoted" if found["quote"] else "bare"
        start, end = found.span(group)
        if end - start > _LONG_VALUE:
            done = end
        if _is_secret_literal(text, found, group, family, _is_upper(text, at)):
            yield Finding(*_trimmed((start, end), found[group], group), family)


def _is_placeholder(value: str) -> bool:
    """Whether a value only says that a secret belongs here; more digits than people count with speak against it."""
    return _PLACEHOLDER.match(value) is not None and sum(map(str.isdigit, _COUNTING.sub("", value))) < 4


def _is_option(text: str, at: int) -> bool:
    """Whether the label belongs to a command line option, after which a space separates the value."""
    return re.search(r"(?<!\S)--?[\w-]*$", text[max(0, at - 40) : at]) is not None


def _is_upper(text: str, at: int) -> bool:
    return text[at : at + 4].strip("_").isupper()


def _trimmed(span: tuple[int, int], value: str, group: str) -> tuple[int, int]:
    """A bare value without the full stop or colon that ends its sentence."""
    return (span[0], span[1] - (len(value) - len(value.rstrip(".:")))) if group == "bare" else span


def _is_secret_literal(text: str, found: re.Match[str], group: str, family: str, is_upper: bool) -> bool:
    value = found[group]
    following = text[found.end(group) : found.end(group) + 1]
    if MARKER_START in value or _TEMPLATE.match(value) or _is_placeholder(value) or _EXPRESSION.fullmatch(value):
        return False
    if len(value) < _FEWEST[family] or _PATH.match(value):
        return False
    if group == "quoted":
        if following.isspace() or "|" in value:
            return False
        return family == "password" or _looks_issued(value, fewest=8)
    if following in ("(", "[", "{"):
        return False
    if family == "password":
        is_mixed = _MIXES.search(value) is not None and not value.isdigit()
        return is_mixed or (is_upper and found["sign"] == "=")
    return not _NAME.fullmatch(value) and _looks_issued(value, fewest=12)


def _behind_scheme(scanned: Scanned, scheme: bytes) -> Iterator[Finding]:
    for at in scanned.places_in_any_case(scheme):
        found = _SCHEME.match(scanned.text, at + scheme.rfind(b" ", 0, -1) + 1)
        before = scanned.low[max(0, at - 24) : at].rstrip(b" \"'\\:=")
        after_header = before.endswith(b"authorization") or scheme.startswith(b"auth")
        if found is not None and _is_credential(found, fewest=8 if after_header else 20):
            yield Finding(*found.span("value"), "authorization")


def _is_credential(scheme: re.Match[str], fewest: int) -> bool:
    value = scheme["value"]
    if scheme[0][:5].lower() == "basic":
        return _is_user_and_password(value)
    return not _is_placeholder(value) and _looks_issued(value.rstrip("."), fewest)


def _is_user_and_password(value: str) -> bool:
    try:
        return b":" in binascii.a2b_base64(value + "=" * (-len(value) % 4))
    except binascii.Error:
        return False


def _in_url(text: str, at: int) -> Iterator[Finding]:
    found = _URL_USER.match(text, at)
    if found is None:
        return
    group = "password" if found["password"] is not None else "user"
    value = found[group]
    if not _TEMPLATE.match(value) and (group == "password" or _looks_issued(value, fewest=20)):
        yield Finding(*found.span(group), "url_password")


def _looks_issued(value: str, fewest: int) -> bool:
    """Whether a generator made the value: letters and digits in a mix, or letters without the shape of words."""
    letters = sum(char.isalpha() for char in value)
    if len(value) < fewest or not letters:
        return False
    if (letters == len(value) or _COUNTED_WORDS.fullmatch(value)) and not _is_jumbled(value):
        return False
    return _bits_per_character(value) >= 2.5 and not re.match(r"[\w.-]*/[\w.-]*/", value)


def _is_jumbled(value: str) -> bool:
    """Upper and lower case change too often for words in camel case."""
    changes = sum(one.isupper() != two.isupper() for one, two in pairwise(value))
    return len(value) >= 16 and changes >= 0.38 * len(value)


def _bits_per_character(value: str) -> float:
    size = len(value)
    return -sum(count / size * math.log2(count / size) for count in Counter(value).values())
