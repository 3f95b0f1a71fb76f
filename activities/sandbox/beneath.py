"""Paths that cannot leave a folder, whatever is moved or linked while they are walked.

Every part is opened by the descriptor of the folder before it and never by a longer path; links are read from the
descriptor that was judged and walked the same way.
"""

import os
import stat
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from domain.contracts.errors import PathRefused

MAX_PATH_BYTES = 4096
MAX_NAME_BYTES = 255
MAX_LINKS = 40
MAX_PARTS = 256  # folders and links opened by one walk
LOOK = os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC
KINDS = (
    (stat.S_ISREG, "a file"),
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISLNK, "a link"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


@dataclass(frozen=True)
class Place:
    """Where a path leads: a name in an open folder. The descriptors belong to the `Beneath` that found it."""

    folder: int
    name: str  # "." when the path is the root itself
    target: int | None  # opened O_PATH, never a link; None = nothing has this name


class Beneath:
    """A walk below one folder; a context manager that closes what it opened."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._open: list[int] = []
        self._stack: list[int] = []

    def __enter__(self) -> "Beneath":
        if Path(os.path.realpath(self._root)) != self._root:
            raise PathRefused(f"a part of the workspace's path {self._root} is a symbolic link now.")
        try:
            self._stack.append(self._kept(os.open(self._root, LOOK | os.O_DIRECTORY)))
        except OSError as error:
            raise PathRefused(f"the workspace {self._root} cannot be opened ({error.strerror}).") from error
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for descriptor in self._open:
            os.close(descriptor)
        self._open.clear()

    def find(self, path: str, *, make_folders: bool = False) -> Place:
        """Where `path`, relative to the root, leads. Raises PathRefused; a missing last part is no error."""
        try:
            return self._walk(path, deque(parts_of(path)), make_folders)
        except OSError as error:
            raise PathRefused(f"{shown(path)}: {error.strerror}.") from error

    def _walk(self, path: str, waiting: deque[str], make_folders: bool) -> Place:
        links = 0
        place = Place(self._stack[-1], ".", self._stack[-1])
        while waiting:
            part = waiting.popleft()
            if part == "..":
                if len(self._stack) == 1:
                    raise PathRefused(f"{shown(path)} is a link that leads out of the workspace.")
                self._stack.pop()
                place = Place(self._stack[-1], ".", self._stack[-1])
                continue
            folder = self._stack[-1]
            target = self._look(folder, part)
            if target is None and waiting and make_folders:
                os.mkdir(part, dir_fd=folder)
                target = self._look(folder, part)
            if target is None:
                if waiting:
                    raise PathRefused(f"{shown(path)} does not exist: there is no folder {shown(part)}.")
                return Place(folder, part, None)
            mode = os.fstat(target).st_mode
            if stat.S_ISLNK(mode):
                links += 1
                if links > MAX_LINKS:
                    raise PathRefused(f"{shown(path)} goes through more than {MAX_LINKS} links.")
                waiting.extendleft(reversed(self._parts_of_link(path, os.readlink("", dir_fd=target))))
                place = Place(self._stack[-1], ".", self._stack[-1])
                continue
            if waiting and not stat.S_ISDIR(mode):
                raise PathRefused(f"{shown(path)} does not exist: {shown(part)} is {kind_of(mode)}.")
            if stat.S_ISDIR(mode):
                self._stack.append(target)
            place = Place(folder, part, target)
        return place

    def _parts_of_link(self, path: str, target: str) -> list[str]:
        if target.startswith("/"):
            below = Path(os.path.normpath(target))
            if below != self._root and self._root not in below.parents:
                raise PathRefused(f"{shown(path)} is a link that leads out of the workspace.")
            del self._stack[1:]
            target = str(below.relative_to(self._root))
        return [part for part in target.split("/") if part not in ("", ".")]

    def _look(self, folder: int, part: str) -> int | None:
        try:
            return self._kept(os.open(part, LOOK, dir_fd=folder))
        except FileNotFoundError:
            return None

    def _kept(self, descriptor: int) -> int:
        self._open.append(descriptor)
        if len(self._open) > MAX_PARTS:
            raise PathRefused(f"the path goes through more than {MAX_PARTS} folders and links.")
        return descriptor


def parts_of(path: str) -> list[str]:
    """The parts of a relative path, without `.`. Raises PathRefused for what leads out or is no path."""
    try:
        size = len(path.encode("utf-8"))
    except UnicodeEncodeError:
        raise PathRefused(f"{shown(path)} is no text in UTF-8.") from None
    if not path or "\0" in path:
        raise PathRefused(f"{shown(path)} is no path: it is empty or holds a NUL character.")
    if path.startswith("/"):
        raise PathRefused(f"{shown(path)} is absolute; give a path relative to the workspace.")
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if ".." in parts:
        raise PathRefused(f"{shown(path)} holds `..`; give a path relative to the workspace without it.")
    if size > MAX_PATH_BYTES or any(len(part.encode("utf-8")) > MAX_NAME_BYTES for part in parts):
        raise PathRefused(
            f"{shown(path)} is longer than {MAX_PATH_BYTES} bytes, or a part of it than {MAX_NAME_BYTES}."
        )
    return parts


def kind_of(mode: int) -> str:
    """What a file's mode says it is, in words."""
    return next((words for is_kind, words in KINDS if is_kind(mode)), "something unknown")


def reopen(descriptor: int, flags: int) -> int:
    """The very file that an O_PATH descriptor holds, opened with `flags`. Raises OSError."""
    return os.open(f"/proc/self/fd/{descriptor}", flags | os.O_CLOEXEC)


def shown(path: str) -> str:
    """A path in a sentence: quoted, escaped and short."""
    return ascii(path) if len(path) <= 200 else f"{path[:200]!a}..."
