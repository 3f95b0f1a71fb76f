"""A lock on a folder that dies with its owner, however the owner ends.

Two owners of one folder are refused at the door; a lock left by a killed owner never blocks.
"""

import fcntl
import os
from pathlib import Path

from stack.errors import AlreadyRunning
from stack.process import ProcessMark, is_alive, mark_of


class FolderLock:
    """An exclusive lock held by this process through an open file, which tells who holds it."""

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
            owner = _written(handle)
            os.close(handle)
            raise AlreadyRunning(self._home, None if owner is None else owner.pid) from None
        mine = mark_of(os.getpid())
        os.ftruncate(handle, 0)
        os.pwrite(handle, f"{os.getpid()} {mine.started if mine is not None else ''}\n".encode(), 0)
        self._handle = handle

    def release(self) -> None:
        if self._handle is not None:
            os.ftruncate(self._handle, 0)
            os.close(self._handle)
            self._handle = None

    def owner(self) -> ProcessMark | None:
        """The living process that holds the lock now, or None when it is free."""
        # Asked of what is written, not by trying the lock: a reader must never stand in an owner's way.
        try:
            handle = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC)
        except (FileNotFoundError, NotADirectoryError):
            return None
        try:
            written = _written(handle)
        finally:
            os.close(handle)
        return written if written is not None and is_alive(written) else None


def _written(handle: int) -> ProcessMark | None:
    pid, _, started = os.pread(handle, 256, 0).decode("ascii", errors="replace").strip().partition(" ")
    return ProcessMark(int(pid), started) if pid.isdigit() and started else None
