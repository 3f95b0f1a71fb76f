"""Servers for one demo: a home and ports of their own, ended with the demo however it ends, nothing left behind."""

import shutil
import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import NoReturn

from activities.postgres.migrations import migrate
from domain.contracts.names import SEARCH_ATTRIBUTES
from settings import ROOT, Settings, load, program_environment
from stack.child import ChildSpec, python
from stack.embedded import Stack, StackOptions

READY_SECONDS = 60.0
_ENDINGS = (signal.SIGTERM, signal.SIGHUP)
# The user's own servers and settings have no part in a demo.
_OWN = ("DATABASE_URL", "TEMPORALITY_", "TEMPORAL_")


@contextmanager
def stage() -> Iterator[Settings]:
    """Settings of running servers with a worker. Raises StackError; main thread only."""
    before = {ending: signal.signal(ending, _leave) for ending in _ENDINGS}
    before[signal.SIGINT] = signal.getsignal(signal.SIGINT)
    home = Path(tempfile.mkdtemp(prefix="temporality-demo-"))
    settings = load({"TEMPORALITY_HOME": str(home), "TEMPORALITY_TEMPORAL_PORT": "0", "TEMPORALITY_UI_PORT": "0"})
    stack = Stack(home, StackOptions(search_attributes=SEARCH_ATTRIBUTES, die_with_parent=True))
    try:
        stack.start()
        migrate(settings.owner_database_url())
        environment = {
            name: value for name, value in program_environment(settings).items() if not name.startswith(_OWN)
        }
        environment = program_environment(settings, environment)
        worker = ChildSpec("worker", python("worker.py"), ROOT, settings.worker_ready_file, environment)
        stack.spawn_worker(worker, READY_SECONDS)
        yield settings
    finally:
        # stopping is bounded by itself; an interrupt in the middle of it would leave the folder behind
        for ending in before:
            signal.signal(ending, signal.SIG_IGN)
        stack.stop()
        shutil.rmtree(home, ignore_errors=True)
        for ending, handler in before.items():
            signal.signal(ending, handler)


def _leave(number: int, frame: FrameType | None) -> NoReturn:
    raise SystemExit(128 + number)
