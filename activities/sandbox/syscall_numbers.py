"""Numbers of the system calls the filter names, per machine, from the kernel's own tables; None = the machine has no such call.

A call that is missing here is let through by the filter: add it to both machines at once.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final


@dataclass(frozen=True)
class Machine:
    """One instruction set: its number in audit records, and its calls by name."""

    audit: int
    calls: Mapping[str, int | None]


# name: (x86_64, aarch64); numbers from 424 on are the same everywhere
_CALLS: Final[Mapping[str, tuple[int | None, int | None]]] = MappingProxyType(
    {
        "acct": (163, 89),
        "add_key": (248, 217),
        "bpf": (321, 280),
        "chmod": (90, None),
        "chroot": (161, 51),
        "clock_settime": (227, 112),
        "clone": (56, 220),
        "clone3": (435, 435),
        "creat": (85, None),
        "delete_module": (176, 106),
        "fanotify_init": (300, 262),
        "fchmod": (91, 52),
        "fchmodat": (268, 53),
        "fchmodat2": (452, 452),
        "finit_module": (313, 273),
        "fsconfig": (431, 431),
        "fsmount": (432, 432),
        "fsopen": (430, 430),
        "fspick": (433, 433),
        "init_module": (175, 105),
        "io_uring_enter": (426, 426),
        "io_uring_register": (427, 427),
        "io_uring_setup": (425, 425),
        "ioctl": (16, 29),
        "ioperm": (173, None),
        "iopl": (172, None),
        "kcmp": (312, 272),
        "kexec_file_load": (320, 294),
        "kexec_load": (246, 104),
        "keyctl": (250, 219),
        "lookup_dcookie": (212, 18),
        "memfd_secret": (447, 447),
        "mknod": (133, None),
        "mknodat": (259, 33),
        "mount": (165, 40),
        "mount_setattr": (442, 442),
        "move_mount": (429, 429),
        "open": (2, None),
        "open_by_handle_at": (304, 265),
        "open_tree": (428, 428),
        "open_tree_attr": (467, 467),
        "openat": (257, 56),
        "openat2": (437, 437),
        "perf_event_open": (298, 241),
        "pivot_root": (155, 41),
        "quotactl": (179, 60),
        "quotactl_fd": (443, 443),
        "reboot": (169, 142),
        "request_key": (249, 218),
        "setns": (308, 268),
        "settimeofday": (164, 170),
        "socket": (41, 198),
        "socketpair": (53, 199),
        "swapoff": (168, 225),
        "swapon": (167, 224),
        "syslog": (103, 116),
        "umount2": (166, 39),
        "unshare": (272, 97),
        "userfaultfd": (323, 282),
        "vhangup": (153, 58),
    }
)

MACHINES: Final[Mapping[str, Machine]] = MappingProxyType(
    {
        "x86_64": Machine(0xC000003E, MappingProxyType({name: row[0] for name, row in _CALLS.items()})),
        "aarch64": Machine(0xC00000B7, MappingProxyType({name: row[1] for name, row in _CALLS.items()})),
    }
)
