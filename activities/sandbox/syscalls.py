"""The system call filter of every command, as the kernel's own bytes: what namespaces do not hold, this refuses.

It closes what is shared by all namespaces (kernel keyrings, vsock and other socket families, BPF, performance counters),
what makes new namespaces and mounts, and the set-user-id bit, which would outlive the sandbox in the workspace.
Everything else is let through: it is the second wall, not the first.
"""

import errno
import functools
import struct
from collections.abc import Sequence

from activities.sandbox.syscall_numbers import MACHINES, Machine
from domain.contracts.errors import SandboxUnavailable

REFUSED = (
    *("acct", "add_key", "bpf", "chroot", "clock_settime", "delete_module", "fanotify_init", "finit_module"),
    *("fsconfig", "fsmount", "fsopen", "fspick", "init_module", "ioperm", "iopl", "kcmp", "kexec_file_load"),
    *("kexec_load", "keyctl", "lookup_dcookie", "mount", "mount_setattr", "move_mount", "open_by_handle_at"),
    *("open_tree", "open_tree_attr", "perf_event_open", "pivot_root", "quotactl", "quotactl_fd", "reboot"),
    *("request_key", "setns", "settimeofday", "swapoff", "swapon", "syslog", "umount2", "userfaultfd", "vhangup"),
)
# Their arguments lie in memory, where a filter cannot look: programs fall back to the older call.
UNKNOWN = ("clone3", "io_uring_enter", "io_uring_register", "io_uring_setup", "memfd_secret", "openat2")
MODE_ARGUMENT = {"chmod": 1, "fchmod": 1, "fchmodat": 2, "fchmodat2": 2, "creat": 1, "mknod": 1, "mknodat": 2}
OPEN_ARGUMENTS = {"open": (1, 2), "openat": (2, 3)}  # flags, mode
NAMESPACES = 0x7E020080  # every CLONE_NEW*
NAMESPACES_OF_CLONE = 0x7E020000  # the lowest byte of its flags is a signal
SET_ID_BITS = 0o6000
CREATING = 0o100 | 0o20000000  # O_CREAT, and the bit of O_TMPFILE that is its own
FAMILIES = (1, 2, 10, 16)  # unix, IPv4, IPv6, netlink: those that a network namespace holds
PAIR_FAMILIES = (1,)
TERMINAL_INPUT = (0x5412, 0x541C)  # TIOCSTI, TIOCLINUX

LOAD, EQUAL, AT_LEAST, ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
NUMBER, AUDIT, ARGUMENTS = 0, 4, 16
ALLOW, ERROR = 0x7FFF0000, 0x00050000
X32 = 0x40000000

Instruction = tuple[int, int, int, int]  # code, jump if true, jump if false, operand


@functools.cache
def filter_program(machine: str) -> bytes:
    """The filter for `bwrap --seccomp`. Raises SandboxUnavailable for a machine whose numbers are not known."""
    known = MACHINES.get(machine)
    if known is None:
        raise SandboxUnavailable(f"there is no system call filter for {machine}; use one of {', '.join(MACHINES)}.")
    program = [(LOAD, 0, 0, AUDIT), (EQUAL, 1, 0, known.audit), _fail(errno.ENOSYS), (LOAD, 0, 0, NUMBER)]
    if machine == "x86_64":
        program += [(AT_LEAST, 0, 1, X32), _fail(errno.ENOSYS)]
    for name in REFUSED:
        program += _when(known, name, [_fail(errno.EPERM)])
    for name in UNKNOWN:
        program += _when(known, name, [_fail(errno.ENOSYS)])
    program += _by_arguments(known)
    program.append((RETURN, 0, 0, ALLOW))
    return b"".join(struct.pack("=HBBI", *one) for one in program)


def _by_arguments(machine: Machine) -> list[Instruction]:
    rules: list[Instruction] = []
    rules += _when(machine, "unshare", _refuse_bits(0, NAMESPACES))
    rules += _when(machine, "clone", _refuse_bits(0, NAMESPACES_OF_CLONE))
    for name, place in MODE_ARGUMENT.items():
        rules += _when(machine, name, _refuse_bits(place, SET_ID_BITS))
    for name, (flags, mode) in OPEN_ARGUMENTS.items():
        # without O_CREAT the mode is whatever the register held
        creates = [_argument(flags), (ANY_BIT, 1, 0, CREATING), (RETURN, 0, 0, ALLOW)]
        rules += _when(machine, name, creates + _refuse_bits(mode, SET_ID_BITS))
    rules += _when(machine, "socket", _allow_values(0, FAMILIES, errno.EAFNOSUPPORT))
    rules += _when(machine, "socketpair", _allow_values(0, PAIR_FAMILIES, errno.EAFNOSUPPORT))
    for request in TERMINAL_INPUT:
        rules += _when(
            machine, "ioctl", [_argument(1), (EQUAL, 0, 1, request), _fail(errno.EPERM), (LOAD, 0, 0, NUMBER)]
        )
    return rules


def _when(machine: Machine, name: str, block: Sequence[Instruction]) -> list[Instruction]:
    """`block` for one call, whose number is loaded here; nothing where the machine does not have it."""
    number = machine.calls[name]
    return [] if number is None else [(EQUAL, 0, len(block), number), *block]


def _refuse_bits(place: int, bits: int) -> list[Instruction]:
    return [_argument(place), (ANY_BIT, 0, 1, bits), _fail(errno.EPERM), (RETURN, 0, 0, ALLOW)]


def _allow_values(place: int, values: Sequence[int], otherwise: int) -> list[Instruction]:
    compared = [(EQUAL, len(values) - index, 0, value) for index, value in enumerate(values)]
    return [_argument(place), *compared, _fail(otherwise), (RETURN, 0, 0, ALLOW)]


def _argument(place: int) -> Instruction:
    """Loads the lower half of an argument; both machines are little-endian, and the kernel drops the upper half too."""
    return (LOAD, 0, 0, ARGUMENTS + 8 * place)


def _fail(code: int) -> Instruction:
    return (RETURN, 0, 0, ERROR | code)
