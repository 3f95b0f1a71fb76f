"""One home with its servers and a worker that kills itself on plan, and the keeper that starts again whatever ended.

The keeper is the product's own `Stack`: it does what `temporality up` does and nothing more. Use it in the main thread.
"""

import asyncio
import contextlib
import os
import signal
import threading
import time
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from temporalio.client import Client

import settings as environment
import worker
from activities.postgres.migrations import migrate
from client.artifacts.folder import FolderArtifactStore
from domain.contracts.names import SEARCH_ATTRIBUTES
from stack import record
from stack.child import ChildSpec, python
from stack.embedded import Stack, StackOptions
from stack.process import is_alive, send
from tests.faults.ledger import POLL_SECONDS, Ledger

ROOT: Final = Path(__file__).resolve().parents[2]
READY_FILE: Final = "worker.ready"
READY_SECONDS: Final = 90.0
TEND_SECONDS: Final = 0.05
KEY: Final = "5a" * 32
"""The installation's key: homes with the same key give the same origin hashes."""
LONGEST_DELAY_SECONDS: Final = 0.5
"""The suite kills on purpose, so that a worker which ends soon is no sign of a fault that waiting would mend."""


@dataclass
class Site:
    """A running home."""

    home: Path
    stack: Stack
    ledger: Ledger
    client: Client
    artifacts: FolderArtifactStore
    told: list[tuple[float, str]] = field(default_factory=list[tuple[float, str]])
    _over: threading.Event = field(default_factory=threading.Event)

    async def keep(self) -> None:
        """Start again what ended, until cancelled."""
        while True:
            self.told += [(time.time(), said) for said in self.stack.tend()]
            self._mark_mended()
            await asyncio.sleep(TEND_SECONDS)

    def kill_what_is_asked(self) -> None:
        """For a thread: SIGKILL to the servers that hooks ask for, at once, also while the keeper is busy."""
        ledger = Ledger(self.ledger.path)
        while not self._over.wait(POLL_SECONDS):
            for kill in ledger.asked():
                told = record.read(self.home)
                mark = None if told is None else told.postgres_mark if kill.victim == "postgres" else told.temporal_mark
                if mark is not None and send(mark, signal.SIGKILL):
                    ledger.done(kill, mark.pid)
        ledger.close()

    def _mark_mended(self) -> None:
        told = self.stack.status().record
        if told is None:
            return
        marks = {"postgres": told.postgres_mark, "temporal": told.temporal_mark}
        if (self.home / READY_FILE).exists():
            marks["worker"] = told.worker_mark
        for victim, mark in marks.items():
            if mark is not None and is_alive(mark):
                self.ledger.mended(victim, mark.pid)


@contextlib.asynccontextmanager
async def site(home: Path, template: Path) -> AsyncIterator[Site]:
    """Servers, schema, worker and keeper of a new home; everything ends with the block."""
    home.mkdir(parents=True)
    ledger = Ledger(home / "faults.db")
    options = StackOptions(
        search_attributes=SEARCH_ATTRIBUTES, die_with_parent=True, postgres_template=template, ready_at_start=True
    )
    stack = Stack(home, options)
    with contextlib.ExitStack() as on_exit:
        on_exit.callback(ledger.close)
        on_exit.callback(stack.stop)
        told = stack.start()
        assert told.postgres is not None
        migrate(told.postgres.owner_url)
        stack.spawn_worker(_faulty_worker(home, ledger), READY_SECONDS)
        async with _in_use(home, stack, ledger) as running:
            yield running


@contextlib.asynccontextmanager
async def _in_use(home: Path, stack: Stack, ledger: Ledger) -> AsyncIterator[Site]:
    settings = environment.load(_variables(home))
    artifacts = FolderArtifactStore(home / "artifacts")
    running = Site(home, stack, ledger, await worker.connect(settings, artifacts), artifacts)
    killer = threading.Thread(target=running.kill_what_is_asked, name="killer", daemon=True)
    keeper = asyncio.create_task(running.keep())
    killer.start()
    try:
        yield running
    finally:
        running._over.set()
        killer.join()
        keeper.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await keeper


def _variables(home: Path) -> Mapping[str, str]:
    return {"PATH": os.environ["PATH"], "TEMPORALITY_HOME": str(home), "TEMPORALITY_KEY": KEY}


def _faulty_worker(home: Path, ledger: Ledger) -> ChildSpec:
    argv = python("-m", "tests.faults.faulty_worker", str(ledger.path))
    return ChildSpec(
        "worker",
        argv,
        ROOT,
        home / READY_FILE,
        environment=dict(_variables(home)),
        longest_delay_seconds=LONGEST_DELAY_SECONDS,
    )
