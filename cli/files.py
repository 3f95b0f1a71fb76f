"""The files a user means: those named, and those of the folders named, in order.

Hidden files and folders of a folder are left out, and a folder is entered once, however links lead to it.
"""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path


class NoSuchPath(Exception):
    """A path does not exist or cannot be read."""


@dataclass(frozen=True, slots=True)
class Found:
    """A file and the name it is listed under: as the user would find it from where they stand."""

    path: Path
    name: str
    refused: str | None = None  # why it cannot be read


def walk(paths: Sequence[Path]) -> list[Found]:
    """Every file meant by `paths`, each once. Raises `NoSuchPath` for a path that is not there."""
    found: dict[tuple[int, int] | str, Found] = {}
    for path in paths:
        if not os.path.lexists(path):
            raise NoSuchPath(f"There is no file or folder `{path}`.")
        for item in _under(path, set()) if path.is_dir() else [_file(path)]:
            found.setdefault(_identity(item), item)
    return list(found.values())


def _under(folder: Path, entered: set[tuple[int, int]]) -> Iterator[Found]:
    try:
        told = folder.stat()
        if (told.st_dev, told.st_ino) in entered:
            return
        entered.add((told.st_dev, told.st_ino))
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError as error:
        yield Found(folder, str(folder), f"the folder cannot be read ({error.strerror})")
        return
    for entry in entries:
        if entry.name.startswith("."):
            continue
        path = Path(entry.path)
        yield from _under(path, entered) if path.is_dir() else [_file(path)]


def _file(path: Path) -> Found:
    if not path.exists():
        return Found(path, str(path), "the link leads nowhere")
    if not path.is_file():
        return Found(path, str(path), "it is no regular file")
    return Found(path, str(path))


def _identity(item: Found) -> tuple[int, int] | str:
    """Two paths to one file are one file; hard links and copies are told apart by nobody, and are listed as copies."""
    return os.path.realpath(item.path) if item.refused is None else item.name
