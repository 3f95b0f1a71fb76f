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
        """`event` as it may be kept: its data, the words of its citations, its workspace.

        Raises `ArtifactsUnavailable` when a body cannot be kept.
        """
        quotes = [item.get("quote") for item in event.evidence]
        clean, _ = self._redactor.redact({"data": dict(event.data), "quotes": quotes, "workspace": event.workspace})
        checked = check_out(clean)
        for body in checked.bodies:
            await self._artifacts.put(event.project, body)
        kept = checked.value
        return replace(
            event,
            data=kept["data"],
            evidence=tuple(
                item if quote is None else {**item, "quote": quote}
                for item, quote in zip(event.evidence, kept["quotes"], strict=True)
            ),
            workspace=kept["workspace"],
        )
