"""One process owns the stack of a home; everybody finds it, nobody races it, and nothing outlives it."""

import json
import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from settings import load, program_environment
from stack import record
from stack.child import ChildSpec, KeptChild
from stack.embedded import Stack, StackOptions, shut_down, status
from stack.errors import AlreadyRunning, ServerDidNotStart, StackNotRunning, UnsupportedPlatform
from stack.process import ProcessMark, is_alive, mark_of
from stack.record import StackRecord
from stack.supervisor import SupervisorSpec, command, detach
from tests.stack.left import processes_of, soon

# A stand-in for the worker: says that it is ready, then waits for SIGTERM; `fail` ends at once.
PRETENDING = """
import os, pathlib, signal, sys, time
if sys.argv[1] == "fail":
    sys.exit("no such queue")
signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(0))
pathlib.Path(sys.argv[1]).write_text(f"{os.getpid()} {os.environ.get('TEMPORALITY_HOME')}")
while True:
    time.sleep(1)
"""
WORKER = (sys.executable, "-c", PRETENDING)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory, postgres_template: Path) -> Iterator[Path]:
    """A home whose Postgres is initialised, so that each start takes about two seconds."""
    folder = tmp_path_factory.mktemp("stack") / "home"
    options = StackOptions(postgres_template=postgres_template, temporal=False, die_with_parent=True)
    stack = Stack(folder, options)
    stack.start()
    stack.stop()
    yield folder
    assert processes_of(folder) == []


def marks(told: StackRecord) -> list[ProcessMark]:
    found = (told.postgres_mark, told.temporal_mark, told.worker_mark)
    return [mark for mark in found if mark is not None]


def test_a_stack_starts_tells_where_it_is_and_leaves_nothing(home: Path) -> None:
    stack = Stack(home, StackOptions(die_with_parent=True))
    with pytest.raises(StackNotRunning, match="run `make up`"):
        record.running(home)
    told = stack.start()
    try:
        assert told.postgres is not None and told.temporal is not None
        assert record.running(home) == told
        with psycopg.connect(load({"TEMPORALITY_HOME": str(home)}).database_url()) as connection:
            assert connection.execute("SELECT current_user").fetchone() == ("temporality_app",)
        with pytest.raises(AlreadyRunning, match=f"already running, owned by process {os.getpid()}"):
            Stack(home).start()
        assert (status(home).running, status(home).sentence()) == (
            True,
            f"The stack in {home} is running (process {os.getpid()}).",
        )
        for mark in marks(told):
            os.kill(mark.pid, signal.SIGKILL)
        assert soon(lambda: not any(is_alive(mark) for mark in marks(told)))
        assert "but Postgres and Temporal ended and will be started again" in status(home).sentence()
        assert stack.tend() == ["Postgres ended and was started again.", "Temporal ended and was started again."]
        assert stack.tend() == []
        again = record.running(home)
        assert again.postgres is not None and again.temporal is not None
        assert again.postgres.app_url == told.postgres.app_url and again.temporal.address == told.temporal.address
    finally:
        stack.stop()
    stack.stop()
    assert processes_of(home) == []
    assert not (home / "stack.json").exists()
    assert status(home).sentence() == f"No stack is running in {home}."


def test_the_home_is_private_and_its_key_is_made_once(home: Path) -> None:
    key = home / "keys" / "installation.key"
    before = key.read_bytes()
    stack = Stack(home, StackOptions(postgres=False, temporal=False))
    stack.start()
    told = stat.S_IMODE((home / "stack.json").stat().st_mode)
    stack.stop()
    assert len(bytes.fromhex(before.decode())) == 32 and key.read_bytes() == before
    assert load({"TEMPORALITY_HOME": str(home)}).installation_key() == bytes.fromhex(before.decode())
    folders = ("", "keys", "logs", "artifacts", "postgres")
    assert {stat.S_IMODE((home / name).stat().st_mode) for name in folders} == {0o700}
    assert (stat.S_IMODE(key.stat().st_mode), told) == (0o600, 0o600)


def test_detached_it_prepares_keeps_its_worker_and_goes_down(home: Path) -> None:
    ready = load({"TEMPORALITY_HOME": str(home)}).worker_ready_file
    mark = home / "prepared"
    spec = SupervisorSpec(
        home=home,
        search_attributes={"TestKind": "Keyword"},
        prepare=((sys.executable, "-c", f"import pathlib; pathlib.Path({str(mark)!r}).touch()"),),
        worker=(*WORKER, str(ready)),
        worker_ready_file=ready,
    )
    environment = program_environment(load({"TEMPORALITY_HOME": str(home)}))
    told = detach(spec, environment)
    try:
        assert mark.exists() and len(marks(told)) == 3
        assert ready.read_text() == f"{marks(told)[2].pid} {home}"
        with pytest.raises(AlreadyRunning):
            detach(spec, environment)
        os.kill(marks(told)[2].pid, signal.SIGKILL)
        assert soon(lambda: ready.exists() and ready.read_text().split()[0] != str(marks(told)[2].pid))
        assert soon(lambda: status(home).running)
    finally:
        assert shut_down(home)
    assert not shut_down(home)
    assert processes_of(home) == [] and not ready.exists()
    said = (home / "logs" / "supervisor.log").read_text()
    assert "The worker ended (signal SIGKILL); starting it again in 0.5 s.\nThe worker was started again.\n" in said


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGHUP, signal.SIGKILL])
def test_whatever_ends_the_owner_nothing_is_left(home: Path, ending: signal.Signals) -> None:
    spec = SupervisorSpec(home=home, temporal=ending is signal.SIGKILL, worker=(*WORKER, str(home / "worker.ready")))
    told = detach(spec, program_environment(load({"TEMPORALITY_HOME": str(home)})))
    os.kill(told.owner.pid, ending)
    assert soon(lambda: processes_of(home) == []), processes_of(home)
    assert not status(home).running
    assert not shut_down(home)


def test_a_stack_that_cannot_start_says_why_and_leaves_nothing(home: Path) -> None:
    environment = program_environment(load({"TEMPORALITY_HOME": str(home)}))
    failing = SupervisorSpec(home=home, temporal=False, worker=(*WORKER, "fail"), worker_ready_file=home / "never")
    with pytest.raises(ServerDidNotStart, match="worker did not start: no such queue"):
        detach(failing, environment)
    unprepared = SupervisorSpec(home=home, temporal=False, prepare=((sys.executable, "-c", "raise SystemExit('no')"),))
    with pytest.raises(ServerDidNotStart, match="did not start: no"):
        detach(unprepared, environment)
    assert processes_of(home) == [] and not (home / "stack.json").exists()


def test_servers_that_outlived_a_killed_owner_are_ended_by_the_next(home: Path) -> None:
    code = (
        "import os; from pathlib import Path; from stack.embedded import Stack, StackOptions\n"
        f"Stack(Path({str(home)!r}), StackOptions(temporal=False)).start(); os.kill(os.getpid(), 9)"
    )
    subprocess.run((sys.executable, "-c", code), check=False)
    left = record.read(home)
    assert left is not None and left.postgres_mark is not None and is_alive(left.postgres_mark)
    with pytest.raises(StackNotRunning):
        record.running(home)
    assert shut_down(home)
    assert not is_alive(left.postgres_mark) and processes_of(home) == []


def test_a_record_with_a_recycled_owner_or_rubbish_is_not_believed(tmp_path: Path) -> None:
    with subprocess.Popen((sys.executable, "-c", "import time; time.sleep(60)")) as stranger:
        mine = mark_of(stranger.pid)
        assert mine is not None
        earlier = ProcessMark(stranger.pid, mine.started + "0")
        record.write(tmp_path, StackRecord(owner=earlier, postgres_mark=earlier, worker_mark=earlier))
        with pytest.raises(StackNotRunning):
            record.running(tmp_path)
        assert not shut_down(tmp_path)
        assert stranger.poll() is None, "a stranger with a recorded pid is never ended"
        stranger.kill()
    for rubbish in (b"", b"{}", b"\xff\x00", b'{"owner": 7}'):
        (tmp_path / "stack.json").write_bytes(rubbish)
        assert record.read(tmp_path) is None
    assert status(tmp_path / "absent").owner is None


def test_a_worker_that_keeps_ending_is_started_ever_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    child = KeptChild(tmp_path, ChildSpec("worker", (*WORKER, "fail"), tmp_path))
    child.start()
    delays: list[str] = []
    for _ in range(8):
        while child.is_running():
            time.sleep(0.01)
        told = child.tend()
        assert told is not None
        delays.append(told.partition(" again in ")[2])
        assert child.tend() is None
        now += 30.0
        assert child.tend() == "The worker was started again."
    assert delays == ["0.5 s.", "1 s.", "2 s.", "4 s.", "8 s.", "16 s.", "30 s.", "30 s."]
    now += 60.0
    while child.is_running():
        time.sleep(0.01)
    assert "again in 0.5 s" in (child.tend() or "")
    child.stop()


def test_a_supervisor_is_told_everything_on_its_command_line(tmp_path: Path) -> None:
    spec = SupervisorSpec(
        tmp_path, 7000, 8000, {"A": "Int"}, False, False, (("a", "b"), ("c",)), ("w",), tmp_path / "ready"
    )
    code = "import sys, json; from stack import supervisor; print(supervisor._parse(json.loads(sys.argv[1])) )"
    words = json.dumps(command(spec)[3:])
    told = subprocess.run((sys.executable, "-c", code, words), capture_output=True, text=True, check=True).stdout
    assert told.strip() == repr(spec)


def test_elsewhere_than_on_linux_one_sentence_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stack.embedded.platform", "darwin")
    with pytest.raises(UnsupportedPlatform, match="this is darwin; set DATABASE_URL and TEMPORAL_ADDRESS"):
        Stack(tmp_path).start()
