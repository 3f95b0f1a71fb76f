"""The installation's key: 32 random bytes made once and kept as hexadecimal digits.

Secrets' fingerprints and origin hashes are computed under it.

A key that exists is never replaced: what was hashed under it could not be compared any more.
"""

import os
import secrets
from pathlib import Path

from stack.folders import private

KEY_BYTES = 32


def key_path(home: Path) -> Path:
    return home / "keys" / "installation.key"


def ensure_installation_key(home: Path) -> Path:
    """The path of the key file, made when missing; two processes that make it at once end with one key."""
    path = key_path(home)
    if path.exists():
        return path
    private(path.parent)
    unfinished = path.with_name(f"{path.name}.{os.getpid()}")
    handle = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with open(handle, "w", encoding="ascii") as file:
        file.write(secrets.token_hex(KEY_BYTES) + "\n")
        file.flush()
        os.fsync(file.fileno())
    try:
        os.link(unfinished, path)
    except FileExistsError:
        pass
    finally:
        unfinished.unlink()
    return path
