"""What a command sees of the machine, as arguments of bubblewrap, in the order in which they are mounted.

The root is empty and read-only; only what is named here is in it, and only the workspace and /tmp can be written.
"""

import glob
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from activities.sandbox.policy import SandboxPolicy
from activities.sandbox.workspace import Workspace, interpreter_roots, refuse_exposure, refuse_system
from domain.contracts.errors import CommandRefused, PathRefused

UID = GID = 1000
HOSTNAME = "sandbox"
OWN_ETC = Path(__file__).with_name("etc")
MERGED = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
# Public parts of /etc that programs need. Nothing that names accounts, hosts or secrets of this machine.
SHOWN_ETC = (
    *("ld.so.cache", "ld.so.conf", "ld.so.conf.d", "alternatives", "localtime", "timezone", "mime.types", "services"),
    *("protocols", "ssl/certs", "ssl/openssl.cnf", "ca-certificates", "pki/tls/certs", "pki/ca-trust/extracted"),
    *("java-*", "debian_version", "os-release", "gai.conf", "magic", "terminfo"),
)
SHOWN_WITH_NETWORK = ("resolv.conf",)
# What the new /proc still says of the whole machine, to root without powers as well. Each costs half a millisecond.
MASKED_PROC_FILES = (
    "kallsyms",
    "kcore",
    "keys",
    "kpagecgroup",
    "kpagecount",
    "kpageflags",
    "timer_list",
    "vmallocinfo",
)
MASKED_PROC_FOLDERS = ("acpi", "asound", "bus", "fs", "scsi")
UNSHOWABLE = tuple(Path(name) for name in ("/boot", "/dev", "/proc", "/run", "/sys"))


@dataclass(frozen=True)
class View:
    """One command's share of the machine."""

    workspace: Workspace
    cwd: Path  # absolute, in the workspace
    policy: SandboxPolicy
    closed: tuple[Path, ...]  # of the host, never shown


def arguments(view: View) -> list[str]:
    """Bubblewrap's options without descriptors and command. Raises PathRefused and CommandRefused."""
    view.workspace.check(view.closed)
    return [*_namespaces(view.policy), *_environment(view.policy), *_system(view), *_places(view)]


def _namespaces(policy: SandboxPolicy) -> Iterator[str]:
    yield from ("--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup")
    if not policy.network:
        yield "--unshare-net"
    yield from ("--disable-userns", "--cap-drop", "ALL", "--uid", str(UID), "--gid", str(GID))
    yield from ("--hostname", HOSTNAME, "--new-session", "--die-with-parent")


def _environment(policy: SandboxPolicy) -> Iterator[str]:
    yield "--clearenv"
    for name, value in policy.environment.items():
        yield from ("--setenv", name, value)


def _system(view: View) -> Iterator[str]:
    yield from ("--ro-bind", "/usr", "/usr")
    for place in MERGED:
        if os.path.islink(place):
            yield from ("--symlink", os.readlink(place), place)
        elif os.path.isdir(place):
            yield from ("--ro-bind", place, place)
    for own in sorted(OWN_ETC.iterdir()):
        if not (own.name == "hosts" and view.policy.network):
            yield from ("--ro-bind", str(own), f"/etc/{own.name}")
    shown = (*SHOWN_ETC, *SHOWN_WITH_NETWORK, "hosts") if view.policy.network else SHOWN_ETC
    for pattern in shown:
        for place in sorted(glob.glob(f"/etc/{pattern}")):
            yield from ("--ro-bind", place, place)
    yield from _proc()
    limit = str(view.policy.limits.scratch_bytes)
    yield from ("--dev", "/dev", "--size", limit, "--tmpfs", "/dev/shm", "--remount-ro", "/dev")
    yield from ("--perms", "1777", "--size", limit, "--tmpfs", "/tmp", "--symlink", "/tmp", "/var/tmp")


def _proc() -> Iterator[str]:
    yield from ("--proc", "/proc")
    for name in MASKED_PROC_FILES:
        if os.path.exists(f"/proc/{name}"):
            yield from ("--ro-bind", "/dev/null", f"/proc/{name}")
    for name in MASKED_PROC_FOLDERS:
        if os.path.isdir(f"/proc/{name}"):
            yield from ("--size", "4096", "--tmpfs", f"/proc/{name}", "--remount-ro", f"/proc/{name}")
    # Root outside is the owner of the kernel's settings inside, whatever it is called there, and needs no capability.
    yield from ("--remount-ro", "/proc")


def _places(view: View) -> Iterator[str]:
    """The interpreter, what the policy shows, and last the workspace."""
    for root in interpreter_roots():
        refuse_exposure(root, view.closed)
        yield from ("--ro-bind", str(root), str(root))
        # credentials of package indexes
        if (root / "pip.conf").exists():
            yield from ("--ro-bind", "/dev/null", str(root / "pip.conf"))
    for place in view.policy.read_only:
        _check_shown(place, view)
        yield from ("--ro-bind", str(place), str(place))
    root = str(view.workspace.root)
    yield from ("--bind", root, root, "--remount-ro", "/", "--chdir", str(view.cwd))


def _check_shown(place: Path, view: View) -> None:
    if not place.is_absolute() or ".." in place.parts:
        raise CommandRefused(f"the read-only path {place} must be absolute and without `..`.")
    if not place.exists():
        raise PathRefused(f"the read-only path {place} does not exist.")
    for seen in (place, Path(os.path.realpath(place))):
        if seen == Path("/etc"):
            raise PathRefused("/etc holds the machine's credentials; show the parts of it that are needed.")
        refuse_system(seen, UNSHOWABLE)
        refuse_exposure(seen, view.closed)
        root = view.workspace.root
        if seen == root or seen in root.parents or root in seen.parents:
            raise PathRefused(
                f"the read-only path {place} and the workspace {root} overlap; the workspace is shown whole."
            )
