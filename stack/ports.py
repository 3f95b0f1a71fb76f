"""Loopback ports: finding free ones, and saying in one sentence that a wanted one is taken."""

import contextlib
import socket

from stack.errors import PortInUse

LOOPBACK = "127.0.0.1"


def free_ports(count: int) -> list[int]:
    """`count` different ports that are free at this moment; all are held until the last is known."""
    with contextlib.ExitStack() as held:
        return [_bound(held, 0) for _ in range(count)]


def check_free(purpose: str, port: int, variable: str) -> None:
    """Raises PortInUse, naming the variable that chooses another, when somebody listens there."""
    with contextlib.ExitStack() as held:
        try:
            _bound(held, port)
        except OSError:
            raise PortInUse(purpose, port, variable) from None


def answers(port: int) -> bool:
    """True when something accepts connections on the loopback port."""
    try:
        with socket.create_connection((LOOPBACK, port), timeout=1.0) as made:
            # A port of the ephemeral range can be given to this very connection, which then answers itself.
            return bool(made.getsockname() != made.getpeername())
    except OSError:
        return False


def _bound(held: contextlib.ExitStack, port: int) -> int:
    listener = held.enter_context(socket.socket(socket.AF_INET, socket.SOCK_STREAM))
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((LOOPBACK, port))
    chosen: int = listener.getsockname()[1]
    return chosen
