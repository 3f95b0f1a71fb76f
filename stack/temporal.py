"""The Temporal dev server of one home: on SQLite in WAL mode, fair between projects, loopback only.

It counts as started when it answers, keeps closed workflows for 90 days, and knows every search attribute asked for.
"""

import json
import os
import signal
import subprocess
import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from stack.errors import SearchAttributeConflict, ServerDidNotStart
from stack.folders import private
from stack.lock import FolderLock
from stack.logs import log_file, said_since, size_of
from stack.ports import LOOPBACK, answers, check_free, free_ports
from stack.process import Launch, ProcessMark, end, mark_of, processes_in, run, start
from stack.programs import temporal_program

NAMESPACE = "default"
INDEXED = "INDEXED_VALUE_TYPE_"
RETENTION_DAYS = 90
START_SECONDS = 60.0
CALL_SECONDS = 20.0
POLL_SECONDS = 0.05
PORT_ATTEMPTS = 3
# The server drains for about three seconds; SQLite in WAL mode loses nothing when it is killed instead.
STOP_STEPS = ((signal.SIGTERM, 15.0),)
DYNAMIC_CONFIG: Mapping[str, str] = {"matching.enableFairness": "true", "matching.enableMigration": "true"}
# Nothing of the user's own Temporal configuration may redirect the calls that set up this server.
UNCONFIGURED = ("--disable-config-file", "--disable-config-env")


@dataclass(frozen=True)
class TemporalEndpoint:
    """Where the server answers."""

    address: str  # host:port of the gRPC frontend
    namespace: str
    ui_url: str | None  # None when the UI is off
    pid: int


@dataclass(frozen=True)
class TemporalOptions:
    """How a server differs from the usual one."""

    search_attributes: Mapping[str, str] = field(default_factory=dict[str, str])  # name -> Keyword, Int, Datetime ...
    port: int | None = None  # None = any free port, the same for as long as the object lives
    ui_port: int | None = None
    ui: bool = True
    dynamic_config: Mapping[str, str] = field(default_factory=dict[str, str])  # key -> JSON value
    in_memory: bool = False  # nothing survives a stop; for tests
    die_with_parent: bool = False


class TemporalServer:
    """The dev server of `home`; `start` and `stop` may be called any number of times, from one process."""

    def __init__(self, home: Path, options: TemporalOptions | None = None) -> None:
        self._home = Path(os.path.abspath(home))
        self._folder = self._home / "temporal"
        self._options = options or TemporalOptions()
        self._lock = FolderLock(self._folder / "lock", self._home)
        self._child: subprocess.Popen[bytes] | None = None
        self._mark: ProcessMark | None = None
        self._ports: tuple[int, int] | None = None

    def start(self) -> TemporalEndpoint:
        """Gives the running server, started if need be. Raises a StackError with one sentence."""
        program = temporal_program()
        if self.is_running() and self._describe(program) is not None:
            return self.endpoint()
        private(self._folder)
        self._lock.acquire()
        with ExitStack() as on_failure:
            on_failure.callback(self.stop)
            self._end_child()
            self._clear_remains()
            self._launch(program)
            self._keep_for_90_days(program)
            self._register_search_attributes(program)
            on_failure.pop_all()
        return self.endpoint()

    def stop(self) -> None:
        """Ends the server and leaves no process and no lock of it."""
        self._end_child()
        if self._lock.held:
            self._clear_remains()
            self._lock.release()

    def clear(self) -> None:
        """Ends what a killed owner left running. Raises AlreadyRunning when a living owner has it."""
        if self._folder.is_dir():
            self._lock.acquire()
            self.stop()

    @property
    def mark(self) -> ProcessMark | None:
        """The server's process, None before `start`."""
        return self._mark

    def is_running(self) -> bool:
        return self._child is not None and self._child.poll() is None

    def endpoint(self) -> TemporalEndpoint:
        """The address of the running server. Raises RuntimeError before `start`."""
        if self._child is None or self._ports is None:
            raise RuntimeError("start the server before asking where it is")
        port, ui_port = self._ports
        ui_url = f"http://{LOOPBACK}:{ui_port}" if self._options.ui else None
        return TemporalEndpoint(f"{LOOPBACK}:{port}", NAMESPACE, ui_url, self._child.pid)

    def _end_child(self) -> None:
        if self._mark is not None:
            end(self._mark, () if self._options.in_memory else STOP_STEPS)
        if self._child is not None:
            self._child.wait()
        self._child, self._mark = None, None

    def _clear_remains(self) -> None:
        """Ends a server that outlived its owner; the lock says nobody owns it."""
        for mark in processes_in(self._folder, "temporal"):
            end(mark, STOP_STEPS)

    def _launch(self, program: Path) -> None:
        """Starts until the server answers; ports that were only found free are chosen anew when taken meanwhile."""
        deadline = time.monotonic() + START_SECONDS
        for attempt in range(1, PORT_ATTEMPTS + 1):
            self._ports = self._ports or self._choose_ports()
            try:
                self._launch_once(program, deadline)
                return
            except ServerDidNotStart as error:
                if attempt == PORT_ATTEMPTS or "address already in use" not in str(error):
                    raise
                self._ports = None

    def _choose_ports(self) -> tuple[int, int]:
        wanted, wanted_ui = self._options.port, self._options.ui_port
        if wanted is not None:
            check_free("the Temporal server", wanted, "TEMPORALITY_TEMPORAL_PORT")
        if wanted_ui is not None and self._options.ui:
            check_free("the Temporal UI", wanted_ui, "TEMPORALITY_UI_PORT")
        found, found_ui = free_ports(2)
        return wanted if wanted is not None else found, wanted_ui if wanted_ui is not None else found_ui

    def _launch_once(self, program: Path, deadline: float) -> None:
        log = log_file(self._home, "temporal")
        before = size_of(log)
        death = signal.SIGKILL if self._options.die_with_parent else None
        self._child = start(Launch(argv=self._command(program), cwd=self._folder, log=log, death_signal=death))
        self._mark = mark_of(self._child.pid)
        while not (answers(self._endpoint_ports()[0]) and self._describe(program) is not None):
            if self._child.poll() is not None:
                raise ServerDidNotStart("Temporal", said_since(log, before) or "it ended without a word", log)
            if time.monotonic() > deadline:
                raise ServerDidNotStart("Temporal", f"no answer within {START_SECONDS:.0f} s", log)
            time.sleep(POLL_SECONDS)

    def _command(self, program: Path) -> tuple[str, ...]:
        port, ui_port = self._endpoint_ports()
        argv = [str(program), "server", "start-dev", *UNCONFIGURED, "--log-level", "error", "--log-format", "json"]
        argv += ["--ip", LOOPBACK, "--port", str(port), "--ui-disable-news-fetch"]
        argv += ["--ui-port", str(ui_port)] if self._options.ui else ["--headless"]
        if not self._options.in_memory:
            argv += ["--db-filename", str(self._folder / "temporal.db")]
            argv += ["--sqlite-pragma", "journal_mode=wal", "--sqlite-pragma", "synchronous=normal"]
        for key, value in {**DYNAMIC_CONFIG, **self._options.dynamic_config}.items():
            argv += ["--dynamic-config-value", f"{key}={value}"]
        for name, kind in self._options.search_attributes.items():
            argv += ["--search-attribute", f"{name}={kind}"]
        return tuple(argv)

    def _endpoint_ports(self) -> tuple[int, int]:
        if self._ports is None:
            raise RuntimeError("ports are chosen before the server is started")
        return self._ports

    def _operator(self, program: Path, *words: str) -> subprocess.CompletedProcess[str]:
        address = f"{LOOPBACK}:{self._endpoint_ports()[0]}"
        argv = (str(program), "operator", *words, *UNCONFIGURED, "--address", address, "-o", "json")
        return run(Launch(argv=argv, cwd=Path("/"), log=None), CALL_SECONDS)

    def _describe(self, program: Path) -> dict[str, object] | None:
        """The namespace as the server tells it, or None while it does not answer."""
        told = self._operator(program, "namespace", "describe", "-n", NAMESPACE)
        if told.returncode != 0:
            return None
        described: dict[str, object] = json.loads(told.stdout)
        return described

    def _keep_for_90_days(self, program: Path) -> None:
        wanted = f"{RETENTION_DAYS * 86400}s"
        described = self._describe(program) or {}
        config = described.get("config")
        if isinstance(config, dict) and config.get("workflowExecutionRetentionTtl") == wanted:
            return
        told = self._operator(program, "namespace", "update", "-n", NAMESPACE, "--retention", f"{RETENTION_DAYS}d")
        if told.returncode != 0:
            reason = f"the retention of {RETENTION_DAYS} days was refused ({told.stdout.strip()})"
            raise ServerDidNotStart("Temporal", reason, log_file(self._home, "temporal"))

    def _register_search_attributes(self, program: Path) -> None:
        """Adds what a later version brought: at its start the server registers only into a new database.

        Raises SearchAttributeConflict when a name has another type, which the server itself keeps without a word.
        """
        wanted = {name: INDEXED + _screaming(kind) for name, kind in self._options.search_attributes.items()}
        known = self._search_attributes(program) if wanted else {}
        for name, kind in wanted.items():
            if name in known and known[name] != kind:
                raise SearchAttributeConflict(name, known[name].removeprefix(INDEXED), kind.removeprefix(INDEXED))
        for name, kind in self._options.search_attributes.items():
            if name not in known:
                told = self._operator(program, "search-attribute", "create", "--name", name, "--type", kind)
                if told.returncode != 0:
                    reason = f"the search attribute {name} was refused ({told.stdout.strip()})"
                    raise ServerDidNotStart("Temporal", reason, log_file(self._home, "temporal"))

    def _search_attributes(self, program: Path) -> dict[str, str]:
        told = self._operator(program, "search-attribute", "list", "-n", NAMESPACE)
        if told.returncode != 0:
            reason = f"its search attributes cannot be listed ({told.stdout.strip()})"
            raise ServerDidNotStart("Temporal", reason, log_file(self._home, "temporal"))
        custom: dict[str, str] = json.loads(told.stdout).get("customAttributes", {})
        return custom


def _screaming(kind: str) -> str:
    """`KeywordList` -> `KEYWORD_LIST`."""
    return "".join(f"_{letter}" if letter.isupper() else letter.upper() for letter in kind).lstrip("_")
