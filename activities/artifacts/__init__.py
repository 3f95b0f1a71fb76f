"""The artifact stores of a worker, the same a client has, behind `domain.ports.artifact_store`.

A body that events name is never deleted here: it is part of the truth.
"""

from client.artifacts.folder import FolderArtifactStore
from client.artifacts.postgres import PostgresArtifactStore

__all__ = ["FolderArtifactStore", "PostgresArtifactStore"]
