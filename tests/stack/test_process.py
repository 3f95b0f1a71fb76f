"""Only the process that was started is ever ended, and a child can be told to end with its parent."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from stack.errors import AlreadyRunning, NotInMainThread
from stack.lock import FolderLock
from stack.process import Launch, ProcessMark, end, is_alive, mark_of, processes_in, run, send, start
from tests.stack.left import soon

SLEEP = (sys.executable, "-c", "import time; time.sleep(60)")
STUBBORN = (
    sys.executable,
    "-c",
    "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('deaf', flush=True); time.sleep(60)",
)


def test_a_recycled_pid_is_not_ended() -> None:
    with subprocess.Popen(SLEEP) as stranger:
        mine = mark_of(stranger.pid)
        assert mine is not None
        earlier = ProcessMark(pid=stranger.pid, started=mine.started + "0")

        assert not is_alive(earlier)
        assert not send(earlier, signal.SIGKILL)
        assert end(earlier, ((signal.SIGTERM, 0.1),))
        assert stranger.poll() is None

        end(mine, ((signal.SIGTERM, 5.0),))
        assert stranger.wait() == -signal.SIGTERM


def test_an_ended_process_has_no_mark_while_it_is_a_zombie() -> None:
    child = subprocess.Popen((sys.executable, "-c", ""))
    assert soon(lambda: mark_of(child.pid) is None)
    assert child.wait() == 0


def test_who_ignores_the_signal_is_killed(tmp_path: Path) -> None:
    log = tmp_path / "log"
    child = start(Launch(STUBBORN, tmp_path, log))
    assert soon(lambda: "deaf" in log.read_text())
    mark = mark_of(child.pid)
    assert mark is not None
    assert not end(mark, ((signal.SIGTERM, 0.2),))
    assert child.wait() == -signal.SIGKILL


def test_processes_are_found_by_their_folder_and_name(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    program = Path("/usr/bin/sleep")
    here = start(Launch((str(program), "60"), tmp_path, None))
    there = start(Launch((str(program), "60"), elsewhere, None))
    try:
        assert soon(lambda: [mark.pid for mark in processes_in(tmp_path, "sleep")] == [here.pid])
        assert processes_in(tmp_path, "slee") == []
    finally:
        for child in (here, there):
            child.kill()
            child.wait()


def test_a_child_ends_with_a_killed_parent(tmp_path: Path) -> None:
    code = (
        "import signal, sys, time; from pathlib import Path; from stack.process import Launch, start\n"
        f"child = start(Launch({SLEEP!r}, Path({str(tmp_path)!r}), None, death_signal=signal.SIGTERM))\n"
        "print(child.pid, flush=True); time.sleep(60)"
    )
    with subprocess.Popen((sys.executable, "-c", code), stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        mark = mark_of(int(parent.stdout.readline()))
        assert mark is not None
        time.sleep(0.1)
        assert is_alive(mark)
        parent.kill()
        parent.wait()
        assert soon(lambda: not is_alive(mark))


def test_ending_with_the_parent_needs_the_main_thread(tmp_path: Path) -> None:
    seen: list[BaseException] = []

    def ask() -> None:
        try:
            start(Launch(SLEEP, tmp_path, None, death_signal=signal.SIGTERM))
        except NotInMainThread as error:
            seen.append(error)

    thread = threading.Thread(target=ask)
    thread.start()
    thread.join()
    assert "main thread" in str(seen[0])


def test_a_missing_program_is_named(tmp_path: Path) -> None:
    done = run(Launch((str(tmp_path / "absent"),), tmp_path, None), 10.0)
    assert done.returncode == 125
    assert f"could not start {tmp_path / 'absent'}" in done.stdout


def test_servers_see_nothing_of_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGDATA", "/nowhere")
    told = run(Launch(("/usr/bin/env",), tmp_path, None), 10.0).stdout
    assert "PGDATA" not in told
    assert "PGDATA=/nowhere" in run(Launch(("/usr/bin/env",), tmp_path, None, environment=None), 10.0).stdout


def test_a_lock_has_one_owner_and_dies_with_it(tmp_path: Path) -> None:
    mine, other = (FolderLock(tmp_path / "lock", tmp_path) for _ in range(2))
    assert mine.owner() is None
    mine.acquire()
    mine.acquire()
    assert other.owner() == mark_of(os.getpid())
    with pytest.raises(AlreadyRunning, match=f"process {os.getpid()}"):
        other.acquire()
    mine.release()
    assert other.owner() is None
    other.acquire()
    other.release()

    code = (
        "import os; from pathlib import Path; from stack.lock import FolderLock\n"
        f"FolderLock(Path({str(tmp_path / 'lock')!r}), Path('/')).acquire(); os.kill(os.getpid(), 9)"
    )
    subprocess.run((sys.executable, "-c", code), check=False)
    assert (tmp_path / "lock").read_text() != ""
    assert mine.owner() is None
    mine.acquire()
    mine.release()
