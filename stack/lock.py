"""A lock on a folder that dies with its owner, however the owner ends.

Two owners of one folder are refused at the door; a lock left by a killed owner never blocks.
"""

import fcntl
import os
from pathlib import Path

from stack.errors import AlreadyRunning


class FolderLock:
    """An exclusive lock held by this process through an open file."""

    def __init__(self, path: Path, home: Path) -> None:
        self._path = path
        self._home = home
        self._handle: int | None = None

    @property
    def held(self) -> bool:
        return self._handle is not None

    def acquire(self) -> None:
        """Takes the lock; taking it twice is harmless. Raises AlreadyRunning with the owner's pid."""
        if self._handle is not None:
            return
        handle = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            owner = os.pread(handle, 32, 0).decode("ascii", errors="replace").strip()
            os.close(handle)
            raise AlreadyRunning(self._home, int(owner) if owner.isdigit() else None) from None
        os.ftruncate(handle, 0)
        os.pwrite(handle, f"{os.getpid()}\n".encode(), 0)
        self._handle = handle

    def release(self) -> None:
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None
