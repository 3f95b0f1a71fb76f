"""What every attempt inside a sandbox starts with: it tries, and says in one line how far it came."""

PRELUDE = """
import ctypes, errno, json, os, signal, socket, struct, sys, time
stage = json.loads(sys.argv[1])
libc = ctypes.CDLL(None, use_errno=True)
WORDS = {
    errno.ENOENT: "not there", errno.EPERM: "not permitted", errno.EACCES: "not permitted", errno.EROFS: "read-only",
    errno.ENETUNREACH: "no network", errno.ECONNREFUSED: "nobody listens", errno.ESRCH: "no such process",
    errno.ENOSYS: "no such call", errno.ENXIO: "no terminal", errno.ENOTTY: "no terminal",
    errno.EAFNOSUPPORT: "no such network", errno.EFBIG: "over the limit", errno.EMFILE: "over the limit",
    errno.ENOSPC: "no space", errno.ENOMEM: "no memory", errno.EXDEV: "another file system", errno.EINVAL: "no such account",
    errno.EBUSY: "in use", errno.EAGAIN: "over the limit", errno.ENODEV: "not there",
}

def tried(function, *arguments):
    try:
        result = function(*arguments)
    except OSError as error:
        return WORDS.get(error.errno, error.strerror)
    except MemoryError:
        return "no memory"
    return "it worked: %r" % (result,)

def every(words):
    words = sorted(set(words))
    print(words[0] if len(words) == 1 else words)

def refused(words):
    # for what some kernels do not have at all
    odd = set(words) - {"not there", "not permitted", "read-only", "no such call"}
    print(sorted(odd) if odd else "refused")

def call(name_or_number, *arguments):
    function = getattr(libc, name_or_number) if isinstance(name_or_number, str) else libc.syscall
    if not isinstance(name_or_number, str):
        arguments = (name_or_number, *arguments)
    result = function(*(ctypes.c_long(a) if isinstance(a, int) else a for a in arguments))
    if result == -1:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result

def read(path):
    with open(path, "rb") as file:
        return file.read(4096)

def write(path):
    with open(path, "wb") as file:
        file.write(b"x")
        file.flush()

def writable(path):
    # opens for writing and writes nothing: where the wall is broken, the machine must not be
    os.close(os.open(path, os.O_WRONLY))

def processes():
    return sorted(int(name) for name in os.listdir("/proc") if name.isdigit())

def connect(family, address, kind=socket.SOCK_STREAM):
    with socket.socket(family, kind) as made:
        made.settimeout(3)
        made.connect(address)
        made.send(b"x")
"""
