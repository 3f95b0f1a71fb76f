"""Commands end as they would outside, and never later than they may."""

import array
import asyncio
import os
import resource
import socket
import time
from dataclasses import replace
from pathlib import Path

import pytest

from activities.sandbox import Command, Limits, Sandbox, SandboxPolicy, Workspace, bubblewrap, runner, syscalls
from domain.contracts.errors import CommandRefused, PathRefused, SandboxDidNotStart, SandboxUnavailable
from tests.activities.sandbox.attempts_own import left_over
from tests.activities.sandbox.conftest import Run

MIB = 1024 * 1024


async def test_what_it_prints_and_its_exit_code_come_back(run: Run) -> None:
    ended = await run(shell="echo out; echo err >&2; exit 3")
    assert (ended.exit_code, ended.signal, ended.killed, ended.timed_out) == (3, None, None, False)
    assert (ended.stdout.text(), ended.stderr.text()) == ("out\n", "err\n")
    assert 0 <= ended.duration_ms < 10_000


async def test_arguments_are_not_read_by_a_shell(run: Run) -> None:
    ended = await run("printf", "%s|", "$HOME", "a b", "`id`", "*", "", "--", "\n", "ünï")
    assert ended.stdout.text() == "$HOME|a b|`id`|*||--|\n|ünï|"


async def test_a_shell_line_is(run: Run) -> None:
    assert (await run(shell="echo $HOME | tr a-z A-Z; exit ${PIPESTATUS[1]:-0}")).stdout.text() == "/TMP\n"


async def test_a_signal_is_told_from_an_exit_code(run: Run) -> None:
    ended = await run(shell="kill -TERM $$")
    assert (ended.exit_code, ended.signal) == (None, 15)


@pytest.mark.parametrize(("program", "code"), [("no-such-program", 127), ("/etc/passwd", 126), ("/nowhere/x", 127)])
async def test_what_cannot_be_executed_ends_as_in_a_shell(run: Run, program: str, code: int) -> None:
    ended = await run(program)
    assert ended.exit_code == code
    assert program in ended.stderr.text()


@pytest.mark.parametrize("size", [0, 1, 1000, 3 * MIB])
async def test_standard_input_arrives_whole_and_ends(run: Run, size: int) -> None:
    given = os.urandom(size)
    ended = await run("cat", stdin=given, policy=SandboxPolicy(max_output_bytes=8 * MIB))
    assert ended.stdout.head + ended.stdout.tail == given


async def test_standard_input_that_nobody_reads_is_no_error(run: Run) -> None:
    assert (await run("true", stdin=bytes(3 * MIB))).exit_code == 0


async def test_it_starts_in_the_folder_that_was_named(run: Run, workspace: Workspace) -> None:
    (workspace.root / "a" / "b").mkdir(parents=True)
    (workspace.root / "inside").symlink_to("a/b")
    assert (await run("pwd", cwd="a/b")).stdout.text() == f"{workspace.root}/a/b\n"
    assert (await run("pwd", "-P", cwd="inside")).stdout.text() == f"{workspace.root}/a/b\n"


@pytest.mark.parametrize("cwd", ["..", "/", "missing", "a/../..", "outside", "file"])
async def test_another_folder_is_refused(run: Run, workspace: Workspace, cwd: str) -> None:
    (workspace.root / "outside").symlink_to("/usr")
    (workspace.root / "file").write_text("")
    with pytest.raises(PathRefused):
        await run("true", cwd=cwd)


async def test_what_it_writes_is_there_afterwards(run: Run, workspace: Workspace) -> None:
    assert (await run(shell="mkdir -p x && echo hello > x/y && chmod 750 x/y")).exit_code == 0
    made = workspace.root / "x" / "y"
    assert made.read_text() == "hello\n"
    assert (made.stat().st_uid, made.stat().st_mode & 0o777) == (os.geteuid(), 0o750)


async def test_the_environment_is_what_the_policy_lists(run: Run) -> None:
    policy = SandboxPolicy(environment={"PATH": "/usr/bin:/bin", "GREETING": "a=b c"})
    ended = await run(
        python="import os; print(sorted(set(os.environ) - {'PWD', 'LC_CTYPE', '_', 'SHLVL'}), os.environ['GREETING'])",
        policy=policy,
    )
    assert ended.stdout.text() == "['GREETING', 'PATH'] a=b c\n"


async def test_loader_variables_do_not_reach_bubblewrap_itself(run: Run, workspace: Workspace) -> None:
    policy = SandboxPolicy(environment={"PATH": "/usr/bin:/bin", "LD_PRELOAD": f"{workspace.root}/evil.so"})
    ended = await run("true", policy=policy)
    # the loader of the command complains, inside; bubblewrap's own would have, before there is a sandbox
    assert ended.exit_code == 0
    assert "bwrap" not in ended.stderr.text()


async def test_a_folder_of_the_policy_is_shown_and_cannot_be_written(run: Run, tmp_path: Path) -> None:
    (tmp_path / "library").mkdir()
    (tmp_path / "library" / "text").write_text("hello")
    shown = SandboxPolicy(read_only=(tmp_path / "library",))
    ended = await run(shell=f"cat {tmp_path}/library/text; touch {tmp_path}/library/new", policy=shown)
    assert ended.stdout.text() == "hello"
    assert "Read-only" in ended.stderr.text()


async def test_what_is_closed_or_everybodys_is_never_shown(workspace: Workspace, tmp_path: Path) -> None:
    closed = tmp_path / "installation"
    (closed / "inner").mkdir(parents=True)
    (tmp_path / "link").symlink_to(closed)
    sandbox = Sandbox.find(closed=(closed,))
    places = (
        closed,
        closed / "inner",
        tmp_path,
        tmp_path / "link",
        Path("/"),
        Path("/proc"),
        Path("/run"),
        Path("/etc"),
    )
    for place in (*places, tmp_path / "missing", workspace.root, workspace.root.parent):
        with pytest.raises(PathRefused):
            await sandbox.run(Command(argv=("true",)), SandboxPolicy(read_only=(place,)), workspace)
    with pytest.raises(CommandRefused):
        await sandbox.run(Command(argv=("true",)), SandboxPolicy(read_only=(Path("relative"),)), workspace)
    with pytest.raises(PathRefused, match="no command may see"):
        await sandbox.run(Command(argv=("true",)), SandboxPolicy(), Workspace(closed / "inner"))


async def test_a_granted_network_is_the_hosts(run: Run) -> None:
    code = "import socket, sys; print(socket.create_connection(('127.0.0.1', int(sys.argv[1])), 5).recv(9).decode())"
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(20)

        def answer() -> None:
            with server.accept()[0] as peer:
                peer.send(b"reached")

        answering = asyncio.get_running_loop().run_in_executor(None, answer)
        ended = await run(str(server.getsockname()[1]), python=code, policy=SandboxPolicy(network=True))
        await answering
    assert ended.stdout.text() == "reached\n"
    closed = await run(python="import socket; socket.socket(40, 1)", policy=SandboxPolicy(network=True))
    assert "not supported" in closed.stderr.text()


async def test_a_flood_does_not_grow_the_worker(run: Run) -> None:
    await run("true")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    ended = await run(shell="head -c 500000000 /dev/zero; echo end; head -c 100000000 /dev/zero >&2")
    assert (ended.stdout.total_bytes, ended.stderr.total_bytes) == (500_000_004, 100_000_000)
    assert ended.stdout.text().endswith("end\n")
    assert f"[... {500_000_004 - 64 * 1024} bytes left out ...]" in ended.stdout.text()
    assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024 < 24


async def test_the_loop_goes_on_while_a_command_floods(run: Run) -> None:
    flood = asyncio.ensure_future(run("yes", policy=SandboxPolicy(wall_seconds=0.6)))
    turns = 0
    while not flood.done():
        await asyncio.sleep(0.01)
        turns += 1
    assert (await flood).timed_out
    assert turns >= 10


async def test_a_cancelled_command_is_ended_whole(run: Run) -> None:
    mark = f"cancelled-{os.getpid()}-{time.monotonic_ns()}"
    running = asyncio.ensure_future(
        run(mark, python="import os, time; os.fork(); os.setsid() if os.getpid() > 2 else 0; time.sleep(600)")
    )
    deadline = time.monotonic() + 20
    while len(left_over(mark)) < 3 and time.monotonic() < deadline:  # noqa: ASYNC110 - other processes set no event
        await asyncio.sleep(0.01)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert left_over(mark) == []


async def test_cancelling_at_any_moment_of_the_start_leaves_nothing(run: Run) -> None:
    mark = f"early-{os.getpid()}-{time.monotonic_ns()}"
    descriptors = len(os.listdir("/proc/self/fd"))
    for step in range(16):
        running = asyncio.ensure_future(run(mark, python="import time; time.sleep(600)"))
        await asyncio.sleep(step * 0.002)
        running.cancel()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
    assert left_over(mark) == []
    assert len(os.listdir("/proc/self/fd")) == descriptors


def test_a_policy_is_one_value() -> None:
    policy = SandboxPolicy()
    with pytest.raises(AttributeError):
        policy.network = True  # pyright: ignore[reportAttributeAccessIssue]
    assert replace(policy, network=True).network


async def test_nothing_is_open_and_nobody_is_left_afterwards(run: Run) -> None:
    await run("true")
    descriptors = len(os.listdir("/proc/self/fd"))
    await asyncio.gather(*(run("true") for _ in range(6)))
    with pytest.raises(CommandRefused):
        await run(
            "true",
            policy=SandboxPolicy(
                environment={"A": "x" * 120_000, "B": "x" * 130_000, **{f"C{n}": "x" * 130_000 for n in range(8)}}
            ),
        )
    assert len(os.listdir("/proc/self/fd")) == descriptors
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    assert "bwrap\n" not in [Path(f"/proc/{child}/comm").read_text() for child in children]


async def test_a_pipe_passed_out_of_the_sandbox_does_not_hold_it(run: Run, workspace: Workspace) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(workspace.root / "door"))
        server.listen()
        code = (
            "import array, socket\ns = socket.socket(1)\ns.connect('door')\n"
            "s.sendmsg([b'x'], [(1, 1, array.array('i', [1]))])\nprint('sent')"
        )
        began = time.monotonic()
        ended = await run(python=code)
        assert ended.stdout.text() == "sent\n"
        assert time.monotonic() - began < 15
        with server.accept()[0] as peer:
            received = array.array("i", peer.recvmsg(1, 64)[1][0][2])
        os.close(received[0])


async def test_the_kernel_takes_the_sandbox_first(run: Run) -> None:
    assert (await run("cat", "/proc/self/oom_score_adj")).stdout.text() == "1000\n"


async def test_limits_are_those_of_the_policy(run: Run) -> None:
    limits = Limits(memory_bytes=300 * MIB, processes=7, file_bytes=5 * MIB, cpu_seconds=9, open_files=50)
    code = (
        "import resource as r\nnames = ('AS', 'NPROC', 'FSIZE', 'CPU', 'NOFILE')\n"
        "print([r.getrlimit(getattr(r, 'RLIMIT_' + name))[1] for name in names])"
    )
    ended = await run(python=code, policy=SandboxPolicy(limits=limits))
    assert ended.stdout.text() == f"{[300 * MIB, 8, 5 * MIB, 9, 50]}\n"


async def test_without_bubblewrap_commands_are_refused_with_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bubblewrap.importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(bubblewrap.shutil, "which", lambda name: None)
    with pytest.raises(SandboxUnavailable, match="install the system package bubblewrap"):
        Sandbox.find()


def _program(tmp_path: Path, text: str) -> Path:
    made = tmp_path / "bwrap"
    made.write_text(f"#!/bin/sh\n{text}\n")
    made.chmod(0o755)
    return made


@pytest.mark.parametrize(
    ("text", "kind", "says"),
    [
        ("echo 'bwrap: setting up uid map: Permission denied' >&2; exit 1", SandboxUnavailable, "max_user_namespaces"),
        ("echo 'bwrap: No permissions to create new namespace' >&2; exit 1", SandboxUnavailable, "max_user_namespaces"),
        ('echo "bwrap: Can\'t find source path /usr" >&2; exit 1', SandboxDidNotStart, "source path"),
        ("exit 1", SandboxDidNotStart, "without a word"),
        ("exec sleep 600", SandboxDidNotStart, "not ready"),
    ],
)
async def test_a_bubblewrap_that_does_not_get_there_is_explained(
    tmp_path: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch, text: str, kind: type[Exception], says: str
) -> None:
    monkeypatch.setattr(runner, "SETUP_SECONDS", 0.5)
    descriptors = len(os.listdir("/proc/self/fd"))
    with pytest.raises(kind, match=says):
        await Sandbox(_program(tmp_path, text)).run(Command(argv=("true",)), SandboxPolicy(), workspace)
    assert len(os.listdir("/proc/self/fd")) == descriptors


async def test_a_program_that_is_none_did_not_start(tmp_path: Path, workspace: Workspace) -> None:
    descriptors = len(os.listdir("/proc/self/fd"))
    with pytest.raises(SandboxDidNotStart):
        await Sandbox(tmp_path / "missing").run(Command(argv=("true",)), SandboxPolicy(), workspace)
    assert len(os.listdir("/proc/self/fd")) == descriptors


def test_a_machine_without_a_filter_is_refused() -> None:
    with pytest.raises(SandboxUnavailable, match="aarch64"):
        syscalls.filter_program("mips")
    assert len(syscalls.filter_program("aarch64")) % 8 == 0


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="32-bit calls exist beside 64-bit ones on x86_64")
async def test_calls_of_the_32_bit_kind_and_of_x32_are_unknown(run: Run) -> None:
    # mov eax, 20 (getpid); int 0x80; ret     and     mov eax, 0x40000027 (x32 getpid); syscall; ret
    code = (
        "import ctypes, mmap\n"
        "for text in (b'\\xb8\\x14\\0\\0\\0\\xcd\\x80\\xc3', b'\\xb8\\x27\\0\\0\\x40\\x0f\\x05\\xc3'):\n"
        "    m = mmap.mmap(-1, 4096, prot=7)\n    m.write(text)\n"
        "    print(ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(m)))())\n"
    )
    assert (await run(python=code)).stdout.text() == "-38\n-38\n"


@pytest.mark.parametrize(
    "make",
    [
        lambda: Command(),
        lambda: Command(argv=("a",), shell="b"),
        lambda: Command(argv=("",)),
        lambda: Command(argv=("--bind", "/")),
        lambda: Command(argv=("a", "b\0c")),
        lambda: Command(shell="a\0"),
        lambda: Command(argv=("a", "\ud800")),
        lambda: Command(argv=("a", "x" * 200_000)),
        lambda: SandboxPolicy(environment={"A=B": "c"}),
        lambda: SandboxPolicy(environment={"": "c"}),
        lambda: SandboxPolicy(environment={"A": "c\0"}),
        lambda: SandboxPolicy(wall_seconds=0),
        lambda: SandboxPolicy(wall_seconds=float("nan")),
        lambda: SandboxPolicy(max_output_bytes=1),
        lambda: Limits(processes=0),
    ],
)
def test_what_cannot_be_kept_is_refused_with_a_sentence(make: object) -> None:
    with pytest.raises(CommandRefused, match=r"The command cannot be run: .+\.$"):
        make()  # pyright: ignore[reportCallIssue]


async def test_too_many_arguments_are_refused_before_anything_starts(run: Run) -> None:
    with pytest.raises(CommandRefused, match="stdin or a file"):
        await run("true", *("x" * 100_000 for _ in range(12)))
    assert (await run("true", *("x" * 100_000 for _ in range(8)))).exit_code == 0
