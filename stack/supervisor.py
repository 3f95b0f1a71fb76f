"""The process that owns a stack for as long as it lives: in the foreground of `up`, or detached.

Whatever ends it, its servers end with it: SIGTERM, SIGINT and SIGHUP stop them in order, and the kernel sees to them
when it is killed.
"""

import argparse
import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from stack import record
from stack.child import ChildSpec
from stack.embedded import Stack, StackOptions, status
from stack.errors import AlreadyRunning, ServerDidNotStart, StackError
from stack.logs import log_file, said_since, size_of
from stack.process import Launch, end, mark_of, run
from stack.record import StackRecord

TEND_SECONDS = 0.5
WORKER_READY_SECONDS = 120.0
PREPARE_SECONDS = 600.0
DETACH_SECONDS = 300.0
ENDINGS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class SupervisorSpec:
    """What to own. Programs run in the project's root, with the supervisor's own environment."""

    home: Path
    temporal_port: int | None = None  # None = any free port
    ui_port: int | None = None
    search_attributes: Mapping[str, str] = field(default_factory=dict[str, str])
    postgres: bool = True
    temporal: bool = True
    prepare: tuple[tuple[str, ...], ...] = ()  # run to their end between the servers and the worker, e.g. migrations
    worker: tuple[str, ...] = ()  # empty = no worker
    worker_ready_file: Path | None = None
    environment: Mapping[str, str] | None = None  # of the programs; None = this process's own


def supervise(spec: SupervisorSpec, tell: Callable[[str], None], started: Callable[[StackRecord], None]) -> None:
    """Starts everything, calls `started` once, and tends until a signal. Main thread only. Raises StackError."""
    asked = threading.Event()
    before = {ending: signal.signal(ending, lambda _number, _frame: asked.set()) for ending in ENDINGS}
    stack = Stack(spec.home, stack_options(spec))
    try:
        stack.start()
        for argv in spec.prepare:
            _prepare(spec, argv)
        if spec.worker and not asked.is_set():
            worker = ChildSpec("worker", spec.worker, ROOT, spec.worker_ready_file, spec.environment)
            stack.spawn_worker(worker, WORKER_READY_SECONDS, asked.is_set)
        if not asked.is_set():
            started(stack.announce_ready())
        while not asked.wait(TEND_SECONDS):
            for sentence in stack.tend():
                tell(sentence)
    finally:
        stack.stop()
        for ending, handler in before.items():
            signal.signal(ending, handler)


def detach(spec: SupervisorSpec, environment: Mapping[str, str]) -> StackRecord:
    """Starts a supervisor in the background and returns when its stack is up.

    `environment` is what the programs of the project see. Raises AlreadyRunning, or ServerDidNotStart with its words.
    """
    home = spec.home.absolute()
    owner = status(home).owner
    if owner is not None:
        raise AlreadyRunning(home, owner.pid)
    log = log_file(home, "supervisor")
    before = size_of(log)
    with log.open("ab") as output:
        child = subprocess.Popen(
            command(spec),
            cwd=ROOT,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    mark = mark_of(child.pid)
    deadline = time.monotonic() + DETACH_SECONDS
    while time.monotonic() < deadline:
        told = record.read(home)
        if told is not None and told.owner == mark and told.ready:
            return told
        if child.poll() is not None:
            raise ServerDidNotStart("The stack", said_since(log, before) or "the supervisor ended at once", log)
        time.sleep(0.05)
    if mark is not None:
        end(mark, ((signal.SIGTERM, 60.0),))
    raise ServerDidNotStart("The stack", f"not up within {DETACH_SECONDS:.0f} s", log)


def command(spec: SupervisorSpec) -> list[str]:
    """The argv of a supervisor process for the spec."""
    argv = [sys.executable, "-m", "stack.supervisor", "--home", str(spec.home.absolute())]
    argv += ["--temporal-port", str(spec.temporal_port or 0), "--ui-port", str(spec.ui_port or 0)]
    argv += ["--search-attributes", json.dumps(dict(spec.search_attributes))]
    argv += [] if spec.postgres else ["--no-postgres"]
    argv += [] if spec.temporal else ["--no-temporal"]
    for words in spec.prepare:
        argv += ["--prepare", json.dumps(words)]
    argv += ["--worker", json.dumps(spec.worker)]
    argv += [] if spec.worker_ready_file is None else ["--worker-ready-file", str(spec.worker_ready_file)]
    return argv


def stack_options(spec: SupervisorSpec) -> StackOptions:
    return StackOptions(
        temporal_port=spec.temporal_port,
        ui_port=spec.ui_port,
        search_attributes=spec.search_attributes,
        die_with_parent=True,
        ready_at_start=False,
        postgres=spec.postgres,
        temporal=spec.temporal,
    )


def main(words: Sequence[str] | None = None) -> int:
    """Runs detached: sentences go to standard output, which is the supervisor's log. 1 when the stack did not start."""
    spec = _parse(words)
    try:
        supervise(spec, _say, lambda told: _say(f"The stack in {spec.home} is up (process {told.owner.pid})."))
    except StackError as error:
        _say(str(error))
        return 1
    return 0


def _prepare(spec: SupervisorSpec, argv: tuple[str, ...]) -> None:
    log = log_file(spec.home, "prepare")
    done = run(Launch(argv, ROOT, None, environment=spec.environment, death_signal=signal.SIGTERM), PREPARE_SECONDS)
    with log.open("a", encoding="utf-8") as file:
        file.write(done.stdout)
    if done.returncode != 0:
        last = " / ".join(done.stdout.strip().splitlines()[-3:])
        raise ServerDidNotStart(Path(argv[-1]).name, last or f"exit code {done.returncode}", log)


def _say(sentence: str) -> None:
    sys.stdout.write(sentence + "\n")
    sys.stdout.flush()


def _parse(words: Sequence[str] | None) -> SupervisorSpec:
    parser = argparse.ArgumentParser(prog="python -m stack.supervisor", description="Owns the stack of one home.")
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--temporal-port", type=int, default=0, help="0 = any free port")
    parser.add_argument("--ui-port", type=int, default=0, help="0 = any free port")
    parser.add_argument("--search-attributes", type=json.loads, default={}, help="JSON object, name to index type")
    parser.add_argument("--no-postgres", action="store_true")
    parser.add_argument("--no-temporal", action="store_true")
    parser.add_argument("--prepare", type=json.loads, action="append", default=[], help="JSON list of words")
    parser.add_argument("--worker", type=json.loads, default=[], help="JSON list of words")
    parser.add_argument("--worker-ready-file", type=Path, default=None)
    given = parser.parse_args(words)
    return SupervisorSpec(
        home=given.home,
        temporal_port=given.temporal_port or None,
        ui_port=given.ui_port or None,
        search_attributes=given.search_attributes,
        postgres=not given.no_postgres,
        temporal=not given.no_temporal,
        prepare=tuple(tuple(argv) for argv in given.prepare),
        worker=tuple(given.worker),
        worker_ready_file=given.worker_ready_file,
    )


if __name__ == "__main__":
    sys.exit(main())
