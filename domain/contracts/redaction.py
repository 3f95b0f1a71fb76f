"""Take secrets out of texts and JSON before they are kept or sent, and leave a marker that tells equal ones apart.

`[redacted:<kind>:<fingerprint>]`: the fingerprint is the first 12 hex digits of HMAC-SHA256 of the secret under the
installation's key, so two places that held one secret are seen to agree. Without a key there is none, because a plain
hash of a weak secret can be guessed. Redacting again changes nothing.
"""

import hashlib
import hmac
import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from operator import setitem
from typing import TypeAlias

from domain.contracts.redaction_entropy import names_no_secret, random_tokens
from domain.contracts.redaction_findings import Finding, scan, without_overlaps
from domain.contracts.redaction_formats import known_formats
from domain.contracts.redaction_labels import label_family, labelled_values, secret_in_value

JSON: TypeAlias = "bool | int | float | str | list[JSON] | dict[str, JSON] | None"

_SHORT_TEXT = 256
_HINTS = (
    *("pass", "pwd", "secret", "token", "key", "credential", "auth", "bearer ", "basic ", "://", " -u", " --user"),
    *("login ", "eyj", "sg.", "dp.", "hvs.", "ya29.", "8q~", "sig=", ":aa", "-us", "slack", "webhooks", ".atlasv1."),
)
_OF_KEYS = "\0"
"""The label under which the keys of objects are remembered as clean."""

_LONG_RUN = re.compile(r"[A-Za-z0-9+_-]{16}")
_HEX_OR_NUMBERS = re.compile(r"[0-9A-Fa-f:. -]*")
_MOST_PASSES = 8
"""Taking a secret out can bare another beside it; real texts need two passes."""


@dataclass(frozen=True, slots=True)
class Redactor:
    """Redacts under one key. Holds nothing else, so one instance serves all threads."""

    key: bytes | None = field(repr=False)

    def redact_text(self, text: str) -> tuple[str, Mapping[str, int]]:
        """The text without its secrets, and how many of each kind were taken out. Never raises."""
        counts: Counter[str] = Counter()
        return self._text(text, counts, with_entropy=True), counts

    def redact(self, value: JSON) -> tuple[JSON, Mapping[str, int]]:
        """The same for a JSON value, of any depth: every text in it, the keys of its objects too; the value of a
        labelled key (`{"password": ...}`) as a whole. The given value is not changed. Never raises."""
        counts: Counter[str] = Counter()
        clean: set[tuple[str, str]] = set()
        result: list[JSON] = [None]
        pending: list[_Place] = [_Place(value, partial(setitem, result, 0), "")]
        while pending:
            place = pending.pop()
            place.put(self._opened(place, pending, counts, clean))
        return result[0], counts

    def _opened(
        self, place: "_Place", pending: list["_Place"], counts: Counter[str], clean: set[tuple[str, str]]
    ) -> JSON:
        """The redacted scalar, or an empty container whose members are put on the pending list.

        `clean`: labels with short texts that were looked at and hold nothing; objects repeat themselves.
        """
        value = place.value
        if isinstance(value, str):
            if (place.label, value) in clean:
                return value
            redacted = self._labelled(place.label, value, counts)
            if redacted == value and len(value) <= _SHORT_TEXT:
                clean.add((place.label, value))
            return redacted
        if isinstance(value, list):
            items: list[JSON] = [None] * len(value)
            for at, item in enumerate(value):
                pending.append(_Place(item, partial(setitem, items, at), _option_before(value, at) or place.label))
            return items
        if isinstance(value, dict):
            members: dict[str, JSON] = {}
            named = _named_member(value)
            for key, member in value.items():
                kept = key if (_OF_KEYS, key) in clean else self._text(key, counts, with_entropy=True)
                if kept == key:
                    clean.add((_OF_KEYS, key))
                kept = self._free_key(kept, members)
                members[kept] = None
                label = named if named and key == "value" else key
                pending.append(_Place(member, partial(setitem, members, kept), label))
            return members
        return value

    def _free_key(self, key: str, taken: Mapping[str, JSON]) -> str:
        """Without a fingerprint two secrets have one marker; neither may lose its value."""
        free, count = key, len(taken)
        while free in taken:
            count += 1
            free = f"{key}#{count}"
        return free

    def _labelled(self, label: str, text: str, counts: Counter[str]) -> str:
        cleaned = self._text(text, counts, with_entropy=not names_no_secret(label))
        family = label_family(label) if cleaned == text else None
        span = secret_in_value(family, text) if family is not None else None
        if family is None or span is None:
            return cleaned
        counts[family] += 1
        start, end = span
        return text[:start] + self._marker(family, text[start:end]) + text[end:]

    def _text(self, text: str, counts: Counter[str], with_entropy: bool) -> str:
        if len(text) <= _SHORT_TEXT and not _may_hold_secret(text):
            return text
        for _ in range(_MOST_PASSES):
            findings = without_overlaps(text, _findings(text, with_entropy))
            if not findings:
                break
            pieces: list[str] = []
            at = 0
            for finding in findings:
                counts[finding.kind] += 1
                pieces += (text[at : finding.start], self._marker(finding.kind, text[finding.start : finding.end]))
                at = finding.end
            text = "".join((*pieces, text[at:]))
        return text

    def _marker(self, kind: str, secret: str) -> str:
        if self.key is None:
            return f"[redacted:{kind}]"
        digest = hmac.new(self.key, secret.encode("utf-8", "surrogatepass"), hashlib.sha256)
        return f"[redacted:{kind}:{digest.hexdigest()[:12]}]"


@dataclass(frozen=True, slots=True)
class _Place:
    """A value still to be read, where its result goes, and the label it stands under."""

    value: JSON
    put: Callable[[JSON], None]
    label: str


def _may_hold_secret(text: str) -> bool:
    """Whether a full look is worth its fixed cost; most texts of an object are short and hold nothing to look at."""
    low = text.lower()
    if any(hint in low for hint in _HINTS):
        return True
    return _HEX_OR_NUMBERS.fullmatch(text) is None and _LONG_RUN.search(text) is not None


def _findings(text: str, with_entropy: bool) -> list[Finding]:
    scanned = scan(text)
    findings = [*known_formats(scanned), *labelled_values(scanned)]
    if with_entropy:
        findings += random_tokens(scanned)
    return findings


def _option_before(items: list[JSON], at: int) -> str:
    """The option whose value an item is in a list of command words (`["--password", "x"]`)."""
    before = items[at - 1] if at else None
    return before.lstrip("-") if isinstance(before, str) and before.startswith("--") and "=" not in before else ""


def _named_member(value: Mapping[str, JSON]) -> str:
    """The name in `{"name": "API_KEY", "value": "..."}`, as environments are written."""
    name = value.get("name", value.get("key"))
    return name if isinstance(name, str) and "value" in value else ""
