"""Secrets without label or known form: long tokens in which upper case, lower case and digits change at random.

Hashes in hex, uuids, names in camel or snake case, paths, URLs, checksums, public keys and the ids that agent
platforms give their calls are left alone: what is lost with them is what the journal is for.
"""

import binascii
import re
from collections.abc import Iterator

from domain.contracts.redaction_findings import Finding, Scanned

SHORTEST = 24
LONGEST = 128
"""Characters of a whole token; what is longer is content in base64, not a key."""

_TOKEN = re.compile(r"[A-Za-z0-9+/=_-]+")
_GROWS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/_-")
_LONG_PIECE = re.compile(r"[A-Za-z0-9]{16,}")
_WORDS = re.compile(r"[A-Z]?[a-z]{3,}")
_CHANGE = re.compile(r"[a-z](?=[A-Z0-9])|[A-Z](?=[a-z0-9])|[0-9](?=[A-Za-z])")
_HEX = re.compile(r"[0-9A-Fa-f]+")
_ID_PREFIX = re.compile(
    r"(?:call|msg|chatcmpl|cmpl|req|resp|rs|fc|run|thread|asst|file|batch|gen|sha\d*)[-_]"
    r"|(?:toolu|srvtoolu|step|evt|event|ws|item|session|conv|org|user|proj|snap|vol|cus|ch|pi|sub|price|prod|in|acct|pm)_"
    r"|[a-z]{2,12}_01[A-Za-z0-9]{20,24}(?![A-Za-z0-9])|AAAA[BCE]|MII|Qm[A-Za-z0-9]{44}(?![A-Za-z0-9])"
)
_NAMED_BEFORE = re.compile(
    r"(?:ids?|uuid|guid|hash|sha\d*|sha-?\d+|md5|digest|checksum|signature|etag|integrity|nonce|cursor|fingerprint|"
    r"version|h1|revision|commit|content|encrypted_content|thumbprint)[\"'\\\]]*\s?[:=-]\s?[\\\"'`(]*$"
    r"|base64,\s?$|ssh-[a-z0-9]+\s$|filename=[\"']?$",
    re.IGNORECASE,
)
_FILE_ENDING = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,4}(?![A-Za-z0-9])")
_NAMES_NO_SECRET = re.compile(
    r".*(?:[a-z_-]I[dD]s?|^ids?|_ids?|uuid|hash|sha\d*|md5|digest|checksum|signature|etag|integrity|nonce|cursor|"
    r"fingerprint|content|data|base64|parent|leaf|slug|url|uri|path|name)",
    re.DOTALL,
)


def names_no_secret(label: str) -> bool:
    """Whether a key of an object says that its value is an id, a hash or content, however random it looks."""
    return len(label) <= 128 and _NAMES_NO_SECRET.fullmatch(label) is not None


def random_tokens(scanned: Scanned) -> Iterator[Finding]:
    """Unlabelled tokens that look drawn at random."""
    text, done = scanned.text, 0
    for run_start, run_end in scanned.runs:
        if run_start < done or run_end - run_start > LONGEST or _ID_PREFIX.match(text, run_start):
            continue
        if is_jumbled(text[run_start:run_end]):
            start, done = _whole_token(text, run_start, run_end)
            if SHORTEST <= done - start <= LONGEST and not _is_explained(text, start, done):
                yield Finding(start, done, "high_entropy")


def is_jumbled(run: str) -> bool:
    """Whether some piece of letters and digits mixes upper case, lower case and digits as chance would."""
    if run.islower() or run.isupper():
        return False
    return any(_is_jumbled_piece(piece[0]) for piece in _LONG_PIECE.finditer(run))


def _is_jumbled_piece(piece: str) -> bool:
    if len(_CHANGE.findall(piece)) < 0.38 * (len(piece) - 1) or _HEX.fullmatch(piece):
        return False
    if sum(map(len, _WORDS.findall(piece))) >= 0.5 * len(piece):
        return False
    digits = sum(map(str.isdigit, piece))
    uppers = sum(map(str.isupper, piece))
    return digits >= 2 and uppers >= 2 and len(piece) - digits - uppers >= 2 and len(set(piece)) >= 11


def _whole_token(text: str, start: int, end: int) -> tuple[int, int]:
    """The run with the `+`, `/` and `=` of base64 around it, looked for no further than a token is long."""
    furthest = max(0, start - LONGEST)
    while start > furthest and text[start - 1] in _GROWS:
        start -= 1
    after = _TOKEN.match(text, end, end + LONGEST)
    return start, after.end() if after else end


def _is_explained(text: str, start: int, end: int) -> bool:
    token = text[start:end]
    before = text[max(0, start - 64) : start]
    if _ID_PREFIX.match(token) or _NAMED_BEFORE.search(before) or _FILE_ENDING.match(text, end):
        return True
    if "://" in before.rpartition(" ")[2] or _is_path(token) or before.endswith(("#", "@")):
        return True
    line_start, line_end = text.rfind("\n", max(0, start - 2), start), text[end : end + 2]
    fills_line = line_start == start - 1 and line_end[:1] in ("\n", "\r", "")
    return (fills_line and len(token) in (60, 64, 70, 72, 76)) or _is_readable_base64(token)


def _is_path(token: str) -> bool:
    pieces = [piece for piece in token.split("/") if piece]
    return (
        len(pieces) > 1
        and ("+" not in token and "=" not in token)
        and (
            token.startswith("/")
            or max(map(len, pieces)) < 20
            or any(piece.isalpha() and piece.islower() for piece in pieces)
        )
    )


def _is_readable_base64(token: str) -> bool:
    """Text that somebody encoded, not a key: it decodes to printable characters."""
    try:
        plain = binascii.a2b_base64(token + "=" * (-len(token) % 4))
    except binascii.Error:
        return False
    readable = sum(32 <= byte < 127 or byte in (9, 10, 13) for byte in plain)
    return bool(plain) and readable >= 0.95 * len(plain)
