"""Processes named so that a recycled pid is never mistaken for one of ours, and ways to start and end them.

A pid alone names nothing: every signal goes to (pid, start time), checked while a pidfd holds the process.
"""

import json
import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from stack import launch as launcher
from stack.errors import NotInMainThread

POLL_SECONDS = 0.02
# Servers get nothing of the caller's environment: PG* and TEMPORAL_* variables would change what they do.
BARE_ENVIRONMENT: Mapping[str, str] = {"PATH": os.defpath, "LC_ALL": "C", "TZ": "UTC"}


@dataclass(frozen=True)
class ProcessMark:
    """One process of this boot: its pid and when it started."""

    pid: int
    started: str  # "<boot id>:<clock ticks since boot>"


@dataclass(frozen=True)
class RunAs:
    """Whose identity a server takes. Both None = the caller's own."""

    namespace: tuple[int, int] | None = None  # uid and gid inside a new user namespace
    user: tuple[int, int] | None = None  # uid and gid to switch to for good


@dataclass(frozen=True)
class Launch:
    """What to start and how."""

    argv: tuple[str, ...]
    cwd: Path
    log: Path | None  # stdout and stderr are appended; None = the caller's
    environment: Mapping[str, str] | None = field(default_factory=lambda: BARE_ENVIRONMENT)  # None = the caller's
    run_as: RunAs = RunAs()
    death_signal: signal.Signals | None = None  # sent to the child when this process ends


def command_line(request: Launch) -> list[str]:
    """The launcher's argv for a request."""
    instructions = {
        "namespace": request.run_as.namespace,
        "user": request.run_as.user,
        "parent": os.getpid(),
        "death_signal": None if request.death_signal is None else int(request.death_signal),
    }
    return [sys.executable, "-I", "-S", launcher.__file__, json.dumps(instructions), *request.argv]


def start(request: Launch) -> subprocess.Popen[bytes]:
    """Starts a server in a session of its own; the pid is the server's. Raises NotInMainThread, OSError."""
    if request.death_signal is not None and threading.current_thread() is not threading.main_thread():
        raise NotInMainThread()
    log = None if request.log is None else open(request.log, "ab", opener=_open_private)  # noqa: SIM115
    try:
        return subprocess.Popen(
            command_line(request),
            cwd=request.cwd,
            env=None if request.environment is None else dict(request.environment),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    finally:
        if log is not None:
            log.close()


def run(request: Launch, timeout_seconds: float) -> subprocess.CompletedProcess[str]:
    """Runs a program to its end and gives what it printed, stderr within stdout."""
    return subprocess.run(
        command_line(request),
        cwd=request.cwd,
        env=None if request.environment is None else dict(request.environment),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        timeout=timeout_seconds,
        check=False,
    )


def mark_of(pid: int) -> ProcessMark | None:
    """The mark of a living process, or None where there is none (a zombie counts as ended)."""
    stat = _stat(pid)
    if stat is None or stat[1] in "ZX":
        return None
    return ProcessMark(pid=pid, started=f"{_boot_id()}:{stat[2]}")


def is_alive(mark: ProcessMark) -> bool:
    return mark_of(mark.pid) == mark


def send(mark: ProcessMark, what: signal.Signals) -> bool:
    """Signals exactly this process; False when it has ended, whoever has its pid now."""
    try:
        handle = os.pidfd_open(mark.pid)
    except ProcessLookupError:
        return False
    try:
        if not is_alive(mark):
            return False
        signal.pidfd_send_signal(handle, what)
        return True
    except ProcessLookupError:
        return False
    finally:
        os.close(handle)


def wait_end(mark: ProcessMark, seconds: float) -> bool:
    """True as soon as the process has ended, False when it still lives after `seconds`."""
    deadline = time.monotonic() + seconds
    try:
        handle = os.pidfd_open(mark.pid)
    except ProcessLookupError:
        return True
    try:
        while is_alive(mark):
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            select.select([handle], [], [], left)
        return True
    finally:
        os.close(handle)


def end(mark: ProcessMark, steps: Sequence[tuple[signal.Signals, float]]) -> bool:
    """Sends each signal and waits its seconds, then SIGKILL; True when the process ended before SIGKILL."""
    for what, seconds in steps:
        if not send(mark, what) or wait_end(mark, seconds):
            return True
    send(mark, signal.SIGKILL)
    wait_end(mark, 10.0)
    return False


def processes_in(folder: Path, program: str) -> list[ProcessMark]:
    """Every living process called `program` whose working folder is exactly `folder`."""
    found: list[ProcessMark] = []
    wanted = os.path.realpath(folder)
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        stat = _stat(int(entry))
        if stat is None or stat[0] != program:
            continue
        try:
            here = os.readlink(f"/proc/{entry}/cwd")
        except OSError:
            continue
        mark = mark_of(int(entry))
        if here == wanted and mark is not None:
            found.append(mark)
    return found


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _boot_id() -> str:
    return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()


def _stat(pid: int) -> tuple[str, str, str] | None:
    """Name, state and start tick of a process; the name may hold blanks and brackets, so it is cut at the last one."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return None
    head, _, tail = text.rpartition(")")
    fields = tail.split()
    return head.partition("(")[2], fields[0], fields[19]
