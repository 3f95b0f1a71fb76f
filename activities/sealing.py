"""What leaves an event before it enters the journal: secrets become fingerprints, long texts become references.

Bodies are durable before the event that names them is appended.
"""

from __future__ import annotations

from dataclasses import replace

from domain.contracts.payloads import check_out
from domain.contracts.redaction import Redactor
from domain.journal.event import Event
from domain.ports.artifact_store import ArtifactStore


class Sealer:
    """Redaction and claim-check of one installation, the same for recorded and for imported events."""

    def __init__(self, redactor: Redactor, artifacts: ArtifactStore) -> None:
        self._redactor = redactor
        self._artifacts = artifacts

    async def seal(self, event: Event) -> Event:
        """`event` as it may be kept. Raises `ArtifactsUnavailable` when a body cannot be kept."""
        data, _ = self._redactor.redact(dict(event.data))
        checked = check_out(data)
        for body in checked.bodies:
            await self._artifacts.put(event.project, body)
        return replace(event, data=checked.value)
