"""The files that steer the embedded Postgres: configuration, who may connect, its secret, and its address.

Durability is never traded: fsync and synchronous_commit stay on unless a test says otherwise in so many words.
"""

import hashlib
import hmac
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

DATABASE = "temporality"
SUPERUSER = "postgres"
OWNER = "temporality_owner"
APP = "temporality_app"
SOCKET_PORT = 5432  # names the socket file only, no port is opened
SOCKET_PATH_BYTES = 107  # sockaddr_un.sun_path less its final zero
SECRET_FILE = "temporality.secret"
# A comma separates addresses for libpq and Postgres, and the others would need quoting that neither undoes alike.
UNUSABLE_IN_SOCKET_PATHS = frozenset(",\"'\\\n\r\0@")

SETTINGS: Mapping[str, str] = {
    "port": str(SOCKET_PORT),
    "max_connections": "100",
    "shared_buffers": "128MB",
    "fsync": "on",
    "synchronous_commit": "on",
    "full_page_writes": "on",
    "password_encryption": "scram-sha-256",
    "unix_socket_permissions": "0700",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "datestyle": "ISO, MDY",
    "lc_messages": "C",
    "jit": "off",
    "log_checkpoints": "off",
    "bonjour": "off",
}


@dataclass(frozen=True)
class SocketAddress:
    """A folder with the server's unix socket; who may enter it may connect."""

    folder: Path

    @property
    def socket(self) -> Path:
        return self.folder / f".s.PGSQL.{SOCKET_PORT}"


@dataclass(frozen=True)
class LoopbackAddress:
    """A loopback port, for where no socket path is short enough; every role has a password."""

    port: int


Address = SocketAddress | LoopbackAddress


def socket_fits(folder: Path) -> bool:
    """True when a socket in this folder can be opened by the server and by libpq."""
    name = str(SocketAddress(folder).socket)
    return len(os.fsencode(name)) <= SOCKET_PATH_BYTES and not UNUSABLE_IN_SOCKET_PATHS & set(name)


def short_folder() -> Path | None:
    """A new private folder with a path short enough for a socket, or None where there is none."""
    for parent in (tempfile.gettempdir(), "/tmp"):
        if socket_fits(Path(parent) / "temporality-12345678"):
            return Path(tempfile.mkdtemp(prefix="temporality-", dir=parent))
    return None


def configuration(address: Address, extra: Mapping[str, str]) -> str:
    """The text of `temporality.conf`: the settings, then where to listen, then what a caller adds."""
    values = dict(SETTINGS)
    if isinstance(address, SocketAddress):
        values |= {"listen_addresses": "", "unix_socket_directories": str(address.folder)}
    else:
        values |= {"listen_addresses": "127.0.0.1", "unix_socket_directories": "", "port": str(address.port)}
    values |= extra
    return "".join(f"{name} = '{_quoted(value)}'\n" for name, value in values.items())


def access_rules(address: Address) -> str:
    """The text of `pg_hba.conf`: the socket's folder is the guard, or a password is."""
    if isinstance(address, SocketAddress):
        return "local all all trust\n"
    return "host all all 127.0.0.1/32 scram-sha-256\n"


def password(secret: str, role: str) -> str:
    """The password of a role, derived so that one secret in the data folder holds all of them."""
    return hmac.new(secret.encode(), role.encode(), hashlib.sha256).hexdigest()


def url(address: Address, role: str, database: str, secret: str) -> str:
    """A libpq URL for the role, e.g. `postgresql://temporality_app@/temporality?host=%2Frun&port=5432`."""
    path = quote(database, safe="")
    if isinstance(address, SocketAddress):
        return f"postgresql://{role}@/{path}?host={quote(str(address.folder), safe='')}&port={SOCKET_PORT}"
    return f"postgresql://{role}:{password(secret, role)}@127.0.0.1:{address.port}/{path}"


def _quoted(value: str) -> str:
    return value.replace("\\", "\\\\").replace("'", "''")
