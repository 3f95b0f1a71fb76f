"""Ids of approvals: nodes of the envelope's form `node_<ulid>` (spec/4), derived from what they are asked for.

A ULID is 128 bits in Crockford's base 32: 26 characters of which the first is 0 to 7. These bits are the first 128 of a
sha256 and hold no time, so that asking again for the same thing names the same approval whenever it is asked.
"""

from __future__ import annotations

from domain.contracts.ids import digest_id

_CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_CHARACTERS = 26


def ulid_of(*parts: str) -> str:
    """The ULID-shaped digest of `parts`."""
    bits = int(digest_id("ulid/1", *parts, size=32), 16)
    return "".join(_CROCKFORD[(bits >> (5 * place)) & 31] for place in reversed(range(_CHARACTERS)))


def approval_id(origin: str, target: str) -> str:
    """The approval that `origin` (e.g. an extraction's id) asks for on `target` (e.g. a knowledge id)."""
    return f"node_{ulid_of('approval', origin, target)}"
