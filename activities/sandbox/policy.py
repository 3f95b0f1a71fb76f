"""What a command may do and what is known of it at its end: plain values, refused when they cannot be kept.

Nothing is granted by default: no network, no path but the workspace, no variable that is not listed here.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from domain.contracts.errors import CommandRefused

MIB = 1024 * 1024
MAX_STRING_BYTES = 128 * 1024 - 1  # the kernel's own limit for one argument or variable
MAX_STRINGS_BYTES = 1 * MIB  # arguments and variables together
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
DEFAULT_ENVIRONMENT: Mapping[str, str] = MappingProxyType(
    {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/tmp", "LANG": "C.UTF-8"}
)

Killed = Literal["wall time", "processes", "memory", "disk"]
"""What ended a command before it ended by itself."""


@dataclass(frozen=True)
class Limits:
    """The most a command may take. Bytes and seconds; each is at least 1."""

    memory_bytes: int = 4096 * MIB  # address space of one process, and resident memory of all of them
    processes: int = 128  # at once, threads included
    file_bytes: int = 1024 * MIB  # the largest file it may write
    cpu_seconds: int = 600  # of one process
    open_files: int = 1024
    scratch_bytes: int = 256 * MIB  # of /tmp, and again of /dev/shm; both are memory
    free_disk_bytes: int = 512 * MIB  # ended when the workspace's file system has less than this left

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if value < 1:
                raise CommandRefused(f"the limit {name} is {value} and must be at least 1.")


@dataclass(frozen=True)
class SandboxPolicy:
    """What a command is given. `environment` is all of its environment."""

    network: bool = False  # True shares the host's network, its loopback and abstract sockets included
    read_only: tuple[Path, ...] = ()  # absolute paths shown to it beside the system and the interpreter
    environment: Mapping[str, str] = field(default_factory=lambda: DEFAULT_ENVIRONMENT)
    limits: Limits = Limits()
    wall_seconds: float = 120.0
    max_output_bytes: int = 64 * 1024  # kept of standard output, and again of standard error

    def __post_init__(self) -> None:
        if not self.wall_seconds > 0:
            raise CommandRefused(f"wall_seconds is {self.wall_seconds} and must be above 0.")
        if self.max_output_bytes < 2:
            raise CommandRefused(f"max_output_bytes is {self.max_output_bytes} and must be at least 2.")
        for name, value in self.environment.items():
            if not VARIABLE.fullmatch(name):
                raise CommandRefused(f"{name!r} is no name of an environment variable.")
            _check_string(f"the variable {name}", f"{name}={value}")


@dataclass(frozen=True)
class Command:
    """A program and its arguments, or one line for a shell; exactly one of the two."""

    argv: tuple[str, ...] = ()
    shell: str | None = None  # for the shell tool only
    cwd: str = "."  # a folder of the workspace, relative to its root
    stdin: bytes = b""

    def __post_init__(self) -> None:
        if (self.shell is None) == (not self.argv):
            raise CommandRefused("give either a program with its arguments or one shell line.")
        if self.argv and (not self.argv[0] or self.argv[0].startswith("-")):
            raise CommandRefused("the program's name is empty or begins with a dash; give its path.")
        for argument in (*self.argv, self.shell or ""):
            _check_string("an argument", argument)

    def arguments(self) -> tuple[str, ...]:
        """What is executed; a shell line is run by bash where there is one, without its start-up files."""
        if self.shell is None:
            return self.argv
        shell = "/bin/bash" if Path("/bin/bash").exists() else "/bin/sh"
        return (shell, "-c", self.shell)


@dataclass(frozen=True)
class Output:
    """What was kept of one stream: its beginning, its end, and how much there was."""

    head: bytes
    tail: bytes
    total_bytes: int

    @property
    def left_out_bytes(self) -> int:
        """How many bytes between head and tail were dropped; 0 = everything is here."""
        return self.total_bytes - len(self.head) - len(self.tail)

    @property
    def truncated(self) -> bool:
        """Whether something is missing."""
        return self.left_out_bytes > 0

    def text(self) -> str:
        """Head and tail as UTF-8, what is not UTF-8 replaced, and a line that says how much is missing between them."""
        if not self.truncated:
            return (self.head + self.tail).decode("utf-8", "replace")
        gap = f"\n[... {self.left_out_bytes} bytes left out ...]\n"
        return self.head.decode("utf-8", "replace") + gap + self.tail.decode("utf-8", "replace")


@dataclass(frozen=True)
class Ended:
    """How a command ended. Nothing it started is alive any more.

    `signal` is what a shell would conclude: a program that itself exits with 128 + n looks the same. A program that
    could not be executed has exit code 127, and `stderr` says why.
    """

    exit_code: int | None  # None when it was killed or ended by a signal
    signal: int | None
    timed_out: bool
    killed: Killed | None  # the limit at which the sandbox ended it
    stdout: Output
    stderr: Output
    duration_ms: int


def check_size(command: Command, policy: SandboxPolicy) -> None:
    """Raises CommandRefused for more arguments and variables than a program can be started with."""
    strings = (*command.arguments(), *(f"{name}={value}" for name, value in policy.environment.items()))
    total = sum(len(text.encode("utf-8", "surrogateescape")) + 9 for text in strings)
    if total > MAX_STRINGS_BYTES:
        raise CommandRefused(
            f"its arguments and variables have {total} bytes and {MAX_STRINGS_BYTES} are the most; pass text by stdin or a file."
        )


def _check_string(what: str, text: str) -> None:
    if "\0" in text:
        raise CommandRefused(f"{what} holds a NUL character, which no program can be given.")
    try:
        size = len(text.encode("utf-8", "surrogateescape"))
    except UnicodeEncodeError:
        raise CommandRefused(f"{what} holds a lone surrogate, which is no text.") from None
    if size > MAX_STRING_BYTES:
        raise CommandRefused(
            f"{what} has {size} bytes and {MAX_STRING_BYTES} are the most; pass it by stdin or a file."
        )
