"""A launcher of about 15 ms that gives a server its identity and its end, then becomes it.

It runs alone (`python -I -S launch.py INSTRUCTIONS PROGRAM ...`) and imports nothing of the project, so that the
pid the caller holds is the server's own and no code runs between fork and exec of a threaded parent.
"""

import ctypes
import json
import os
import sys

CLONE_NEWUSER = 0x10000000
PR_SET_PDEATHSIG = 1
FAILED = 125


def enter_user_namespace(uid: int, gid: int) -> None:
    """Makes this process `uid` in a user namespace of its own; files keep the outer owner. Raises OSError."""
    outer_uid, outer_gid = os.geteuid(), os.getegid()
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWUSER) != 0:
        code = ctypes.get_errno()
        raise OSError(code, f"user namespaces are off ({os.strerror(code)})")
    for name, text in (("setgroups", "deny"), ("uid_map", f"{uid} {outer_uid} 1"), ("gid_map", f"{gid} {outer_gid} 1")):
        with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
            file.write(text)


def switch_user(uid: int, gid: int) -> None:
    """Becomes another user for good. Raises OSError when not root."""
    os.setgroups([])
    os.setgid(gid)
    os.setuid(uid)


def end_with(parent: int, signal_number: int) -> None:
    """Asks the kernel for a signal when the parent ends; called last, because a change of identity clears it."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_PDEATHSIG, signal_number, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl refused PR_SET_PDEATHSIG")
    if os.getppid() != parent:
        sys.exit(FAILED)


def main() -> None:
    instructions = json.loads(sys.argv[1])
    program = sys.argv[2:]
    os.umask(0o077)
    try:
        if instructions["namespace"] is not None:
            enter_user_namespace(*instructions["namespace"])
        if instructions["user"] is not None:
            switch_user(*instructions["user"])
        if instructions["death_signal"] is not None:
            end_with(instructions["parent"], instructions["death_signal"])
        os.execv(program[0], program)
    except OSError as error:
        sys.stderr.write(f"could not start {program[0]}: {error}\n")
        sys.exit(FAILED)


if __name__ == "__main__":
    main()
