"""The form of an erasable field: what names a person is encrypted for its subject before anything is hashed (DESIGN section 5).

`{"$personal": {"subject", "key", "nonce", "ciphertext"}}`: hashes cover the ciphertext, so a destroyed key leaves the chain whole.
This form never changes; another one would be another name beside `$personal`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from domain.contracts.payloads import is_list, is_object

PERSONAL = "$personal"
_PARTS = ("subject", "key", "nonce", "ciphertext")


@dataclass(frozen=True, slots=True)
class Sealed:
    """An encrypted field. `subject` is an opaque id, never a name; `key` names the subject's key; nonce and ciphertext are base64."""

    subject: str
    key: str
    nonce: str
    ciphertext: str

    def field(self) -> dict[str, Any]:
        """As it stands in an event's data."""
        return {PERSONAL: {name: getattr(self, name) for name in _PARTS}}


def sealed(value: Any) -> Sealed | None:
    """The encrypted field that `value` is; None for anything else."""
    if not is_object(value) or value.keys() != {PERSONAL}:
        return None
    inner = value[PERSONAL]
    if not is_object(inner) or inner.keys() != set(_PARTS) or not all(isinstance(part, str) for part in inner.values()):
        return None
    return Sealed(**inner)


def fields_in(value: Any) -> Iterator[Sealed]:
    """Every encrypted field within a JSON value."""
    found = sealed(value)
    if found is not None:
        yield found
    elif is_object(value):
        for item in value.values():
            yield from fields_in(item)
    elif is_list(value):
        for item in value:
            yield from fields_in(item)


def bound_to(project: str, item: Sealed) -> bytes:
    """What the ciphertext is bound to beside its key: moved to another project or subject it does not open."""
    return f"personal/1\n{project}\n{item.subject}\n{item.key}".encode()
