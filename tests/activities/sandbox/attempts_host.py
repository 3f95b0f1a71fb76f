"""Attempts on what the host holds: files, kernel interfaces, network and credentials."""

from collections.abc import Callable
from pathlib import Path

from activities.sandbox import Ended
from tests.activities.sandbox.attempt import Attempt, said
from tests.activities.sandbox.stage import Stage


def _unseen(*names: str) -> Callable[[Stage, Ended], str]:
    """Judges from outside that what was written is in none of these places (`{outer}`: above the workspace)."""

    def judge(on: Stage, ended: Ended) -> str:
        places = [Path(name.format(outer=on.workspace.root.parent, temporary="/tmp")) for name in names]
        return "not seen outside" if said(ended) == "written" and not any(map(Path.exists, places)) else said(ended)

    return judge


FILES = (
    Attempt(
        "files", "read a file beside the workspace", "not there", 'print(tried(read, stage["outside"] + "/secret"))'
    ),
    Attempt("files", "the same by `..`", "not there", 'print(tried(read, "../outside/secret"))'),
    Attempt("files", "the same through a link in the workspace", "not there", 'print(tried(read, "to-secret"))'),
    Attempt("files", "list a folder outside through a link", "not there", 'print(tried(os.listdir, "to-outside"))'),
    Attempt(
        "files",
        "the same by the descriptor of the root",
        "not there",
        'd = os.open("/", os.O_PATH)\nprint(tried(lambda: os.open(stage["outside"].lstrip("/"), os.O_RDONLY, dir_fd=d)))',
    ),
    Attempt("files", "read `/etc/shadow`", "not there", 'print(tried(read, "/etc/shadow"))'),
    Attempt(
        "files",
        "learn the host's accounts",
        "only its own three",
        'n = len(read("/etc/passwd").splitlines())\nprint("only its own three" if n == 3 else n)',
    ),
    Attempt("files", "write to `/etc`", "read-only", 'print(tried(write, "/etc/new"))'),
    Attempt("files", "write to `/usr`", "read-only", 'print(tried(write, "/usr/bin/new"))'),
    Attempt(
        "files", "replace a system program", "read-only", 'print(tried(os.rename, "/usr/bin/env", "/usr/bin/env2"))'
    ),
    Attempt(
        "files",
        "write to the interpreter",
        "read-only",
        'every([tried(write, stage[p] + "/lib/new.py") for p in ("prefix", "base_prefix")])',
    ),
    Attempt("files", "write beside everything, to `/`", "read-only", 'print(tried(write, "/new"))'),
    Attempt(
        "files",
        "leave a file beside the workspace",
        "not seen outside",
        'tried(write, "../left-by-sandbox")\nprint("written")',
        judge=_unseen("{outer}/left-by-sandbox"),
    ),
    Attempt(
        "files",
        "make `/usr` writable by a remount",
        "not permitted",
        'print(tried(call, "mount", b"none", b"/usr", None, 32, None))',
    ),
    Attempt(
        "files",
        "bind the root of the host's disk",
        "not permitted",
        'print(tried(call, "mount", b"/dev/vda", b"/tmp", b"ext4", 0, None))',
    ),
    Attempt(
        "files", "unmount what covers something", "not permitted", 'print(tried(call, "umount2", b"/proc/kcore", 0))'
    ),
    Attempt(
        "files",
        "mount by the new calls",
        "not permitted",
        "every([tried(call, n, 0, 0, 0, 0, 0) for n in (428, 429, 430, 431, 432, 433, 442)])",
    ),
    Attempt("files", "`chroot`", "not permitted", 'print(tried(os.chroot, "/tmp"))'),
    Attempt("files", "`pivot_root`", "not permitted", 'print(tried(call, "pivot_root", b"/tmp", b"/tmp"))'),
    Attempt(
        "files",
        "open a file of the disk by its handle",
        "not permitted",
        'print(tried(call, "open_by_handle_at", -100, ctypes.create_string_buffer(128), 0))',
    ),
    Attempt(
        "files",
        "hard-link a file of the system into the workspace",
        "another file system",
        'print(tried(os.link, "/usr/bin/env", "env"))',
    ),
    Attempt(
        "files",
        "rename the workspace itself",
        "in use",
        'print(tried(os.rename, stage["workspace"], stage["workspace"] + "2"))',
    ),
    Attempt(
        "files",
        "leave a set-user-id program in the workspace",
        "not permitted",
        'write("tool")\nevery([tried(os.chmod, "tool", m) for m in (0o4755, 0o2755, 0o6755)]\n'
        '+ [tried(os.open, "tool2", os.O_CREAT | os.O_WRONLY, 0o4755), tried(os.fchmod, os.open("tool", 1), 0o4755)]\n'
        '+ [tried(os.mknod, "tool3", 0o104755)])',
    ),
    Attempt(
        "files",
        "make a device in the workspace",
        "not permitted",
        'print(tried(os.mknod, "disk", 0o60600, os.makedev(254, 0)))',
    ),
    Attempt(
        "files",
        "leave a file in `/tmp`",
        "not seen outside",
        'write("/tmp" "/left-by-sandbox")\nprint("written")',
        judge=_unseen("{temporary}/left-by-sandbox"),
    ),
)

KERNEL = (
    Attempt(
        "kernel interfaces",
        "see the host's processes",
        "only its own",
        'print("only its own" if stage["worker"] not in processes() and len(processes()) == 2 else processes())',
    ),
    Attempt(
        "kernel interfaces",
        "read the worker's memory by `/proc`",
        "not there",
        'print(tried(read, "/proc/%d/mem" % stage["worker"]))',
    ),
    Attempt(
        "kernel interfaces",
        "read the worker's memory by `process_vm_readv`",
        "no such process",
        'b = ctypes.create_string_buffer(64)\nv = struct.pack("QQ", ctypes.addressof(b), 64)\n'
        'r = struct.pack("QQ", stage["address"], 64)\n'
        'print(tried(call, "process_vm_readv", stage["worker"], v, 1, r, 1, 0))\nprint(b.raw.strip(b"\\0").decode()'
        ' or "no such process")',
    ),
    Attempt(
        "kernel interfaces",
        "read the kernel's memory",
        "refused",
        'refused([tried(read, "/proc/kcore"), tried(read, "/proc/kallsyms")])',
    ),
    Attempt(
        "kernel interfaces",
        "read which pages the machine uses",
        "refused",
        'refused([tried(read, "/proc/" + n) for n in ("kpagecount", "kpageflags", "vmallocinfo")])',
    ),
    Attempt(
        "kernel interfaces",
        "set the kernel's core pattern",
        "read-only",
        'print(tried(writable, "/proc/sys/kernel/core_pattern"))',
    ),
    Attempt(
        "kernel interfaces",
        "open any of the kernel's settings for writing",
        "none of them",
        'names = [f + "/" + n for top in ("/proc/sys", "/proc/irq", "/proc/bus", "/proc/fs") for f, _, ns in os.walk(top) for n in ns]\n'
        'names += ["/proc/" + n for n in os.listdir("/proc") if os.path.isfile("/proc/" + n)]\n'
        'opened = [n for n in names if tried(writable, n).startswith("it worked")]\n'
        'print(opened or "none of them" if len(names) > 100 else "nothing was found to try")',
    ),
    Attempt("kernel interfaces", "press a SysRq key", "refused", 'refused([tried(writable, "/proc/sysrq-trigger")])'),
    Attempt(
        "kernel interfaces",
        "reach the root of process 1 for another one",
        "not there",
        'print(tried(read, "/proc/1/root" + stage["outside"] + "/secret"))',
    ),
    Attempt(
        "kernel interfaces",
        "find `/sys` and the control groups",
        "not there",
        'every([tried(os.listdir, "/sys"), tried(os.listdir, "/sys/fs/cgroup")])',
    ),
    Attempt(
        "kernel interfaces",
        "find disks, memory and machines in `/dev`",
        "not there",
        'every([tried(os.open, "/dev/" + n, 0) for n in ("vda", "sda", "mem", "kmsg", "kvm", "fuse", "vsock", "loop0")])',
    ),
    Attempt("kernel interfaces", "make a device or file in `/dev`", "read-only", 'print(tried(write, "/dev/new"))'),
    Attempt(
        "kernel interfaces",
        "read the kernel's log",
        "not permitted",
        'print(tried(call, "klogctl", 3, ctypes.create_string_buffer(64), 64))',
    ),
    Attempt(
        "kernel interfaces",
        "load BPF, count performance, handle page faults",
        "not permitted",
        'import platform\nn = {"x86_64": (321, 298, 323), "aarch64": (280, 241, 282)}[platform.machine()]\n'
        "every([tried(call, one, 0, 0, 0, 0, 0) for one in n])",
    ),
    Attempt(
        "kernel interfaces",
        "`io_uring`, which goes around filters",
        "no such call",
        "print(tried(call, 425, 8, ctypes.create_string_buffer(256)))",
    ),
    Attempt(
        "kernel interfaces",
        "make a user namespace",
        "not permitted",
        'every([tried(call, "unshare", f) for f in (0x10000000, 0x10020000, 0x40000000)])',
    ),
    Attempt(
        "kernel interfaces",
        "make one by `clone` and `clone3`",
        "not permitted; no such call",
        'import platform\nn = {"x86_64": 56, "aarch64": 220}[platform.machine()]\n'
        'print(tried(call, n, 0x10000011, 0, 0, 0, 0) + "; " + tried(call, 435, ctypes.create_string_buffer(88), 88))',
    ),
    Attempt(
        "kernel interfaces",
        "enter another namespace",
        "not permitted",
        'print(tried(call, "setns", os.open("/proc/1/ns/net", 0), 0))',
    ),
    Attempt(
        "kernel interfaces",
        "restart the machine, change its clock, add swap",
        "not permitted",
        'every([tried(call, "reboot", 0x1234567), tried(time.clock_settime, 0, time.time()), tried(call, "swapon", b"own", 0)])',
    ),
    Attempt(
        "kernel interfaces",
        "load a kernel module",
        "not permitted",
        'import platform\nn = {"x86_64": 175, "aarch64": 105}[platform.machine()]\nprint(tried(call, n, b"x", 1, b""))',
    ),
    Attempt(
        "kernel interfaces",
        "type into the terminal (TIOCSTI)",
        "not permitted",
        'import fcntl\nevery([tried(fcntl.ioctl, d, r, b"x") for d in (0, 1, 2) for r in (0x5412, 0x541C)])',
    ),
    Attempt(
        "kernel interfaces", "open the worker's terminal", "no terminal", 'print(tried(os.open, "/dev/tty", os.O_RDWR))'
    ),
)

NETWORK = (
    Attempt(
        "network",
        "reach a server on the host's loopback",
        "nobody listens",
        'print(tried(connect, socket.AF_INET, ("127.0.0.1", stage["port"])))',
    ),
    Attempt(
        "network",
        "reach an address outside by TCP",
        "no network",
        'print(tried(connect, socket.AF_INET, ("192.0.2.1", 80)))',
    ),
    Attempt(
        "network",
        "reach an address outside by UDP",
        "no network",
        'print(tried(connect, socket.AF_INET, ("192.0.2.1", 53), socket.SOCK_DGRAM))',
    ),
    Attempt(
        "network",
        "reach an address outside by IPv6",
        "no network",
        'print(tried(connect, socket.AF_INET6, ("2001:db8::1", 80)))',
    ),
    Attempt(
        "network",
        "find the host's interfaces",
        "only its own loopback",
        'n = [name for _, name in socket.if_nameindex()]\nprint("only its own loopback" if n == ["lo"] else n)',
    ),
    Attempt(
        "network",
        "connect to a socket file of the host",
        "not there",
        'print(tried(connect, socket.AF_UNIX, stage["socket"]))',
    ),
    Attempt(
        "network",
        "connect to an abstract socket of the host",
        "nobody listens",
        'print(tried(connect, socket.AF_UNIX, "\\0" + stage["abstract"]))',
    ),
    Attempt(
        "network",
        "find the sockets of the system's services",
        "not there",
        'every([tried(os.stat, p) for p in ("/run/docker.sock", "/var/run/docker.sock", "/run/dbus", "/run/systemd")])',
    ),
    Attempt(
        "network",
        "reach the machine below by vsock",
        "no such network",
        "print(tried(socket.socket, 40, socket.SOCK_STREAM))",
    ),
    Attempt(
        "network",
        "raw packets, Bluetooth and the kernel's cryptography",
        "no such network",
        "every([tried(socket.socket, f, socket.SOCK_RAW) for f in (17, 31, 38, 44)])",
    ),
    Attempt(
        "network",
        "raw IP in its own namespace",
        "not permitted",
        "print(tried(socket.socket, socket.AF_INET, socket.SOCK_RAW, 1))",
    ),
)

CREDENTIALS = (
    Attempt(
        "credentials",
        "read the worker's environment",
        "only what is listed",
        'n = set(os.environ) - {"PATH", "HOME", "LANG", "LC_CTYPE", "PWD", "SHLVL", "_"}\nprint(n or "only what is listed")',
    ),
    Attempt(
        "credentials",
        "read the environment of process 1",
        "empty",
        'print(read("/proc/1/environ").decode() or "empty")',
    ),
    Attempt(
        "credentials", "read the installation's home", "not there", 'print(tried(read, stage["installation"] + "/key"))'
    ),
    Attempt(
        "credentials",
        "read `.ssh`",
        "not there",
        'every([tried(os.listdir, p) for p in (stage["ssh"], stage["home"] + "/.ssh", os.path.expanduser("~/.ssh"))])',
    ),
    Attempt(
        "credentials",
        "find anything in the account's home but the way to the interpreter",
        "not there",
        'every([tried(os.stat, stage["home"] + "/" + n) for n in stage["home_names"]] or ["not there"])',
    ),
    Attempt(
        "credentials",
        "use a file the worker has open",
        "none open",
        'n = [d for d in os.listdir("/proc/self/fd") if int(d) > 2]\nprint("none open" if len(n) == 1 else n)',
    ),
    Attempt(
        "credentials",
        "read memory the host shares in `/dev/shm`",
        "not there",
        'print(tried(read, stage["shared_memory"]))',
    ),
    Attempt(
        "credentials",
        "read the kernel's key rings",
        "not permitted",
        'import platform\nn = {"x86_64": (250, 248, 249), "aarch64": (219, 217, 218)}[platform.machine()]\n'
        'every([tried(call, one, 0, -3, 0, 0, 0) for one in n] + [tried(read, "/proc/keys")])',
    ),
)
