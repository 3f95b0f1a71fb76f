"""The folder that a command may write to, and the folders of the host that none may hold.

A workspace is shown at its own path, so that what a command prints names the same files outside.
"""

import os
import pwd
import sys
from dataclasses import dataclass
from pathlib import Path

from domain.contracts.errors import CommandRefused, PathRefused

SYSTEM = tuple(
    Path(name) for name in ("/bin", "/boot", "/dev", "/etc", "/lib", "/lib64", "/proc", "/run", "/sbin", "/sys", "/usr")
)
SOURCES = (Path("/usr/src"), Path("/usr/local/src"))  # where images put a program's own tree
SHARED = (Path("/tmp"), Path("/var/tmp"), Path("/home"))  # folders of everybody
APPLICATION = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Workspace:
    """A declared working tree: an absolute path without symbolic links."""

    root: Path

    @classmethod
    def at(cls, path: Path) -> "Workspace":
        """The workspace at `path`, whose links are followed now and never again. Raises PathRefused."""
        try:
            root = path.resolve(strict=True)
        except (OSError, RuntimeError, ValueError) as error:
            raise PathRefused(f"there is no workspace at {path} ({error}).") from None
        workspace = cls(root)
        workspace.check(())
        return workspace

    def check(self, closed: tuple[Path, ...]) -> None:
        """Raises PathRefused when the folder is gone, is a link now, or would open what must stay closed."""
        if not self.root.is_dir():
            raise PathRefused(f"the workspace {self.root} is no folder.")
        if Path(os.path.realpath(self.root)) != self.root:
            raise PathRefused(f"a part of the workspace's path {self.root} is a symbolic link now.")
        if not any(_within(self.root, sources) for sources in SOURCES):
            refuse_system(self.root, SYSTEM)
        for shared in SHARED:
            if _within(shared, self.root):
                raise PathRefused(f"{self.root} holds {shared}, which belongs to everybody; choose a folder below it.")
        refuse_exposure(self.root, closed)
        for own in (APPLICATION, *interpreter_roots()):
            if _within(own, self.root) or (own != APPLICATION and _within(self.root, own)):
                raise PathRefused(
                    f"the workspace {self.root} holds {own}, with which this worker runs; choose another folder, or a copy."
                )


def refuse_system(path: Path, folders: tuple[Path, ...]) -> None:
    """Raises PathRefused when `path` holds or is part of one of the system's folders."""
    for system in folders:
        if _within(path, system) or _within(system, path):
            raise PathRefused(f"{path} holds, or is part of, the system folder {system}; choose a folder of your own.")


def refuse_exposure(path: Path, closed: tuple[Path, ...]) -> None:
    """Raises PathRefused when showing `path` would show a whole home or anything of a closed folder."""
    for home in homes():
        if _within(home, path):
            raise PathRefused(
                f"{path} holds the home folder {home} and the credentials in it; choose a folder below it."
            )
    for one in closed:
        if _within(one, path) or _within(path, one):
            raise PathRefused(f"{path} holds, or is part of, {one}, which no command may see; choose another folder.")


def _within(path: Path, folder: Path) -> bool:
    """Whether `path` is `folder` or below it."""
    return path == folder or folder in path.parents


def homes() -> tuple[Path, ...]:
    """The home folder of the account this process runs as, when it has one beside `/`."""
    try:
        named = Path(pwd.getpwuid(os.geteuid()).pw_dir)
    except KeyError:
        return ()
    return tuple(dict.fromkeys(home for home in (named, Path(os.path.realpath(named))) if home != Path("/")))


def interpreter_roots() -> tuple[Path, ...]:
    """Where this interpreter and its packages stand, outermost first, without what lies below /usr.

    Raises CommandRefused when one of them is a home folder or `/`: showing it would show everything.
    """
    found: list[Path] = []
    for name in (sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix):
        for place in (Path(name), Path(os.path.realpath(name))):
            if not _within(place, Path("/usr")) and place not in found:
                found.append(place)
    for place in found:
        if place == Path("/") or any(_within(home, place) for home in homes()):
            raise CommandRefused(
                f"the interpreter stands in {place} itself; make a virtual environment in a folder below."
            )
    return tuple(sorted(found, key=lambda place: len(place.parts)))
