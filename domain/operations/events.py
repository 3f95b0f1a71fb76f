"""Operators' commands, imports and principals as events: an operator's command is itself an event and is cited by what it moves."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from domain.journal.catalogue import EventType, Payload


class OperatorAction(Payload):
    """What an operator commanded, in words a reader understands, with its arguments."""

    command: str
    arguments: dict[str, Any] = Field(default_factory=dict)


class FileSeen(Payload):
    """These bytes came for the first time, under this name: later names of the same bytes are copies."""

    file: str
    sha256: str
    bytes: int = Field(ge=0)


class ImportStarted(Payload):
    """The import of one file began; `sha256` is of its bytes. What was added is counted from here."""

    import_id: str
    file: str
    sha256: str
    bytes: int = Field(ge=0)


class ImportCompleted(Payload):
    """The import of one file ended: the row the user sees, kept so that a repeated attempt answers the same."""

    import_id: str
    file: str
    sha256: str
    status: str
    answer: dict[str, Any]


class PrincipalNamed(Payload):
    """A principal's display name: personal, so it is encrypted for its subject before anything is hashed (DESIGN section 5).

    `display_name` is an erasable field: {"$personal": {subject, key, nonce, ciphertext}}.
    """

    principal: str
    display_name: dict[str, Any]


EVENTS = (
    EventType("operator_action", OperatorAction),
    EventType("ingest.file_seen", FileSeen),
    EventType("ingest.import_started", ImportStarted),
    EventType("ingest.import_completed", ImportCompleted),
    EventType("access.principal_named", PrincipalNamed),
)
