"""Ids that stand in workflow ids: projects, runs, approvals, extractions.

Project and run ids match `[A-Za-z0-9._~-]{1,128}`, else they are percent-encoded; longer than 128 characters encoded, they are refused.
"""

from __future__ import annotations

import hashlib
import re

from domain.contracts.errors import MalformedId

MAX_ID = 128
INSTALLATION = "_installation"
"""The reserved scope that holds what belongs to no project."""

_PLAIN = re.compile(r"[A-Za-z0-9._~-]{1,128}\Z")
_SAFE = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._~-")


def encode_id(raw: str, what: str = "id") -> str:
    """`raw` as it stands in workflow ids; an id that is already plain is unchanged. Raises `MalformedId` when empty or too long."""
    if _PLAIN.match(raw):
        return raw
    if not raw:
        raise MalformedId(f"the {what} is empty; give it at least one character")
    encoded = "".join(chr(byte) if byte in _SAFE else f"%{byte:02X}" for byte in raw.encode("utf-8", "replace"))
    if len(encoded) > MAX_ID:
        raise MalformedId(
            f"the {what} takes {len(encoded)} characters when encoded; {MAX_ID} at most, so give a shorter one"
        )
    return encoded


def project_id(raw: str) -> str:
    """A project's id; the reserved scope `_installation` is no project of anybody's."""
    if raw == INSTALLATION:
        raise MalformedId(f"`{INSTALLATION}` is reserved; choose another project name")
    return encode_id(raw, "project")


def bounded_id(raw: str, what: str = "id") -> str:
    """Like `encode_id`, but an id that is too long is kept by its start and its hash instead of being refused (foreign native ids)."""
    try:
        return encode_id(raw, what)
    except MalformedId:
        digest = hashlib.sha256(raw.encode("utf-8", "replace")).hexdigest()[:32]
        start = "".join(c if _PLAIN.match(c) else "-" for c in raw[:64])
        return f"{start}~{digest}" if start else digest


def digest_id(*parts: str, size: int = 32) -> str:
    """A stable id: the first `size` hex digits of sha256 over the parts, each with its length, so that no two lists collide."""
    sha = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        sha.update(len(data).to_bytes(8, "big"))
        sha.update(data)
    return sha.hexdigest()[:size]
