"""Bodies as files, `<root>/<project>/<first two digits>/<sha256>`.

Before `put` answers, a body is written aside, synced, renamed into place and its folders synced: a power cut leaves it
whole or absent.
"""

import asyncio
import hashlib
import os
import uuid
from collections.abc import AsyncGenerator, Generator, Iterable
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import BinaryIO

from client.artifacts.keys import checked_hash, checked_project, damaged, hash_of, missing
from domain.contracts.errors import ArtifactMissing, ArtifactsUnavailable
from domain.contracts.payloads import Stored

# `.` and `..` are plain project ids; no encoded id holds %2E, so these names belong to nobody else.
_FOLDERS = {".": "%2E", "..": "%2E%2E"}


class FolderArtifactStore:
    """The store under the folder `root`, which is made when first written to; several processes may use it at once."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._durable: set[Path] = set()

    async def put(self, project: str, body: bytes) -> str:
        """Keep `body`; see `ArtifactStore.put`."""
        return await asyncio.to_thread(self._put, project, body)

    async def put_stream(self, project: str, chunks: Iterable[bytes]) -> Stored:
        """Keep a stream; see `ArtifactStore.put_stream`."""
        return await asyncio.to_thread(self._write, project, chunks)

    async def get(self, project: str, sha256: str) -> bytes:
        """The body; see `ArtifactStore.get`."""
        return await asyncio.to_thread(self._read, project, sha256)

    @asynccontextmanager
    async def open_stream(self, project: str, sha256: str) -> AsyncGenerator[BinaryIO]:
        """The body as a file; see `ArtifactStore.open_stream`."""
        file = await asyncio.to_thread(self._open, project, sha256)
        try:
            yield file
        finally:
            file.close()

    async def exists(self, project: str, sha256: str) -> bool:
        """Whether it is there; see `ArtifactStore.exists`."""
        return await asyncio.to_thread(self._path(project, sha256).is_file)

    async def discard(self, project: str, sha256: str) -> None:
        """Forget a body; one that is not there is forgotten already. Never of the store that events refer to."""
        path = self._path(project, sha256)
        await asyncio.to_thread(path.unlink, missing_ok=True)

    def _path(self, project: str, sha256: str) -> Path:
        return self._folder(project) / checked_hash(sha256)[:2] / sha256

    def _folder(self, project: str) -> Path:
        return self._root / _FOLDERS.get(checked_project(project), project)

    def _put(self, project: str, body: bytes) -> str:
        sha256 = hashlib.sha256(body).hexdigest()
        try:
            self._read(project, sha256)
        except ArtifactMissing:
            return self._write(project, [body]).sha256
        with self._writing():
            # whoever renamed it into place may not have synced the folders yet
            self._make(self._path(project, sha256).parent)
            _sync(self._path(project, sha256).parent)
        return sha256

    def _write(self, project: str, chunks: Iterable[bytes]) -> Stored:
        folder = self._folder(project)
        aside = folder / f".{uuid.uuid4().hex}.part"
        with self._writing():
            self._make(folder)
        try:
            stored = self._write_synced(aside, chunks)
            target = self._path(project, stored.sha256)
            with self._writing():
                self._make(target.parent)
                aside.replace(target)
                _sync(target.parent)
        finally:
            aside.unlink(missing_ok=True)
        return stored

    def _write_synced(self, path: Path, chunks: Iterable[bytes]) -> Stored:
        sha, size = hashlib.sha256(), 0
        with self._writing():
            file = path.open("xb")
        with file:
            for chunk in chunks:
                sha.update(chunk)
                with self._writing():
                    size += file.write(chunk)
            with self._writing():
                file.flush()
                os.fsync(file.fileno())
        return Stored(sha.hexdigest(), size)

    def _make(self, folder: Path) -> None:
        """Make `folder` and every missing parent, each durable in its own parent; once per folder and process."""
        if folder in self._durable and folder.is_dir():
            return
        if folder != self._root:
            self._make(folder.parent)
        folder.mkdir(parents=folder == self._root, exist_ok=True)
        _sync(folder.parent)
        self._durable.add(folder)

    def _read(self, project: str, sha256: str) -> bytes:
        with self._reading(project, sha256):
            body = self._path(project, sha256).read_bytes()
        if hashlib.sha256(body).hexdigest() != sha256:
            raise damaged(project, sha256)
        return body

    def _open(self, project: str, sha256: str) -> BinaryIO:
        with self._reading(project, sha256):
            file = self._path(project, sha256).open("rb")
        with self._reading(project, sha256):
            if hash_of(file) != sha256:
                file.close()
                raise damaged(project, sha256)
            file.seek(0)
        return file

    @contextmanager
    def _writing(self) -> Generator[None]:
        try:
            yield
        except OSError as error:
            raise ArtifactsUnavailable(
                f"The folder {self._root} cannot be written: {error.strerror or error}."
            ) from error

    @contextmanager
    def _reading(self, project: str, sha256: str) -> Generator[None]:
        try:
            yield
        except FileNotFoundError:
            raise missing(project, sha256) from None
        except OSError as error:
            raise ArtifactsUnavailable(f"The folder {self._root} cannot be read: {error.strerror or error}.") from error


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
