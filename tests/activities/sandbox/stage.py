"""The host as an attempt meets it: secrets, sockets and processes that are really there, so that not reaching them counts.

Everything is made below one folder and ended with it; `facts` is what an attempt is told, which is more than it could know.
"""

import ctypes
import os
import pwd
import secrets
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from activities.sandbox import Sandbox, Workspace

ENV_SECRET = "TEMPORALITY_TEST_SECRET"


@dataclass(frozen=True)
class Stage:
    """One host with a sandbox on it."""

    sandbox: Sandbox
    workspace: Workspace
    secret: str  # lies in every place that must not be reached
    victim: subprocess.Popen[bytes]  # a process of the same account
    facts: dict[str, object]

    @property
    def outside(self) -> Path:
        return self.workspace.root.parent / "outside"


@contextmanager
def stage(folder: Path) -> Iterator[Stage]:
    """Sets the host up below `folder`, which exists and is empty."""
    secret = f"secret-{secrets.token_hex(12)}"
    folder = folder.resolve()
    outside, workspace, installation = folder / "outside", folder / "workspace", folder / ".temporality"
    for place in (outside, workspace, installation, folder / "home" / ".ssh"):
        place.mkdir(parents=True)
    for place in (outside / "secret", installation / "key", folder / "home" / ".ssh" / "id_ed25519"):
        place.write_text(secret)
    (workspace / "own").write_text("mine")
    (workspace / "to-secret").symlink_to(outside / "secret")
    (workspace / "to-outside").symlink_to(outside)
    shared_memory = Path(f"/dev/shm/temporality-{secrets.token_hex(6)}")
    shared_memory.write_text(secret)
    kept = ctypes.create_string_buffer(secret.encode())
    account = pwd.getpwuid(os.geteuid())
    with ExitStack() as stack:
        stack.callback(shared_memory.unlink)
        listener = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        by_path = stack.enter_context(_listening(str(outside / "socket")))
        abstract = stack.enter_context(_listening("\0temporality-" + secrets.token_hex(6)))
        victim = stack.enter_context(subprocess.Popen(["sleep", "600"]))
        stack.callback(victim.kill)
        leaked = os.open(outside / "secret", os.O_RDONLY)
        stack.callback(os.close, leaked)
        os.set_inheritable(leaked, True)
        before = os.environ.get(ENV_SECRET)
        os.environ[ENV_SECRET] = secret
        stack.callback(lambda: os.environ.pop(ENV_SECRET) if before is None else None)
        prefix = os.path.realpath(sys.base_prefix)
        facts: dict[str, object] = {
            "outside": str(outside),
            "workspace": str(workspace),
            "installation": str(installation),
            "ssh": str(folder / "home" / ".ssh"),
            "home": account.pw_dir,
            "home_names": sorted(n for n in os.listdir(account.pw_dir) if n != _first_below(prefix, account.pw_dir)),
            "shared_memory": str(shared_memory),
            "port": listener.getsockname()[1],
            "socket": by_path.getsockname(),
            "abstract": abstract.getsockname()[1:].decode(),
            "worker": os.getpid(),
            "victim": victim.pid,
            "address": ctypes.addressof(kept),
            "prefix": sys.prefix,
            "base_prefix": prefix,
        }
        yield Stage(Sandbox.find(closed=(installation,)), Workspace.at(workspace), secret, victim, facts)


def _listening(name: str) -> socket.socket:
    made = socket.socket(socket.AF_UNIX)
    made.bind(name)
    made.listen()
    return made


def _first_below(path: str, folder: str) -> str | None:
    """The first part of `path` below `folder`; None when it is elsewhere."""
    try:
        return Path(path).relative_to(folder).parts[0]
    except (ValueError, IndexError):
        return None
