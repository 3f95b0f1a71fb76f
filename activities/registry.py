"""All activities of a worker, built once from what they need."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from activities.approving import Approving
from activities.extracting import Extracting
from activities.importing import Files, Importing
from activities.models.routing import Routing
from activities.postgres.journal import Journal
from activities.postgres.pool import Database
from activities.recording import Recording
from activities.sealing import Sealer
from domain.contracts.redaction import Redactor
from domain.ports.artifact_store import ArtifactStore, IncomingStore
from domain.runs.transcript import Limits


@dataclass(frozen=True, slots=True)
class Resources:
    """What activities work with: one journal on one pool, one artifact store, the installation's key and limits."""

    database: Database
    artifacts: ArtifactStore
    origin_key: bytes
    limits: Limits
    routing: Routing
    extraction_cap: int
    # files that the command line hands in; platforms of their own put theirs into the artifact store
    incoming: IncomingStore | None = None


def activities(resources: Resources) -> list[Callable[..., Any]]:
    """Every activity, bound to `resources`."""
    journal = Journal(resources.database)
    sealer = Sealer(Redactor(resources.origin_key), resources.artifacts)
    recording = Recording(journal, sealer, resources.origin_key)
    importing = Importing(
        journal,
        resources.database,
        Files(resources.artifacts, resources.incoming),
        sealer,
        resources.limits,
        origin_key=resources.origin_key,
    )
    extracting = Extracting(
        journal, resources.database, resources.artifacts, resources.routing, cap=resources.extraction_cap
    )
    approving = Approving(journal, resources.database)
    return [
        recording.record,
        recording.close_run,
        importing.import_transcript,
        extracting.start,
        extracting.propose,
        extracting.admit,
        extracting.fail,
        approving.decide,
        approving.expire,
        approving.refuse,
    ]
