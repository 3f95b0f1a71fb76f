"""The embedded Postgres of one home: initialised once, started, stopped, and started again after any kill.

A start first clears what a killed server left (its orphans, its pid file, its dead socket), so it always ends in a
server that answers or in a sentence that says why not. One process owns the data folder, by a lock.
"""

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import psycopg

from stack import identity, postgres_files, postgres_roles
from stack.errors import ServerDidNotStart, WrongPostgresMajor
from stack.folders import private
from stack.lock import FolderLock
from stack.logs import log_file, said_since, size_of
from stack.ports import free_ports
from stack.postgres_files import APP, DATABASE, OWNER, SUPERUSER, Address, LoopbackAddress, SocketAddress
from stack.process import Launch, ProcessMark, RunAs, end, mark_of, processes_in, run, start
from stack.programs import POSTGRES_MAJOR, postgres_bin

INIT_SECONDS = 180.0
START_SECONDS = 120.0  # crash recovery of a large log included
FAST_SHUTDOWN_SECONDS = 30.0
IMMEDIATE_SHUTDOWN_SECONDS = 5.0
POLL_SECONDS = 0.02
STOP_STEPS = ((signal.SIGINT, FAST_SHUTDOWN_SECONDS), (signal.SIGQUIT, IMMEDIATE_SHUTDOWN_SECONDS))


@dataclass(frozen=True)
class PostgresEndpoint:
    """Where the server is and as whom to enter; the URLs are libpq's."""

    owner_url: str  # owns every object, used for migrations only
    app_url: str  # owns nothing, bypasses nothing
    superuser_url: str  # for the stack itself and for tests that tamper
    data_dir: Path
    pid: int


@dataclass(frozen=True)
class PostgresOptions:
    """How a server differs from the usual one."""

    settings: Mapping[str, str] = field(default_factory=dict[str, str])  # added to temporality.conf
    template: Path | None = None  # an initialised, cleanly stopped data folder to copy instead of initdb
    die_with_parent: bool = False  # fast shutdown when the process that started it ends
    loopback: bool = False  # TCP with passwords even where a socket would do


class PostgresServer:
    """The server of `home`; `start` and `stop` may be called any number of times, from one process."""

    def __init__(self, home: Path, options: PostgresOptions | None = None) -> None:
        self._home = Path(os.path.abspath(home))
        self._folder = self._home / "postgres"
        self.data_dir = self._folder / "data"
        self._options = options or PostgresOptions()
        self._lock = FolderLock(self._folder / "lock", self._home)
        self._child: subprocess.Popen[bytes] | None = None
        self._mark: ProcessMark | None = None
        self._address: Address | None = None
        self._short: Path | None = None

    def start(self) -> PostgresEndpoint:
        """Gives the running server, started if need be. Raises a StackError with one sentence."""
        if self.is_running() and self._answers():
            return self.endpoint()
        programs = postgres_bin()
        private(self._folder)
        self._lock.acquire()
        with ExitStack() as on_failure:
            on_failure.callback(self._give_up)
            self._end_child()
            self._clear_remains()
            run_as = identity.choose(self._folder, self.data_dir, programs / "postgres")
            self._initialise(programs, run_as)
            self._check_major()
            self._address = self._address or self._choose_address(run_as)
            self._configure(self._address, run_as)
            self._launch(programs, run_as)
            postgres_roles.ensure(lambda database: self._url(SUPERUSER, database), self._secret())
            on_failure.pop_all()
        return self.endpoint()

    def stop(self) -> None:
        """Ends the server and leaves no process, socket or lock of it."""
        self._end_child()
        if self._lock.held:
            self._clear_remains()
            self._lock.release()
        if self._short is not None:
            shutil.rmtree(self._short, ignore_errors=True)
        self._address, self._short = None, None

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

    def endpoint(self) -> PostgresEndpoint:
        """The address of the running server. Raises RuntimeError before `start`."""
        return self.endpoint_for(DATABASE)

    def endpoint_for(self, database: str) -> PostgresEndpoint:
        """The same server with the three roles' URLs for another database."""
        if self._child is None:
            raise RuntimeError("start the server before asking where it is")
        return PostgresEndpoint(
            owner_url=self._url(OWNER, database),
            app_url=self._url(APP, database),
            superuser_url=self._url(SUPERUSER, database),
            data_dir=self.data_dir,
            pid=self._child.pid,
        )

    def create_database(self, name: str) -> PostgresEndpoint:
        """A fresh database beside the usual one, owned alike and with the extension, e.g. for one test."""
        postgres_roles.create_database(self._url(SUPERUSER, postgres_roles.MAINTENANCE), name)
        return self.endpoint_for(name)

    def save_template(self, folder: Path) -> None:
        """Copies the stopped, initialised data folder, so that other homes start without initdb."""
        if self.is_running() or not (self.data_dir / "PG_VERSION").is_file():
            raise RuntimeError("a template is saved from a server that was started once and is stopped")
        unfinished = folder.with_name(f"{folder.name}.{os.getpid()}")
        shutil.copytree(self.data_dir, unfinished)
        unfinished.rename(folder)

    def _give_up(self) -> None:
        """Ends what a failed start began. The address stays: started again, the server is where its clients look."""
        self._end_child()
        self._clear_remains()
        self._lock.release()

    def _end_child(self) -> None:
        if self._mark is not None:
            end(self._mark, STOP_STEPS)
        if self._child is not None:
            self._child.wait()
        self._child, self._mark = None, None

    def _clear_remains(self) -> None:
        """Ends orphans of an earlier server and drops its pid file and socket; the lock says nobody owns them."""
        for mark in processes_in(self.data_dir, "postgres"):
            end(mark, STOP_STEPS if self._is_postmaster(mark) else ((signal.SIGQUIT, IMMEDIATE_SHUTDOWN_SECONDS),))
        (self.data_dir / "postmaster.pid").unlink(missing_ok=True)
        recorded = self._folder / "socket"
        if recorded.is_file():
            # The short folder of a killed server; it is ours only if it still holds nothing but a socket.
            self._drop_short_folder(Path(recorded.read_text(encoding="utf-8")))
            recorded.unlink()
        for folder in (self._folder / "run", self._short):
            for dead in folder.glob(".s.PGSQL.*") if folder is not None else ():
                dead.unlink(missing_ok=True)

    def _drop_short_folder(self, folder: Path) -> None:
        if folder == self._short or not folder.name.startswith("temporality-") or not folder.is_dir():
            return
        if all(entry.name.startswith(".s.PGSQL.") for entry in folder.iterdir()):
            shutil.rmtree(folder, ignore_errors=True)

    def _is_postmaster(self, mark: ProcessMark) -> bool:
        try:
            first = (self.data_dir / "postmaster.pid").read_text(encoding="utf-8").partition("\n")[0]
        except FileNotFoundError:
            return False
        return first.strip() == str(mark.pid)

    def _initialise(self, programs: Path, run_as: RunAs) -> None:
        """Makes the data folder aside and renames it, so that a killed initdb leaves nothing half done."""
        if self.data_dir.exists():
            return
        unfinished = self._folder / "data.new"
        shutil.rmtree(unfinished, ignore_errors=True)
        template = self._options.template
        if template is not None and (template / "PG_VERSION").is_file():
            shutil.copytree(template, unfinished)
        else:
            self._initdb(programs, run_as, unfinished)
        identity.hand_over_tree(unfinished, run_as)
        os.chmod(unfinished, 0o700)
        unfinished.rename(self.data_dir)

    def _initdb(self, programs: Path, run_as: RunAs, data: Path) -> None:
        log = log_file(self._home, "postgres")
        secret = os.urandom(32).hex()
        word = self._folder / "superuser.password"
        word.write_text(postgres_files.password(secret, SUPERUSER), encoding="ascii")
        identity.hand_over(word, run_as)
        data.mkdir(mode=0o700)
        identity.hand_over(data, run_as)
        argv = (str(programs / "initdb"), "-D", str(data), "-U", SUPERUSER, "--encoding=UTF8", "--locale=C")
        more = ("--auth=scram-sha-256", f"--pwfile={word}", "--no-instructions")
        try:
            done = run(Launch(argv=(*argv, *more), cwd=Path("/"), log=None, run_as=run_as), INIT_SECONDS)
        finally:
            word.unlink()
        if done.returncode != 0:
            log.write_text(done.stdout, encoding="utf-8")
            last = (done.stdout.strip().splitlines() or ["no word"])[-1]
            raise ServerDidNotStart("Postgres", f"initdb ended with `{last}`", log)
        kept = data / postgres_files.SECRET_FILE
        kept.write_text(secret, encoding="ascii")
        kept.chmod(0o600)
        identity.hand_over(kept, run_as)

    def _check_major(self) -> None:
        """Raises WrongPostgresMajor when another major version wrote the data folder."""
        found = (self.data_dir / "PG_VERSION").read_text(encoding="ascii").strip()
        if found != POSTGRES_MAJOR:
            raise WrongPostgresMajor(self.data_dir, found, POSTGRES_MAJOR)

    def _choose_address(self, run_as: RunAs) -> Address:
        if self._options.loopback:
            return LoopbackAddress(free_ports(1)[0])
        folder = self._folder / "run"
        if not postgres_files.socket_fits(folder):
            short = postgres_files.short_folder()
            if short is None:
                return LoopbackAddress(free_ports(1)[0])
            folder = self._short = short
        folder.mkdir(mode=0o700, exist_ok=True)
        identity.hand_over(folder, run_as)
        return SocketAddress(folder)

    def _configure(self, address: Address, run_as: RunAs) -> None:
        texts = {
            "temporality.conf": postgres_files.configuration(address, self._options.settings),
            "postgresql.conf": "include 'temporality.conf'\n",
            "pg_hba.conf": postgres_files.access_rules(address),
        }
        for name, text in texts.items():
            path = self.data_dir / name
            path.write_text(text, encoding="utf-8")
            path.chmod(0o600)
            identity.hand_over(path, run_as)
        if self._short is not None:
            (self._folder / "socket").write_text(str(self._short), encoding="utf-8")

    def _launch(self, programs: Path, run_as: RunAs) -> None:
        log = log_file(self._home, "postgres")
        before = size_of(log)
        argv = (str(programs / "postgres"), "-D", str(self.data_dir))
        death = signal.SIGINT if self._options.die_with_parent else None
        self._child = start(Launch(argv=argv, cwd=self._folder, log=log, run_as=run_as, death_signal=death))
        self._mark = mark_of(self._child.pid)
        deadline = time.monotonic() + START_SECONDS
        while not self._answers():
            if self._child.poll() is not None:
                raise ServerDidNotStart("Postgres", said_since(log, before) or "it ended without a word", log)
            if time.monotonic() > deadline:
                raise ServerDidNotStart("Postgres", f"no answer within {START_SECONDS:.0f} s", log)
            time.sleep(POLL_SECONDS)

    def _answers(self) -> bool:
        try:
            psycopg.connect(self._url(SUPERUSER, postgres_roles.MAINTENANCE), connect_timeout=10).close()
        except psycopg.OperationalError:
            return False
        return True

    def _url(self, role: str, database: str) -> str:
        if self._address is None:
            raise RuntimeError("start the server before asking where it is")
        return postgres_files.url(self._address, role, database, self._secret())

    def _secret(self) -> str:
        return (self.data_dir / postgres_files.SECRET_FILE).read_text(encoding="ascii")
