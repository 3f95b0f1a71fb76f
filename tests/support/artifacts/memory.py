"""A fake artifact store: bodies in a dictionary, the same answers and errors as the real ones.

It keeps law 5 (by project and hash) and re-hashes on reading; it is not durable and knows no other process.
"""

import hashlib
import io
from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager
from typing import BinaryIO

from client.artifacts.keys import checked_hash, checked_project, damaged, missing
from domain.contracts.payloads import Stored


class MemoryArtifactStore:
    """`bodies` is open to tests: read it to see what was kept, change it to plant damage."""

    def __init__(self) -> None:
        self.bodies: dict[tuple[str, str], bytes] = {}

    async def put(self, project: str, body: bytes) -> str:
        sha256 = hashlib.sha256(body).hexdigest()
        self.bodies[checked_project(project), sha256] = bytes(body)
        return sha256

    async def put_stream(self, project: str, chunks: Iterable[bytes]) -> Stored:
        body = b"".join(chunks)
        return Stored(await self.put(project, body), len(body))

    async def get(self, project: str, sha256: str) -> bytes:
        body = self.bodies.get((checked_project(project), checked_hash(sha256)))
        if body is None:
            raise missing(project, sha256)
        if hashlib.sha256(body).hexdigest() != sha256:
            raise damaged(project, sha256)
        return body

    @asynccontextmanager
    async def open_stream(self, project: str, sha256: str) -> AsyncGenerator[BinaryIO]:
        with io.BytesIO(await self.get(project, sha256)) as file:
            yield file

    async def exists(self, project: str, sha256: str) -> bool:
        return (checked_project(project), checked_hash(sha256)) in self.bodies
