"""The stack of one home: Postgres, Temporal and the worker, owned by one process and told to everybody in `stack.json`.

Whoever starts a stack owns it until it stops or ends; a second owner is refused, and only processes that the stack
started are ever ended.
"""

import os
import signal
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from sys import platform

from stack import keys, record
from stack.child import ChildSpec, KeptChild
from stack.errors import AlreadyRunning, StackError, UnsupportedPlatform
from stack.folders import private
from stack.lock import FolderLock
from stack.postgres import PostgresOptions, PostgresServer
from stack.process import ProcessMark, end, is_alive, mark_of, send, wait_end
from stack.record import StackRecord
from stack.temporal import TemporalOptions, TemporalServer

DOWN_SECONDS = 120.0  # a worker drains, then Postgres writes its last checkpoint
RETRY_SECONDS = 5.0
LOCK_FILE = "stack.lock"


@dataclass(frozen=True)
class StackOptions:
    """What to run and where."""

    temporal_port: int | None = None  # None = any free port
    ui_port: int | None = None
    search_attributes: Mapping[str, str] = field(default_factory=dict[str, str])  # name -> index type
    die_with_parent: bool = False  # the servers end with this process even when it is killed; main thread only
    postgres: bool = True  # False = DATABASE_URL names a server of the user's own
    temporal: bool = True  # False = TEMPORAL_ADDRESS does
    postgres_template: Path | None = None
    ready_at_start: bool = True  # False = the owner prepares something first and then calls `announce_ready`


@dataclass(frozen=True)
class StackStatus:
    """What runs in a home now; a part that is not ours, or not there, is None."""

    home: Path
    owner: ProcessMark | None
    record: StackRecord | None
    postgres_alive: bool | None
    temporal_alive: bool | None
    worker_alive: bool | None

    @property
    def running(self) -> bool:
        """True when an owner lives, is ready, and everything it told of lives too."""
        parts = (self.postgres_alive, self.temporal_alive, self.worker_alive)
        ready = self.owner is not None and self.record is not None and self.record.ready
        return ready and all(part is not False for part in parts)

    def sentence(self) -> str:
        """The state in one sentence."""
        if self.owner is None:
            return f"No stack is running in {self.home}."
        if self.record is None or not self.record.ready:
            return f"The stack in {self.home} is starting (process {self.owner.pid})."
        parts = {"Postgres": self.postgres_alive, "Temporal": self.temporal_alive, "the worker": self.worker_alive}
        ended = " and ".join(name for name, alive in parts.items() if alive is False)
        told = f"The stack in {self.home} is running (process {self.owner.pid})"
        return f"{told}, but {ended} ended and will be started again." if ended else f"{told}."


class Stack:
    """The servers of `home`, owned by this process. Not for use from several threads at once."""

    def __init__(self, home: Path, options: StackOptions | None = None) -> None:
        self.home = Path(os.path.abspath(home))
        self._options = options or StackOptions()
        self._lock = FolderLock(self.home / LOCK_FILE, self.home)
        self._postgres = self._postgres_server() if self._options.postgres else None
        self._temporal = self._temporal_server() if self._options.temporal else None
        self._worker: KeptChild | None = None
        self._again_at = 0.0
        self._ready = self._options.ready_at_start

    def start(self) -> StackRecord:
        """Starts what does not run and tells where it is. Raises a StackError with one sentence."""
        if platform != "linux":
            raise UnsupportedPlatform(platform)
        private(self.home)
        first = not self._lock.held
        self._lock.acquire()
        with ExitStack() as on_failure:
            on_failure.callback(self.stop)
            if first:
                self._end_left_worker()
            keys.ensure_installation_key(self.home)
            private(self.home, "artifacts")
            if self._postgres is not None:
                self._postgres.start()
            if self._temporal is not None:
                self._temporal.start()
            told = self._tell()
            on_failure.pop_all()
        return told

    def spawn_worker(
        self, spec: ChildSpec, ready_seconds: float, cancelled: Callable[[], bool] = lambda: False
    ) -> StackRecord:
        """Starts the worker and waits until it is ready. Raises ServerDidNotStart; the servers go on then."""
        worker = KeptChild(self.home, spec)
        with ExitStack() as on_failure:
            on_failure.callback(worker.stop)
            worker.start()
            worker.wait_ready(ready_seconds, cancelled)
            on_failure.pop_all()
        self._worker = worker
        return self._tell()

    def announce_ready(self) -> StackRecord:
        """Tells everybody that the stack can be used."""
        self._ready = True
        return self._tell()

    def tend(self) -> list[str]:
        """To be called often by the owner: starts again what ended. Gives a sentence for each thing that happened."""
        before = record.read(self.home)
        told = [said for said in (self._tend_server("Postgres"), self._tend_server("Temporal")) if said is not None]
        said = self._worker.tend() if self._worker is not None else None
        told += [said] if said is not None else []
        if told:
            after = self._tell()
            if self._worker is not None and before is not None and _places(before) != _places(after):
                self._worker.stop()
                self._worker.start()
                self._tell()
        return told

    def _tend_server(self, name: str) -> str | None:
        server = self._postgres if name == "Postgres" else self._temporal
        if server is None or server.is_running() or time.monotonic() < self._again_at:
            return None
        try:
            server.start()
        except StackError as error:
            self._again_at = time.monotonic() + RETRY_SECONDS
            return f"{name} ended and cannot be started: {error}"
        return f"{name} ended and was started again."

    def status(self) -> StackStatus:
        return status(self.home)

    def stop(self) -> None:
        """Ends worker, Temporal and Postgres, in this order, and leaves nothing running."""
        if self._worker is not None:
            self._worker.stop()
            self._worker = None
        if self._temporal is not None:
            self._temporal.stop()
        if self._postgres is not None:
            self._postgres.stop()
        if self._lock.held:
            record.remove(self.home)
            self._lock.release()

    def _tell(self) -> StackRecord:
        owner = mark_of(os.getpid())
        if owner is None:
            raise RuntimeError("a running process has a mark")
        postgres, temporal = self._postgres, self._temporal
        told = StackRecord(
            owner=owner,
            postgres=postgres.endpoint() if postgres is not None and postgres.is_running() else None,
            postgres_mark=postgres.mark if postgres is not None else None,
            temporal=temporal.endpoint() if temporal is not None and temporal.is_running() else None,
            temporal_mark=temporal.mark if temporal is not None else None,
            worker_mark=self._worker.mark if self._worker is not None else None,
            ready=self._ready,
        )
        record.write(self.home, told)
        return told

    def _end_left_worker(self) -> None:
        """A worker whose owner was killed would work beside the new one."""
        left = record.read(self.home)
        if left is not None and left.worker_mark is not None:
            end(left.worker_mark, ((signal.SIGTERM, 5.0),))
        record.remove(self.home)

    def _postgres_server(self) -> PostgresServer:
        options = PostgresOptions(
            template=self._options.postgres_template, die_with_parent=self._options.die_with_parent
        )
        return PostgresServer(self.home, options)

    def _temporal_server(self) -> TemporalServer:
        options = TemporalOptions(
            search_attributes=self._options.search_attributes,
            port=self._options.temporal_port,
            ui_port=self._options.ui_port,
            die_with_parent=self._options.die_with_parent,
        )
        return TemporalServer(self.home, options)


def _places(told: StackRecord) -> tuple[str | None, str | None]:
    """Where a worker connects; it has to start again when this changes."""
    return told.postgres and told.postgres.app_url, told.temporal and told.temporal.address


def status(home: Path) -> StackStatus:
    """What runs in the home, asked from any process."""
    home = Path(os.path.abspath(home))
    told = record.read(home)
    owner = FolderLock(home / LOCK_FILE, home).owner()
    if owner is None or told is None or told.owner != owner:
        return StackStatus(home, owner, None, None, None, None)
    marks = (told.postgres_mark, told.temporal_mark, told.worker_mark)
    alive = [None if mark is None else is_alive(mark) for mark in marks]
    return StackStatus(home, owner, told, *alive)


def shut_down(home: Path, seconds: float = DOWN_SECONDS) -> bool:
    """Asks the owner to stop and waits; clears what a killed owner left. False when nothing ran.

    Raises AlreadyRunning when the owner has not ended after `seconds`.
    """
    home = Path(os.path.abspath(home))
    owner = FolderLock(home / LOCK_FILE, home).owner()
    asked = owner is not None and send(owner, signal.SIGTERM)
    if asked and owner is not None and not wait_end(owner, seconds):
        raise AlreadyRunning(home, owner.pid)
    left = record.read(home)
    if left is None or is_alive(left.owner):
        return asked
    marks = (left.worker_mark, left.temporal_mark, left.postgres_mark)
    something = any(mark is not None and is_alive(mark) for mark in marks)
    if left.worker_mark is not None:
        end(left.worker_mark, ((signal.SIGTERM, 5.0),))
    TemporalServer(home).clear()
    PostgresServer(home).clear()
    record.remove(home)
    return asked or something
