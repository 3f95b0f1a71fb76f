"""The servers' log files under `home/logs`: private, bounded by one older copy, and quoted in errors.

A server writes until its next start, so a file is moved aside only between starts.
"""

from pathlib import Path

from stack.folders import private

KEPT_BYTES = 16 * 1024 * 1024
QUOTED_LINES = 4


def log_file(home: Path, name: str) -> Path:
    """The path of the log; one that grew beyond 16 MiB becomes `<name>.log.1` first."""
    path = private(home, "logs") / f"{name}.log"
    if size_of(path) > KEPT_BYTES:
        path.replace(path.with_suffix(".log.1"))
    return path


def size_of(path: Path) -> int:
    """Bytes in the file, 0 where there is none."""
    return path.stat().st_size if path.exists() else 0


def said_since(path: Path, offset: int) -> str:
    """The last lines written after the offset, in one line."""
    with path.open("rb") as file:
        file.seek(offset)
        lines = file.read().decode("utf-8", errors="replace").splitlines()
    return " / ".join(line.strip() for line in lines[-QUOTED_LINES:] if line.strip())
