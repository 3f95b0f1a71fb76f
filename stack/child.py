"""A program of the project kept running beside the servers: the worker.

It is started again when it ends, later each time it ends soon, and it ends with the process that keeps it.
"""

import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from stack.errors import ServerDidNotStart
from stack.logs import log_file, said_since, size_of
from stack.process import Launch, ProcessMark, end, mark_of, start

FIRST_DELAY_SECONDS = 0.5
LAST_DELAY_SECONDS = 30.0
STEADY_SECONDS = 60.0  # who lived so long is started again without delay
STOP_SECONDS = 40.0  # a worker drains its activities for 30
POLL_SECONDS = 0.05


@dataclass(frozen=True)
class ChildSpec:
    """What to keep running."""

    name: str  # also the name of its log file
    argv: tuple[str, ...]
    cwd: Path
    ready_file: Path | None = None  # the program makes it when it is ready; it is removed before each start
    environment: Mapping[str, str] | None = None  # None = this process's own
    longest_delay_seconds: float = LAST_DELAY_SECONDS  # between an end and the next start


class KeptChild:
    """One program, its log under `home/logs`, and the rule for starting it again. For the main thread."""

    def __init__(self, home: Path, spec: ChildSpec) -> None:
        self.spec = spec
        self._home = home
        self._process: subprocess.Popen[bytes] | None = None
        self._started_at = 0.0
        self._again_at: float | None = None
        self._delay = FIRST_DELAY_SECONDS
        self._log_before = 0
        self.mark: ProcessMark | None = None

    def start(self) -> None:
        """Starts the program; returns at once. It gets SIGTERM when this process ends, whatever ends it."""
        log = log_file(self._home, self.spec.name)
        self._log_before = size_of(log)
        if self.spec.ready_file is not None:
            self.spec.ready_file.unlink(missing_ok=True)
        launch = Launch(self.spec.argv, self.spec.cwd, log, self.spec.environment, death_signal=signal.SIGTERM)
        self._process = start(launch)
        self.mark = mark_of(self._process.pid)
        self._started_at, self._again_at = time.monotonic(), None

    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def is_ready(self) -> bool:
        return self.is_running() and (self.spec.ready_file is None or self.spec.ready_file.exists())

    def wait_ready(self, seconds: float, cancelled: Callable[[], bool] = lambda: False) -> None:
        """Returns when the ready file is there or the wait was cancelled. Raises ServerDidNotStart."""
        deadline = time.monotonic() + seconds
        log = log_file(self._home, self.spec.name)
        while not (self.is_ready() or cancelled()):
            if not self.is_running():
                raise ServerDidNotStart(self.spec.name, said_since(log, self._log_before) or "it ended at once", log)
            if time.monotonic() > deadline:
                raise ServerDidNotStart(self.spec.name, f"not ready within {seconds:.0f} s", log)
            time.sleep(POLL_SECONDS)

    def tend(self) -> str | None:
        """To be called often: starts an ended program again when its time has come. Tells what happened."""
        if self._process is None or self.is_running():
            return None
        now = time.monotonic()
        if self._again_at is None:
            if now - self._started_at >= STEADY_SECONDS:
                self._delay = FIRST_DELAY_SECONDS
            self._again_at = now + self._delay
            how = _ending(self._process.returncode)
            told = f"The {self.spec.name} ended ({how}); starting it again in {self._delay:g} s."
            self._delay = min(self._delay * 2, self.spec.longest_delay_seconds)
            return told
        if now < self._again_at:
            return None
        self.start()
        return f"The {self.spec.name} was started again."

    def stop(self) -> None:
        """Asks the program to end, waits, then ends it."""
        if self.mark is not None:
            end(self.mark, ((signal.SIGTERM, STOP_SECONDS),))
        if self._process is not None:
            self._process.wait()
        self._process, self.mark = None, None
        if self.spec.ready_file is not None:
            self.spec.ready_file.unlink(missing_ok=True)


def python(*words: str) -> tuple[str, ...]:
    """The argv that runs this environment's Python, e.g. `python("worker.py")`."""
    return (sys.executable, *words)


def _ending(code: int | None) -> str:
    if code is None or code >= 0:
        return f"exit code {code}"
    return f"signal {signal.Signals(-code).name}"
