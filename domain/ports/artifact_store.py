"""The store of bodies: what events name by hash and do not hold themselves.

A body is durable before `put` answers, and what `get` and `open_stream` give has been hashed again while it was read.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractAsyncContextManager
from typing import BinaryIO, Protocol

from domain.contracts.payloads import Stored


class ArtifactStore(Protocol):
    """Bodies by (project, sha256). `project` is the encoded id of `domain.contracts.ids`.

    Raises `MalformedId` for a project or hash of another form, `ArtifactsUnavailable` where the store does not answer.
    Putting what is there already changes nothing and heals a damaged body where the store may write over it.
    """

    async def put(self, project: str, body: bytes) -> str:
        """Keep `body` and give its hex sha256; it is durable when this returns."""
        ...

    async def put_stream(self, project: str, chunks: Iterable[bytes]) -> Stored:
        """Keep what `chunks` yields, in bounded memory; the iterable may block, it is drawn outside the event loop."""
        ...

    async def get(self, project: str, sha256: str) -> bytes:
        """The body. Raises `ArtifactMissing` when it is not there or no longer has this hash."""
        ...

    def open_stream(self, project: str, sha256: str) -> AbstractAsyncContextManager[BinaryIO]:
        """The body as a seekable file at its start, for reading in bounded memory; verified before it is handed out.

        Raises `ArtifactMissing` on entering when it is not there or no longer has this hash. Reads of the file block.
        """
        ...

    async def exists(self, project: str, sha256: str) -> bool:
        """Whether a body of this hash is there (its content is not read)."""
        ...


class IncomingStore(ArtifactStore, Protocol):
    """Files on their way into the journal, kept as they are until they were read. No event refers to one."""

    async def discard(self, project: str, sha256: str) -> None:
        """Forget a body; one that is not there is forgotten already."""
        ...
