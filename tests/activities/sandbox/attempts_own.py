"""Attempts with what a command has itself: its processes, its share of the machine, and the file tools."""

import os
import socket
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from activities.sandbox import Ended, WorkspaceFiles
from tests.activities.sandbox.attempt import MIB, SMALL, Attempt, limited, said
from tests.activities.sandbox.stage import Stage

Tool = Callable[[WorkspaceFiles, Stage], object]
MARK = f"temporality-left-over-{os.getpid()}"
FLOOD_BYTES = 300 * MIB


def left_over(mark: str) -> list[int]:
    """Processes of this machine whose arguments hold `mark`."""
    found: list[int] = []
    for name in os.listdir("/proc"):
        try:
            if name.isdigit() and mark.encode() in Path(f"/proc/{name}/cmdline").read_bytes():
                found.append(int(name))
        except OSError:
            continue
    return found


def _nothing_left(on: Stage, ended: Ended) -> str:
    deadline = time.monotonic() + 2.0
    while (alive := left_over(MARK)) and time.monotonic() < deadline:
        time.sleep(0.02)
    return f"alive: {alive}" if alive else "ended with the command" if said(ended) == "left" else said(ended)


def _held_at_the_limit(on: Stage, ended: Ended) -> str:
    """The kernel refuses an ordinary account; root is exempt and is ended whole."""
    held = ended.killed == "processes" or said(ended) == "refused by the kernel"
    return "held at the limit" if held and not left_over(MARK) else said(ended)


def _bounded(on: Stage, ended: Ended) -> str:
    kept = len(ended.stdout.head) + len(ended.stdout.tail)
    whole = ended.stdout.total_bytes == FLOOD_BYTES and ended.exit_code == 0
    return "64 KiB kept, the rest counted" if whole and kept == 64 * 1024 else f"{kept} of {ended.stdout.total_bytes}"


def _no_core(on: Stage, ended: Ended) -> str:
    found = [name for name in os.listdir(on.workspace.root) if name.startswith("core")]
    return "no file left" if ended.signal == 11 and not found else f"{said(ended)} {found}"


PROCESSES = (
    Attempt("processes", "signal the worker", "no such process", 'print(tried(os.kill, stage["worker"], 0))'),
    Attempt(
        "processes",
        "signal another process of the account",
        "no such process",
        'print(tried(os.kill, stage["victim"], 9))',
    ),
    Attempt(
        "processes",
        "signal everything there is",
        "only its own",
        'p = os.fork() or time.sleep(20)\nif stage["worker"] not in processes():\n'
        '    os.kill(-1, 9)\n    print("only its own" if os.waitpid(p, 0)[1] == 9 else "not its own")',
    ),
    Attempt(
        "processes", "trace the worker", "no such process", 'print(tried(call, "ptrace", 16, stage["worker"], 0, 0))'
    ),
    Attempt(
        "processes",
        "trace another process of the account",
        "no such process",
        'print(tried(call, "ptrace", 0x4206, stage["victim"], 0, 0))',
    ),
    Attempt(
        "processes",
        "leave a process in the background",
        "ended with the command",
        f'if os.fork() == 0:\n    os.execv(sys.executable, [sys.executable, "-c", "import time; time.sleep(600)", "{MARK}"])\n'
        'print("left")',
        judge=_nothing_left,
    ),
    Attempt(
        "processes",
        "leave a daemon (two forks, a session of its own, deaf to signals)",
        "ended with the command",
        "if os.fork() == 0:\n    os.setsid()\n    for n in (1, 2, 13, 15):\n        signal.signal(n, signal.SIG_IGN)\n"
        "    if os.fork() == 0:\n"
        f'        os.execv(sys.executable, [sys.executable, "-c", "import time; time.sleep(600)", "{MARK}"])\n'
        '    os._exit(0)\nprint("left")',
        judge=_nothing_left,
    ),
    Attempt(
        "processes", "become root", "no such account", "every([tried(os.setuid, 0), tried(os.setresuid, 0, 0, 0)])"
    ),
    Attempt(
        "processes", "become somebody else", "no such account", "every([tried(os.setgid, 0), tried(os.setuid, 65534)])"
    ),
    Attempt(
        "processes",
        "become root by a set-user-id program",
        "its bit counts for nothing",
        't = read("/proc/self/status").decode()\nn = os.statvfs("/usr").f_flag & os.statvfs(".").f_flag & os.ST_NOSUID\n'
        'print("its bit counts for nothing" if n and "NoNewPrivs:\\t1" in t else t)',
    ),
    Attempt(
        "processes",
        "have any capability",
        "none",
        't = [l.split() for l in read("/proc/self/status").decode().splitlines() if l.startswith("Cap")]\n'
        'print("none" if len(t) == 5 and all(int(v, 16) == 0 for _, v in t) else t)',
    ),
    Attempt(
        "processes",
        "be without the filter of system calls",
        "filtered, process 1 too",
        'n = [read("/proc/%s/status" % p).decode().count("Seccomp:\\t2") for p in ("self", "1")]\n'
        'print("filtered, process 1 too" if n == [1, 1] else n)',
    ),
    Attempt(
        "processes",
        "raise its own limits",
        "not permitted",
        "import resource\n\ndef more(limit):\n    try:\n        resource.setrlimit(limit, (10**9, 10**9))\n"
        '    except ValueError:\n        raise PermissionError(1, "")\n'
        "every([tried(more, l) for l in (resource.RLIMIT_NPROC, resource.RLIMIT_NOFILE,"
        " resource.RLIMIT_CPU, resource.RLIMIT_CORE, resource.RLIMIT_FSIZE)])",
    ),
    Attempt(
        "processes",
        "take precedence over the host's processes",
        "not permitted",
        "every([tried(os.setpriority, os.PRIO_PROCESS, 0, -5),"
        " tried(os.sched_setscheduler, 0, os.SCHED_FIFO, os.sched_param(1))])",
    ),
    Attempt(
        "processes",
        "be spared by the kernel's memory killer",
        "read-only",
        'def spare():\n    with open("/proc/self/oom_score_adj", "w") as file:\n        file.write("-1000")\nprint(tried(spare))',
    ),
)

RESOURCES = (
    Attempt(
        "resources",
        "a fork bomb",
        "held at the limit",
        "try:\n    while True:\n        os.fork()\nexcept OSError:\n"
        '    print("refused by the kernel", flush=True)\n    time.sleep(0.3)',
        judge=_held_at_the_limit,
    ),
    Attempt(
        "resources",
        "more threads than processes are allowed",
        "held at the limit",
        "import threading\ntry:\n    for _ in range(200):\n        threading.Thread(target=time.sleep, args=(20,), daemon=True).start()\n"
        'except RuntimeError:\n    print("refused by the kernel", flush=True)\n    os._exit(0)\ntime.sleep(20)',
        policy=limited(memory_bytes=4096 * MIB),
        judge=_held_at_the_limit,
    ),
    Attempt(
        "resources", "more memory than one process is allowed", "no memory", "print(tried(bytearray, 600 * 2**20))"
    ),
    Attempt(
        "resources",
        "more memory than allowed, shared out to many processes",
        "ended at the limit: memory",
        "for _ in range(6):\n    if os.fork() == 0:\n        kept = bytearray(os.urandom(1)) * (40 * 2**20)\n        time.sleep(20)\n"
        "time.sleep(20)",
        policy=limited(memory_bytes=160 * MIB),
    ),
    Attempt(
        "resources",
        "a file over the limit",
        "over the limit",
        'def fill():\n    with open("big", "wb") as file:\n        for _ in range(9):\n            file.write(bytes(2**20))\n'
        'print(tried(fill))\nos.unlink("big")',
    ),
    Attempt(
        "resources",
        "a memory file over the limit",
        "over the limit",
        'd = os.memfd_create("big")\nprint(tried(lambda: [os.write(d, bytes(2**20)) for _ in range(9)]))',
    ),
    Attempt(
        "resources",
        "fill `/tmp` and `/dev/shm`",
        "no space",
        'def fill(folder):\n    for n in range(9):\n        with open("%s/%d" % (folder, n), "wb") as file:\n'
        '            file.write(bytes(2**20))\nevery([tried(fill, f) for f in ("/tmp", "/dev/shm")])',
    ),
    Attempt(
        "resources",
        "fill the disk below what must stay free",
        "ended at the limit: disk",
        "time.sleep(20)",
        policy=limited(free_disk_bytes=2**62),
    ),
    Attempt(
        "resources", "compute for ever", "ended by signal 9", "while True:\n    pass", policy=limited(cpu_seconds=1)
    ),
    Attempt(
        "resources",
        "sleep for ever",
        "ended at the limit: wall time",
        "time.sleep(600)",
        policy=replace(SMALL, wall_seconds=0.3),
    ),
    Attempt(
        "resources",
        "be deaf to every signal and never end",
        "ended at the limit: wall time",
        "for n in range(1, 65):\n    try:\n        signal.signal(n, signal.SIG_IGN)\n    except (OSError, ValueError):\n"
        "        pass\ntime.sleep(600)",
        policy=replace(SMALL, wall_seconds=0.5),
    ),
    Attempt(
        "resources",
        "print hundreds of megabytes",
        "64 KiB kept, the rest counted",
        f'b = b"x" * 2**20\nfor _ in range({FLOOD_BYTES // MIB}):\n    os.write(1, b) == len(b) or sys.exit(1)',
        judge=_bounded,
    ),
    Attempt(
        "resources",
        "open files without end",
        "over the limit",
        'print(tried(lambda: [os.open("own", 0) for _ in range(5000)]))',
    ),
    Attempt("resources", "leave a core file", "no file left", "os.kill(os.getpid(), 11)", judge=_no_core),
    Attempt(
        "resources",
        "lock memory",
        "no memory",
        'b = ctypes.create_string_buffer(32 * 2**20)\nprint(tried(call, "mlock", ctypes.addressof(b), 32 * 2**20))',
    ),
)


def _with(
    make: Callable[[Path], object], name: str, use: Callable[[WorkspaceFiles, str], object]
) -> Callable[[WorkspaceFiles, Stage], object]:
    """A tool's attempt on something that is made in the workspace first and removed afterwards."""

    def tool(files: WorkspaceFiles, on: Stage) -> object:
        place = on.workspace.root / name
        make(place)
        try:
            return use(files, name)
        finally:
            place.unlink()

    return tool


def _socket(place: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(place))


def _refused_write(files: WorkspaceFiles, name: str) -> object:
    return files.write(name, b"x")


TOOLS = (
    Attempt(
        "file tools", "read by `..`", "refused: PathRefused", tool=lambda files, on: files.read("../outside/secret")
    ),
    Attempt(
        "file tools",
        "read by `..` that stays inside",
        "refused: PathRefused",
        tool=lambda files, on: files.read("a/../own"),
    ),
    Attempt(
        "file tools",
        "read an absolute path",
        "refused: PathRefused",
        tool=lambda files, on: files.read(str(on.outside / "secret")),
    ),
    Attempt(
        "file tools",
        "read an absolute path of the workspace",
        "refused: PathRefused",
        tool=lambda files, on: files.read(str(on.workspace.root / "own")),
    ),
    Attempt(
        "file tools",
        "read through a link to a file outside",
        "refused: PathRefused",
        tool=lambda files, on: files.read("to-secret"),
    ),
    Attempt(
        "file tools",
        "read through a link to a folder outside",
        "refused: PathRefused",
        tool=lambda files, on: files.read("to-outside/secret"),
    ),
    Attempt(
        "file tools",
        "list through a link to a folder outside",
        "refused: PathRefused",
        tool=lambda files, on: files.list("to-outside"),
    ),
    Attempt(
        "file tools",
        "write through a link to a folder outside",
        "refused: PathRefused",
        tool=lambda files, on: files.write("to-outside/new", b"x"),
    ),
    Attempt(
        "file tools",
        "write through a link to a file outside",
        "refused: PathRefused",
        tool=lambda files, on: files.write("to-secret", b"x"),
    ),
    Attempt(
        "file tools",
        "read through a relative link that leads out",
        "refused: PathRefused",
        tool=_with(lambda place: place.symlink_to("../outside/secret"), "out", lambda files, name: files.read(name)),
    ),
    Attempt(
        "file tools",
        "read through a link into `/proc`",
        "refused: PathRefused",
        tool=_with(lambda place: place.symlink_to("/proc/self/environ"), "env", lambda files, name: files.read(name)),
    ),
    Attempt(
        "file tools",
        "read through a link to itself",
        "refused: PathRefused",
        tool=_with(lambda place: place.symlink_to(place.name), "loop", lambda files, name: files.read(name)),
    ),
    Attempt(
        "file tools",
        "read a pipe that nobody writes",
        "refused: PathRefused",
        tool=_with(os.mkfifo, "pipe", lambda files, name: files.read(name)),
    ),
    Attempt("file tools", "write to a pipe", "refused: PathRefused", tool=_with(os.mkfifo, "pipe", _refused_write)),
    Attempt(
        "file tools",
        "read a socket",
        "refused: PathRefused",
        tool=_with(_socket, "socket", lambda files, name: files.read(name)),
    ),
    Attempt(
        "file tools",
        "write a file that has a second name",
        "refused: PathRefused",
        tool=_with(lambda place: os.link(place.parent / "own", place), "second", _refused_write),
    ),
    Attempt("file tools", "write over a folder", "refused: PathRefused", tool=lambda files, on: files.write(".", b"x")),
    Attempt(
        "file tools",
        "a path with a NUL character",
        "refused: PathRefused",
        tool=lambda files, on: files.read("own\0/etc"),
    ),
    Attempt(
        "file tools",
        "a path of 5,000 folders",
        "refused: PathRefused",
        tool=lambda files, on: files.write("a/" * 5000, b"x"),
    ),
    Attempt(
        "file tools",
        "write more than is allowed",
        "refused: PayloadTooLarge",
        tool=lambda files, on: files.write("big", bytes(9 * MIB)),
    ),
)
