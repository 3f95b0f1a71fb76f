"""Folders of a home: private to the user who runs the stack, whatever the umask.

A folder that exists keeps its mode: whoever opened it further meant to.
"""

from pathlib import Path


def private(home: Path, *names: str) -> Path:
    """The folder `home/names...`, made with everything above it that is missing; what is made is closed to others."""
    folder = home.joinpath(*names)
    missing = [place for place in (folder, *folder.parents) if not place.exists()]
    for place in reversed(missing):
        place.mkdir(mode=0o700, exist_ok=True)
    return folder
