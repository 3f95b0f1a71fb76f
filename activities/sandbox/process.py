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
TETHER_SECONDS = 0.0005


@dataclass(frozen=True)
class Pipes:
    """Our ends of the pipes to a sandbox; whoever takes one closes it."""

    stdin: int
    stdout: int
    stderr: int
    status: int  # bubblewrap's own words, JSON documents one a line
    hold: int  # the command starts when something is written here, or when it is closed


@dataclass(frozen=True)
class Program:
    """What to start: bubblewrap, its options, the filter, and the command."""

    bubblewrap: Path
    options: Sequence[str]
    system_call_filter: bytes
    command: Sequence[str]


class Bubblewrap:
    """A running bubblewrap and the first process in it."""

    def __init__(self, outer: subprocess.Popen[bytes], pipes: Pipes) -> None:
        self._outer = outer
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
            pairs = [os.pipe() for _ in range(5)]
            stdin, stdout, stderr, status, hold = pairs
            ours += [stdin[1], stdout[0], stderr[0], status[0], hold[1]]
            inside += [stdin[0], stdout[1], stderr[1], status[1], hold[0]]
            inside += [_memory_file(program.system_call_filter)]
            options = [*program.options, "--json-status-fd", str(status[1]), "--block-fd", str(hold[0])]
            options += ["--seccomp", str(inside[-1])]
            inside += [_memory_file(b"".join(os.fsencode(option) + b"\0" for option in options))]
            outer = subprocess.Popen(
                [program.bubblewrap, "--args", str(inside[-1]), "--", *program.command],
                stdin=stdin[0],
                stdout=stdout[1],
                stderr=stderr[1],
                pass_fds=inside[3:],
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
        return cls(outer, Pipes(*ours))

    def adopt(self, inner: int) -> None:
        """Takes hold of process 1 of the sandbox. Raises SandboxDidNotStart when it has ended already."""
        try:
            self._inner_fd = os.pidfd_open(inner)
        except ProcessLookupError as error:
            raise SandboxDidNotStart("its first process ended at once.") from error
        self.inner = inner

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
            await asyncio.sleep(TETHER_SECONDS)

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


class Status:
    """What bubblewrap says of itself: a first document with its process 1, a last one with the command's exit code."""

    def __init__(self) -> None:
        self._said = bytearray()
        self.first: asyncio.Future[int | None] = asyncio.get_running_loop().create_future()

    def take(self, chunk: bytes) -> None:
        """The next bytes; b"" at the end. `first` becomes process 1, or None when it ended without one."""
        self._said += chunk
        if self.first.done():
            return
        line, newline, _ = self._said.partition(b"\n")
        if newline:
            self.first.set_result(int(json.loads(line)["child-pid"]))
        elif not chunk:
            self.first.set_result(None)

    def exit_code(self) -> int | None:
        """The command's; None when it did not end by itself or never began."""
        for line in self._said.splitlines()[1:]:
            if "exit-code" in (said := json.loads(line)):
                return int(said["exit-code"])
        return None


def _kernel_status(pid: int | None) -> str:
    """What the kernel says of a process; nothing when it is gone."""
    try:
        return Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""


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
