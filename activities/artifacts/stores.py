"""The two stores of bodies an installation has, in a folder or in Postgres."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from activities.postgres.pool import Database
from client.artifacts.folder import FolderArtifactStore
from client.artifacts.postgres import INCOMING, PostgresArtifactStore
from domain.ports.artifact_store import ArtifactStore, IncomingStore

# no project is called so: in an encoded id two hexadecimal digits follow a percent sign
INCOMING_FOLDER = "%incoming"


@dataclass(frozen=True, slots=True)
class Stores:
    """`artifacts` holds what events refer to, `incoming` the files that an import has not read yet."""

    artifacts: ArtifactStore
    incoming: IncomingStore


def stores(folder: Path | None, database: Database) -> Stores:
    """Both stores in `folder`, or in the journal's database where there is none."""
    if folder is not None:
        return Stores(FolderArtifactStore(folder), FolderArtifactStore(folder / INCOMING_FOLDER))
    return Stores(PostgresArtifactStore(database.scoped), PostgresArtifactStore(database.scoped, INCOMING))
