"""As whom Postgres runs: the caller, or somebody else, because it refuses root and initdb a uid without an account.

Root enters a user namespace of its own, which works under folders only root can enter and leaves the files root's;
where namespaces are off it switches to an unprivileged user. The owner of an existing data folder decides first.
"""

import os
import pwd
from pathlib import Path

from stack.errors import CannotLeaveRoot, NoAccount
from stack.process import Launch, RunAs, run

SWITCH_TO = ("postgres", "nobody")
# Inside a namespace any account will do that the machine knows; nobody last, because unmapped files look like its own.
APPEAR_AS = ("postgres", "daemon", "bin", "nobody")
PROBE_SECONDS = 20.0


def choose(folder: Path, data_dir: Path, program: Path) -> RunAs:
    """The identity for the data folder. Raises CannotLeaveRoot, or NoAccount for an ordinary user without one."""
    inside = RunAs(namespace=_account(APPEAR_AS))
    if os.geteuid() != 0:
        if _has_account(os.geteuid()):
            return RunAs()
        if inside.namespace is None or _refusal(inside, folder, program) is not None:
            raise NoAccount(os.geteuid())
        return inside
    if data_dir.exists() and data_dir.stat().st_uid != 0:
        owner = data_dir.stat()
        return _checked(RunAs(user=(owner.st_uid, owner.st_gid)), folder, program)
    if inside.namespace is not None and _refusal(inside, folder, program) is None:
        return inside
    switched = _checked(unprivileged_user(), folder, program)
    hand_over_tree(data_dir, switched)
    return switched


def unprivileged_user() -> RunAs:
    """The first ordinary account a server may run as. Raises CannotLeaveRoot when there is none."""
    account = _account(SWITCH_TO)
    if account is None:
        raise CannotLeaveRoot("neither user namespaces nor an unprivileged account are at hand")
    return RunAs(user=account)


def hand_over_tree(folder: Path, run_as: RunAs) -> None:
    """Gives a folder and everything in it to the account the server switches to."""
    if run_as.user is None:
        return
    for place, _, names in os.walk(folder):
        os.chown(place, *run_as.user)
        for name in names:
            os.chown(Path(place) / name, *run_as.user, follow_symlinks=False)


def hand_over(path: Path, run_as: RunAs) -> None:
    """Gives a file or folder to the account the server switches to; nothing to do for the other identities."""
    if run_as.user is not None:
        os.chown(path, *run_as.user)


def _account(names: tuple[str, ...]) -> tuple[int, int] | None:
    """uid and gid of the first of these accounts that exists."""
    for name in names:
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return entry.pw_uid, entry.pw_gid
    return None


def _has_account(uid: int) -> bool:
    try:
        pwd.getpwuid(uid)
    except KeyError:
        return False
    return True


def _checked(run_as: RunAs, folder: Path, program: Path) -> RunAs:
    hand_over(folder, run_as)
    home = folder.parent
    if home.stat().st_uid == 0:
        home.chmod(home.stat().st_mode | 0o011)  # to pass through, not to read
    refusal = _refusal(run_as, folder, program)
    if refusal is not None:
        raise CannotLeaveRoot(f"the account with uid {run_as.user and run_as.user[0]} cannot work there ({refusal})")
    return run_as


def _refusal(run_as: RunAs, folder: Path, program: Path) -> str | None:
    """Why the program cannot be run so with a file of the folder in hand, or None when it can."""
    probe = folder / ".identity-probe"
    probe.write_text("", encoding="ascii")
    try:
        hand_over(probe, run_as)
        readable = ("/usr/bin/env", "test", "-r", str(probe))
        seen = run(Launch(argv=readable, cwd=Path("/"), log=None, run_as=run_as), PROBE_SECONDS)
        if seen.returncode != 0:
            return seen.stdout.strip() or f"the folder {folder} is closed to it"
        told = run(Launch(argv=(str(program), "--version"), cwd=Path("/"), log=None, run_as=run_as), PROBE_SECONDS)
        return None if told.returncode == 0 else told.stdout.strip() or f"{program} did not run"
    finally:
        probe.unlink(missing_ok=True)
