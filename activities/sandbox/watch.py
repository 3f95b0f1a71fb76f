"""The second wall around processes, memory and disk: what limits of single processes cannot hold is counted and ended.

Root is exempt from the kernel's limit of processes, and no limit of one process bounds the sum of many.
"""

import os
from collections.abc import Iterator
from pathlib import Path

from activities.sandbox.policy import Killed, Limits

PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
OWN_PROCESSES = 1  # bubblewrap's process 1


def breach(first: int, limits: Limits, workspace: Path) -> Killed | None:
    """The limit that the processes from `first` on are over now, or None."""
    tasks = resident = 0
    for pid in _descendants(first):
        tasks += _tasks(pid)
        if tasks > limits.processes + OWN_PROCESSES:
            return "processes"
        resident += _own_bytes(pid)
        if resident > limits.memory_bytes:
            return "memory"
    disk = os.statvfs(workspace)
    return "disk" if disk.f_bavail * disk.f_frsize < limits.free_disk_bytes else None


def _descendants(first: int) -> Iterator[int]:
    """Process ids from `first` down; one that ends meanwhile is left out, with what it had started."""
    waiting = [first]
    while waiting:
        pid = waiting.pop()
        yield pid
        try:
            for task in os.listdir(f"/proc/{pid}/task"):
                waiting += map(int, Path(f"/proc/{pid}/task/{task}/children").read_text(encoding="ascii").split())
        except OSError:
            continue


def _tasks(pid: int) -> int:
    try:
        return len(os.listdir(f"/proc/{pid}/task"))
    except OSError:
        return 0


def _own_bytes(pid: int) -> int:
    """Resident memory that is no file's: what the process itself filled, shared with its children or not."""
    try:
        fields = Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()
    except OSError:
        return 0
    return max(0, int(fields[1]) - int(fields[2])) * PAGE_BYTES
