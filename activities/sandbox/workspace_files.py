"""The file tools of an agent: read, write and list in a workspace, never outside it and never more than was asked for.

Only regular files are read and written. A file is replaced whole or not at all, and is on disk when `write` returns.
"""

import heapq
import os
import secrets
import stat
from dataclasses import dataclass
from typing import Literal

from activities.sandbox.beneath import Beneath, Place, kind_of, reopen, shown
from activities.sandbox.workspace import Workspace
from domain.contracts.errors import PathRefused, PayloadTooLarge

MIB = 1024 * 1024
MAX_READ_BYTES = 1 * MIB
MAX_OFFSET = 2**62  # beyond every file system's largest file
MAX_WRITE_BYTES = 8 * MIB
MAX_ENTRIES = 1000
MAX_SCANNED = 100_000
PERMISSIONS = 0o777  # what is kept of a replaced file's mode: no set-user-id
NEW_FILE = 0o666

Kind = Literal["file", "folder", "link", "other"]


@dataclass(frozen=True)
class FileRead:
    """A part of a file, from `offset` on."""

    content: bytes
    offset: int
    size_bytes: int  # of the whole file, when it was opened

    @property
    def truncated(self) -> bool:
        """Whether the file goes on after this part."""
        return self.offset + len(self.content) < self.size_bytes


@dataclass(frozen=True)
class FileWritten:
    """What a write did."""

    size_bytes: int
    created: bool  # False = an older file was replaced


@dataclass(frozen=True)
class Entry:
    """One name in a folder; what is not UTF-8 in it is escaped."""

    name: str
    kind: Kind
    size_bytes: int | None  # of files only


@dataclass(frozen=True)
class Listing:
    """The names of a folder, ordered; the first ones when there are more than were asked for."""

    entries: tuple[Entry, ...]
    left_out: int
    complete: bool  # False = the folder holds more names than were looked at


class WorkspaceFiles:
    """The files of one workspace. Every method raises PathRefused for a path that cannot be used."""

    def __init__(self, workspace: Workspace) -> None:
        self._root = workspace.root

    def read(self, path: str, *, offset: int = 0, max_bytes: int = MAX_READ_BYTES) -> FileRead:
        """At most `max_bytes` (and at most 1 MiB) of a file."""
        if not 0 <= offset <= MAX_OFFSET or max_bytes < 1:
            raise PathRefused(
                f"a read of {max_bytes} bytes from {offset} on is none; offset is 0 or more, max_bytes 1 or more."
            )
        with Beneath(self._root) as beneath:
            descriptor = self._open_file(path, beneath.find(path))
            try:
                size = os.fstat(descriptor).st_size
                content = _read(descriptor, offset, min(max_bytes, MAX_READ_BYTES))
            except OSError as error:
                raise PathRefused(f"{shown(path)} cannot be read ({error.strerror}).") from error
            finally:
                os.close(descriptor)
        return FileRead(content, offset, max(size, offset + len(content)) if content else size)

    def write(self, path: str, content: bytes) -> FileWritten:
        """Makes `content` the whole of a file, and the folders above it. Raises PayloadTooLarge over 8 MiB."""
        if len(content) > MAX_WRITE_BYTES:
            raise PayloadTooLarge(f"{len(content)} bytes for {shown(path)}, and {MAX_WRITE_BYTES} are the most.")
        with Beneath(self._root) as beneath:
            place = beneath.find(path, make_folders=True)
            before = self._replaceable(path, place)
            try:
                _replace(place, content, before)
            except OSError as error:
                raise PathRefused(f"{shown(path)} cannot be written ({error.strerror}).") from error
        return FileWritten(len(content), before is None)

    def list(self, path: str = ".", *, max_entries: int = MAX_ENTRIES) -> Listing:
        """The names in a folder, at most `max_entries` (and at most 1,000) of them."""
        if max_entries < 1:
            raise PathRefused(f"a listing of {max_entries} names is none; max_entries is 1 or more.")
        with Beneath(self._root) as beneath:
            descriptor = self._open_folder(path, beneath.find(path))
            try:
                return _listing(descriptor, min(max_entries, MAX_ENTRIES))
            except OSError as error:
                raise PathRefused(f"{shown(path)} cannot be listed ({error.strerror}).") from error
            finally:
                os.close(descriptor)

    def check_folder(self, path: str) -> None:
        """Raises PathRefused when `path` is no folder of the workspace."""
        with Beneath(self._root) as beneath:
            os.close(self._open_folder(path, beneath.find(path)))

    def _open_file(self, path: str, place: Place) -> int:
        if place.target is None:
            raise PathRefused(f"{shown(path)} does not exist.")
        mode = os.fstat(place.target).st_mode
        if not stat.S_ISREG(mode):
            raise PathRefused(f"{shown(path)} is {kind_of(mode)} and no file.")
        try:
            return reopen(place.target, os.O_RDONLY | os.O_NONBLOCK)
        except OSError as error:
            raise PathRefused(f"{shown(path)} cannot be read ({error.strerror}).") from error

    def _open_folder(self, path: str, place: Place) -> int:
        if place.target is None:
            raise PathRefused(f"{shown(path)} does not exist.")
        mode = os.fstat(place.target).st_mode
        if not stat.S_ISDIR(mode):
            raise PathRefused(f"{shown(path)} is {kind_of(mode)} and no folder.")
        try:
            return reopen(place.target, os.O_RDONLY | os.O_DIRECTORY)
        except OSError as error:
            raise PathRefused(f"{shown(path)} cannot be listed ({error.strerror}).") from error

    def _replaceable(self, path: str, place: Place) -> os.stat_result | None:
        if place.target is None:
            return None
        before = os.fstat(place.target)
        if not stat.S_ISREG(before.st_mode):
            raise PathRefused(f"{shown(path)} is {kind_of(before.st_mode)} and no file.")
        if before.st_nlink > 1:
            raise PathRefused(
                f"{shown(path)} has {before.st_nlink} names (hard links), and one may be outside the workspace; "
                "remove it and write a new file."
            )
        return before


def _read(descriptor: int, offset: int, most: int) -> bytes:
    parts: list[bytes] = []
    while most > 0 and (part := os.pread(descriptor, most, offset)):
        parts.append(part)
        offset += len(part)
        most -= len(part)
    return b"".join(parts)


def _replace(place: Place, content: bytes, before: os.stat_result | None) -> None:
    """Writes a file of another name beside it and renames: a reader sees the old content or the new. Raises OSError."""
    aside = f".{secrets.token_hex(12)}.part"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(aside, flags, NEW_FILE, dir_fd=place.folder)
    try:
        try:
            rest = memoryview(content)
            while rest:
                rest = rest[os.write(descriptor, rest) :]
            owner = before or os.fstat(place.folder)
            if os.geteuid() == 0:
                os.fchown(descriptor, owner.st_uid, owner.st_gid)
            if before is not None:
                os.fchmod(descriptor, before.st_mode & PERMISSIONS)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        os.rename(aside, place.name, src_dir_fd=place.folder, dst_dir_fd=place.folder)
    except OSError:
        os.unlink(aside, dir_fd=place.folder)
        raise
    folder = reopen(place.folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _listing(descriptor: int, most: int) -> Listing:
    seen = 0
    complete = True

    with os.scandir(descriptor) as found:
        names: list[os.DirEntry[str]] = []
        for entry in found:
            if seen == MAX_SCANNED:
                complete = False
                break
            seen += 1
            names.append(entry)
        first = heapq.nsmallest(most, names, key=lambda entry: os.fsencode(entry.name))
        entries = tuple(_entry(entry) for entry in first)
    return Listing(entries, seen - len(entries), complete)


def _entry(entry: "os.DirEntry[str]") -> Entry:
    name = os.fsencode(entry.name).decode("utf-8", "backslashreplace")
    if entry.is_symlink():
        return Entry(name, "link", None)
    if entry.is_dir(follow_symlinks=False):
        return Entry(name, "folder", None)
    if not entry.is_file(follow_symlinks=False):
        return Entry(name, "other", None)
    try:
        return Entry(name, "file", entry.stat(follow_symlinks=False).st_size)
    except FileNotFoundError:
        return Entry(name, "file", None)
