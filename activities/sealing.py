"""What leaves an event before it enters the journal: secrets become fingerprints, long texts become references.

Bodies are durable before the event that names them is appended.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

from domain.contracts.payloads import check_out
from domain.contracts.redaction import Redactor
from domain.journal.event import Event
from domain.ports.artifact_store import ArtifactStore

BODIES_AT_ONCE = 8


class Clean(NamedTuple):
    """An event that may be kept once its bodies are."""

    event: Event
    bodies: list[bytes]


class Sealer:
    """Redaction and claim-check of one installation, the same for recorded and for imported events."""

    def __init__(self, redactor: Redactor, artifacts: ArtifactStore) -> None:
        self._redactor = redactor
        self._artifacts = artifacts

    def clean(self, event: Event) -> Clean:
        """`event` without secrets and long texts: its data, the words of its citations, its workspace. Nothing but computing.

        Raises `MalformedMessage` when it is nested too deeply to walk.
        """
        quotes = [item.get("quote") for item in event.evidence]
        told, _ = self._redactor.redact({"data": dict(event.data), "quotes": quotes, "workspace": event.workspace})
        checked = check_out(told)
        kept = checked.value
        evidence = tuple(
            item if quote is None else {**item, "quote": quote}
            for item, quote in zip(event.evidence, kept["quotes"], strict=True)
        )
        return Clean(replace(event, data=kept["data"], evidence=evidence, workspace=kept["workspace"]), checked.bodies)

    async def keep(self, project: str, bodies: Iterable[bytes]) -> None:
        """Make bodies durable, a few at a time. Raises `ArtifactsUnavailable`."""
        gate = asyncio.Semaphore(BODIES_AT_ONCE)

        async def put(body: bytes) -> None:
            async with gate:
                await self._artifacts.put(project, body)

        await asyncio.gather(*(put(body) for body in bodies))

    async def seal(self, event: Event) -> Event:
        """`event` as it may be kept, its bodies durable. Raises what `clean` and `keep` raise."""
        cleaned = self.clean(event)
        await self.keep(event.project, cleaned.bodies)
        return cleaned.event
