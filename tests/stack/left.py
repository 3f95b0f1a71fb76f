"""Looks for what a stack left running, by folders and command lines alone, as an onlooker would."""

import os
import time
from collections.abc import Callable
from pathlib import Path


def processes_of(home: Path) -> list[str]:
    """`pid command` of each process, other than this one, that works in the home or names it."""
    found: list[str] = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            words = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            here = os.readlink(entry / "cwd")
        except OSError:
            continue
        if str(home) in words or here.startswith(str(home)):
            found.append(f"{entry.name} {words}")
    return found


def soon(holds: Callable[[], bool], seconds: float = 10.0) -> bool:
    """True as soon as the condition holds, False when it does not within the seconds."""
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True
