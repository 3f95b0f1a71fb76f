"""One started bubblewrap: held before its command until the limits stand, and ended with everything in it.

Process 1 of the new pid namespace is held by a pidfd: when it has ended, the kernel has ended every process inside.
"""

import asyncio
import contextlib
import json
import os
import resource
import signal
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from activities.sandbox.policy import MIB, Limits
from activities.sandbox.watch import OWN_PROCESSES
from domain.contracts.errors import SandboxDidNotStart

LOCKED_BYTES = 8 * MIB
QUEUE_BYTES = 1 * MIB
PENDING_SIGNALS = 1024
POLL_SECONDS = 0.0005
STATUS_BYTES = 64 * 1024


@dataclass(frozen=True)
class Pipes:
    """Our ends of the pipes to a sandbox; whoever takes one closes it."""

    stdin: int
    stdout: int
    stderr: int
    hold: int  # the sandbox goes on to its command when something is written here, or when it is closed


@dataclass(frozen=True)
class Program:
    """What to start: bubblewrap, its options, the filter, and the command."""

    bubblewrap: Path
    options: Sequence[str]
    system_call_filter: bytes
    command: Sequence[str]


class Bubblewrap:
    """A running bubblewrap and the first process in it."""

    def __init__(self, outer: subprocess.Popen[bytes], pipes: Pipes, status: int) -> None:
        self._outer = outer
        self._status = status  # a file and no pipe: the worker's death must not end bubblewrap between two steps
        self._outer_fd = os.pidfd_open(outer.pid)
        self._inner_fd: int | None = None
        self.inner: int | None = None  # process 1 of the sandbox, as the host counts
        self.pipes = pipes

    @classmethod
    def start(cls, program: Program) -> "Bubblewrap":
        """Starts it in the calling thread, with whose end it ends. Raises SandboxDidNotStart."""
        inside: list[int] = []
        ours: list[int] = []
        try:
            for _ in ("stdout", "stderr"):
                _pipe(ours, inside)
            for _ in ("stdin", "hold"):
                _pipe(inside, ours)
            stdout, stderr, stdin, hold = inside
            ours.append(os.memfd_create("status"))
            inside.append(_memory_file(program.system_call_filter))
            options = [*program.options, "--json-status-fd", str(ours[-1]), "--block-fd", str(hold)]
            options += ["--seccomp", str(inside[-1])]
            inside.append(_memory_file(b"".join(os.fsencode(option) + b"\0" for option in options)))
            outer = subprocess.Popen(
                [program.bubblewrap, "--args", str(inside[-1]), "--", *program.command],
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                pass_fds=[*inside[3:], ours[-1]],
                env={},  # not the command's: that one is in the options, and no loader variable reaches bubblewrap itself
                cwd="/",
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            for descriptor in ours:
                os.close(descriptor)
            raise SandboxDidNotStart(f"{error}.") from error
        finally:
            for descriptor in inside:
                os.close(descriptor)
        return cls(outer, Pipes(stdout=ours[0], stderr=ours[1], stdin=ours[2], hold=ours[3]), ours[4])

    async def adopt(self) -> bool:
        """Waits for process 1 of the sandbox and takes hold of it. False when bubblewrap ended without one."""
        while self.inner is None:
            ended = self._outer.poll() is not None
            if documents := _documents(os.pread(self._status, STATUS_BYTES, 0)):
                inner = int(str(documents[0]["child-pid"]))
                try:
                    self._inner_fd = os.pidfd_open(inner)
                except ProcessLookupError:
                    return False
                self.inner = inner
            elif ended:
                return False
            else:
                await asyncio.sleep(POLL_SECONDS)
        return True

    def command_exit_code(self) -> int | None:
        """The command's, in bubblewrap's words; None when it did not end by itself or never began."""
        codes = [
            said["exit-code"] for said in _documents(os.pread(self._status, STATUS_BYTES, 0)) if "exit-code" in said
        ]
        return int(str(codes[0])) if codes else None

    def limit(self, limits: Limits) -> None:
        """Sets the limits that everything inside inherits. Raises SandboxDidNotStart."""
        # Inside the new user namespace the kernel counts the sandbox's processes alone, not all of the account's.
        wanted = {
            resource.RLIMIT_NPROC: limits.processes + OWN_PROCESSES,
            resource.RLIMIT_AS: limits.memory_bytes,
            resource.RLIMIT_FSIZE: limits.file_bytes,
            resource.RLIMIT_CPU: limits.cpu_seconds,
            resource.RLIMIT_NOFILE: limits.open_files,
            resource.RLIMIT_MEMLOCK: LOCKED_BYTES,
            resource.RLIMIT_MSGQUEUE: QUEUE_BYTES,
            resource.RLIMIT_SIGPENDING: PENDING_SIGNALS,
            resource.RLIMIT_CORE: 0,
            resource.RLIMIT_NICE: 0,
            resource.RLIMIT_RTPRIO: 0,
        }
        if self.inner is None:
            raise SandboxDidNotStart("it has no first process to limit.")
        try:
            for name, most in wanted.items():
                had = resource.prlimit(self.inner, name)[1]
                value = most if had == resource.RLIM_INFINITY else min(most, had)
                resource.prlimit(self.inner, name, (value, value))
        except OSError as error:
            raise SandboxDidNotStart(f"its limits could not be set ({error}).") from error
        # The kernel's killer of last resort takes from here before it takes the worker; not every machine lets us say so.
        with contextlib.suppress(OSError):
            Path(f"/proc/{self.inner}/oom_score_adj").write_text("1000", encoding="ascii")

    async def tethered(self) -> bool:
        """Lets the sandbox go on to its command, and waits until nothing in it can outlive this process.

        Process 1 asks the kernel for its end with bubblewrap's before it takes the filter on, which can be seen from
        here. False when the sandbox ended instead.
        """
        with contextlib.suppress(BrokenPipeError):
            os.write(self.pipes.hold, b"1")
        while True:
            status = _kernel_status(self.inner)
            if "\nSeccomp:\t2\n" in status:
                return True
            if not status or "\nState:\tZ" in status or self._outer.poll() is not None:
                return False
            await asyncio.sleep(POLL_SECONDS)

    async def ended(self) -> int:
        """Waits until bubblewrap has ended, and gives its exit code, below 0 for a signal."""
        await _readable(self._outer_fd)
        return self._outer.wait()

    @property
    def exit_code(self) -> int | None:
        """Bubblewrap's own, below 0 for a signal; None while it runs."""
        return self._outer.returncode

    def kill(self) -> None:
        """Ends everything in the sandbox and bubblewrap itself; harmless when they have ended."""
        for descriptor in (self._inner_fd, self._outer_fd):
            if descriptor is not None:
                with contextlib.suppress(ProcessLookupError):
                    signal.pidfd_send_signal(descriptor, signal.SIGKILL)

    async def gone(self) -> None:
        """Waits until no process of the sandbox is left, and closes what held them."""
        await self.ended()
        os.close(self._outer_fd)
        if self._inner_fd is not None:
            await _readable(self._inner_fd)
            os.close(self._inner_fd)

    def forget(self) -> None:
        """Closes the status; nothing can be asked any more."""
        os.close(self._status)


def _documents(said: bytes) -> list[dict[str, object]]:
    """The complete JSON documents of bubblewrap's status, one a line."""
    return [json.loads(line) for line in said.split(b"\n")[:-1]]


def _kernel_status(pid: int | None) -> str:
    """What the kernel says of a process; nothing when it is gone."""
    try:
        return Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""


def _pipe(reading: list[int], writing: list[int]) -> None:
    """A new pipe, its ends added to the two lists at once so that none is lost."""
    ends = os.pipe()
    reading.append(ends[0])
    writing.append(ends[1])


def _memory_file(content: bytes) -> int:
    """A descriptor from which `content` can be read, with no name that another process could open."""
    descriptor = os.memfd_create("sandbox")
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(descriptor, rest) :]
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


async def _readable(descriptor: int) -> None:
    """Waits until a pidfd says that its process has ended."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[None] = loop.create_future()
    own = os.dup(descriptor)  # a loop knows one reader for a descriptor, and two may wait at once
    loop.add_reader(own, lambda: done.done() or done.set_result(None))
    try:
        await done
    finally:
        loop.remove_reader(own)
        os.close(own)
