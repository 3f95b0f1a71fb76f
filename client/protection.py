"""What happens to a value before it leaves the caller: origins are hashed, secrets redacted, long texts put away by hash.

Protecting a protected value changes nothing, so the client, the worker's converter and the journal may each do it.
"""

import re
from dataclasses import dataclass
from typing import Any, Final, Protocol

from domain.contracts.errors import PayloadTooLarge
from domain.contracts.origin import with_origin, with_origins
from domain.contracts.payloads import check_out, is_list, is_object
from domain.contracts.redaction import Redactor

SETTING: Final = "TEMPORALITY_ARTIFACTS"

OPAQUE: Final = frozenset({"data", "raw", "record", "arguments"})
"""Fields whose content is the producer's own: nothing in them is a protocol field."""

PROTOCOL: Final = frozenset(
    {
        "schema", "event_id", "id", "occurred_at", "at", "type", "integration", "version", "time_basis", "project", "run",
        "task", "frame", "parent_frame", "actor", "parent_event_id", "operation_id", "caused_by", "ref", "content_hash",
        "artifact", "origin_hash", "batch_id", "decision_id", "approval", "trajectory", "extraction", "extraction_id",
        "extractor", "import_id", "sha256", "knowledge", "candidates", "approvals", "deadline", "reviewer",
    }
)  # fmt: skip
"""Fields that hold ids, hashes and times: redacting one would make it another id. Only what looks like an id is left alone."""

_ID = re.compile(r"\S{1,512}")


class KeepsBodies(Protocol):
    """The part of an artifact store that a caller needs."""

    async def put(self, project: str, body: bytes) -> str: ...


@dataclass(frozen=True, slots=True)
class Protection:
    """`key` is the installation's (None: the worker hashes origins instead); `store` keeps long texts (None: refused)."""

    redactor: Redactor
    key: bytes | None = None
    store: KeepsBodies | None = None

    async def protect(self, value: Any, project: str | None) -> Any:
        """`value` (JSON) as it may leave the process. Raises `PayloadTooLarge` when a long text has no place to go."""
        if self.key is not None:
            value = with_origins(self.key, value)
        return await self._put_away(redacted(value, self.redactor), project)

    async def protect_event(self, event: Any, project: str) -> Any:
        """One event of `record`, likewise."""
        if self.key is not None:
            event = with_origin(self.key, event)
        return await self._put_away(redacted(event, self.redactor), project)

    async def _put_away(self, value: Any, project: str | None) -> Any:
        checked, bodies = check_out(value)
        if not bodies:
            return value
        size = max(map(len, bodies))
        if self.store is None:
            raise PayloadTooLarge(
                f"a text of {size:,} bytes needs an artifact store; "
                f"set {SETTING} to the installation's folder or Postgres URL"
            )
        if project is None:
            raise PayloadTooLarge(f"a text of {size:,} bytes belongs to no project's workflow; shorten it")
        for body in bodies:
            await self.store.put(project, body)
        return checked


def protection(key: bytes | None = None, store: KeepsBodies | None = None) -> Protection:
    """The protection of an installation with this key and artifact store.

    Without the key the worker hashes origins and secrets leave no fingerprint; without a store a text over 16 KB is refused.
    """
    return Protection(redactor=Redactor(key), key=key, store=store)


def redacted(value: Any, redactor: Redactor) -> Any:
    """`value` with its secrets redacted and its protocol fields as they are."""
    clean, found = redactor.redact(value)
    return _with_protocol_fields(value, clean) if found else value


def _with_protocol_fields(value: Any, clean: Any) -> Any:
    """`clean`, a redacted copy of `value`, with the protocol fields of `value` put back."""
    if is_object(value) and is_object(clean):
        for key, item in value.items():
            if key in clean and key not in OPAQUE:
                clean[key] = item if key in PROTOCOL and _is_id(item) else _with_protocol_fields(item, clean[key])
    elif is_list(value) and is_list(clean):
        return [_with_protocol_fields(item, one) for item, one in zip(value, clean, strict=True)]
    return clean


def _is_id(item: Any) -> bool:
    if is_list(item):
        return all(isinstance(one, str) and _ID.fullmatch(one) for one in item)
    return isinstance(item, str) and _ID.fullmatch(item) is not None
