"""The settings of Temporality, read once from the environment, which nothing else reads.

Every value is checked here: a wrong one gives a sentence that names its variable, and none is ever guessed.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal
from urllib.parse import parse_qsl, urlsplit

from domain.access.scope import actor_refusal
from domain.contracts.observed_run import DEFAULT_IDLE_SECONDS
from stack import record
from stack.errors import SettingInvalid, StackNotRunning
from stack.keys import KEY_BYTES, key_path

if TYPE_CHECKING:
    from temporalio.envconfig import ClientConnectConfig

ROOT = Path(__file__).resolve().parent
DEFAULT_HOME = ROOT / ".temporality"
DEFAULT_MAX_DOCUMENT_BYTES = 16 * 1024 * 1024
DEFAULT_EXTRACTION_CAP = 7
DEFAULT_TEMPORAL_PORT = 7233
DEFAULT_UI_PORT = 8233
ARTIFACTS_IN_POSTGRES: Literal["postgres"] = "postgres"
# A file of the user's is read only when named: a profile for some other cluster must not capture this project.
TEMPORAL_SELECTORS = ("TEMPORAL_ADDRESS", "TEMPORAL_PROFILE", "TEMPORAL_CONFIG_FILE")


@dataclass(frozen=True)
class TemporalConnection:
    """What `Client.connect(**connect)` takes; `ui_url` is known for the embedded server only."""

    address: str
    namespace: str
    connect: ClientConnectConfig = field(repr=False)  # may hold an API key
    ui_url: str | None = None


@dataclass(frozen=True)
class Settings:
    """Every setting. Where a server was not named, the methods ask the running stack of `home`."""

    home: Path
    actor: str | None  # who decides, `type:issuer:id`
    artifacts: Path | Literal["postgres"]
    max_document_bytes: int  # a single JSON document above this is refused
    idle_seconds: int  # an observed run without a batch for so long closes as abandoned
    extraction_cap: int  # candidates of one extraction
    temporal_port: int | None  # of the embedded server; None = any free port
    ui_port: int | None
    named_database_url: str | None = field(repr=False)
    named_owner_database_url: str | None = field(repr=False)
    key_file: Path | None
    named_key: bytes | None = field(repr=False)
    named_temporal: TemporalConnection | None

    def database_url(self) -> str:
        """The application role's libpq URL. Raises StackNotRunning when none is named and no stack runs."""
        if self.named_database_url is not None:
            return self.named_database_url
        return self._postgres().app_url

    def owner_database_url(self) -> str:
        """The URL for migrations; a database of one's own may use one role for both. Raises StackNotRunning."""
        if self.named_owner_database_url is not None:
            return self.named_owner_database_url
        if self.named_database_url is not None:
            return self.named_database_url
        return self._postgres().owner_url

    def temporal(self) -> TemporalConnection:
        """Where Temporal is and how to connect. Raises StackNotRunning when none is named and no stack runs."""
        if self.named_temporal is not None:
            return self.named_temporal
        told = record.running(self.home).temporal
        if told is None:
            raise StackNotRunning(self.home)
        connect: ClientConnectConfig = {"target_host": told.address, "namespace": told.namespace}
        return TemporalConnection(told.address, told.namespace, connect, told.ui_url)

    def installation_key(self) -> bytes | None:
        """The 32 bytes under which origin hashes and fingerprints are made; None where this client has none."""
        if self.named_key is not None:
            return self.named_key
        path = self.key_file or key_path(self.home)
        if self.key_file is None and not path.exists():
            return None
        try:
            found = path.read_bytes()
        except OSError as error:
            reason = f"names {path}, which cannot be read ({error.strerror})"
            raise SettingInvalid("TEMPORALITY_KEY_FILE", reason) from None
        if len(found) == KEY_BYTES:
            return found
        return _hex_key("TEMPORALITY_KEY_FILE", found.decode("ascii", errors="replace").strip())

    @property
    def worker_ready_file(self) -> Path:
        """Where the worker says that it is polling."""
        return self.home / "worker.ready"

    def _postgres(self) -> record.PostgresEndpoint:
        told = record.running(self.home).postgres
        if told is None:
            raise StackNotRunning(self.home)
        return told


def load(environ: Mapping[str, str] | None = None) -> Settings:
    """The settings of this process, or of the mapping. Raises SettingInvalid, which names the variable."""
    given = {name: value for name, value in (os.environ if environ is None else environ).items() if value != ""}
    home = _path(given, "TEMPORALITY_HOME") or DEFAULT_HOME
    key = given.get("TEMPORALITY_KEY")
    return Settings(
        home=home,
        actor=_actor(given),
        artifacts=_artifacts(given, home),
        max_document_bytes=_whole(given, "TEMPORALITY_MAX_DOCUMENT_BYTES", DEFAULT_MAX_DOCUMENT_BYTES, 1024, 2**31),
        idle_seconds=_whole(given, "TEMPORALITY_IDLE_SECONDS", DEFAULT_IDLE_SECONDS, 1, 366 * 86400),
        extraction_cap=_whole(given, "TEMPORALITY_EXTRACTION_CAP", DEFAULT_EXTRACTION_CAP, 0, 100),
        temporal_port=_whole(given, "TEMPORALITY_TEMPORAL_PORT", DEFAULT_TEMPORAL_PORT, 0, 65535) or None,
        ui_port=_whole(given, "TEMPORALITY_UI_PORT", DEFAULT_UI_PORT, 0, 65535) or None,
        named_database_url=_database_url(given, "DATABASE_URL"),
        named_owner_database_url=_database_url(given, "TEMPORALITY_OWNER_DATABASE_URL"),
        key_file=_path(given, "TEMPORALITY_KEY_FILE"),
        named_key=None if key is None else _hex_key("TEMPORALITY_KEY", key),
        named_temporal=_temporal(given),
    )


def program_environment(settings: Settings, environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment of a program that must see these settings from another working folder, e.g. the worker."""
    given = dict(os.environ if environ is None else environ)
    given["TEMPORALITY_HOME"] = str(settings.home)
    if isinstance(settings.artifacts, Path):
        given["TEMPORALITY_ARTIFACTS"] = str(settings.artifacts)
    if settings.key_file is not None:
        given["TEMPORALITY_KEY_FILE"] = str(settings.key_file)
    return given


def _whole(given: Mapping[str, str], variable: str, default: int, least: int, most: int) -> int:
    text = given.get(variable)
    if text is None:
        return default
    if not (text.isascii() and text.isdigit() and len(text) <= 19 and least <= int(text) <= most):
        raise SettingInvalid(variable, f"is {text[:40]!r}; give a whole number from {least} to {most}")
    return int(text)


def _path(given: Mapping[str, str], variable: str) -> Path | None:
    text = given.get(variable)
    if text is None:
        return None
    if "\0" in text or "\n" in text:
        raise SettingInvalid(variable, "holds a line break or a zero byte; give a plain path")
    return Path(os.path.abspath(Path(text).expanduser()))


def _artifacts(given: Mapping[str, str], home: Path) -> Path | Literal["postgres"]:
    if given.get("TEMPORALITY_ARTIFACTS") == ARTIFACTS_IN_POSTGRES:
        return ARTIFACTS_IN_POSTGRES
    if "://" in given.get("TEMPORALITY_ARTIFACTS", ""):
        raise SettingInvalid(
            "TEMPORALITY_ARTIFACTS", "is a URL here; give a folder, or `postgres` for the journal's database"
        )
    folder = _path(given, "TEMPORALITY_ARTIFACTS") or home / "artifacts"
    if folder.exists() and not folder.is_dir():
        reason = f"names {folder}, which is no folder; give a folder or `postgres`"
        raise SettingInvalid("TEMPORALITY_ARTIFACTS", reason)
    return folder


def _actor(given: Mapping[str, str]) -> str | None:
    actor = given.get("TEMPORALITY_ACTOR")
    refusal = actor_refusal(actor) if actor is not None else None
    if refusal is not None:
        raise SettingInvalid("TEMPORALITY_ACTOR", f"is not usable: {refusal}")
    return actor


def _hex_key(variable: str, text: str) -> bytes:
    try:
        key = bytes.fromhex(text)
    except ValueError:
        key = b""
    if len(key) != KEY_BYTES:
        raise SettingInvalid(variable, f"must hold {KEY_BYTES} bytes, written as {2 * KEY_BYTES} hexadecimal digits")
    return key


def _database_url(given: Mapping[str, str], variable: str) -> str | None:
    """A libpq URL; the forms of SQLAlchemy (`postgresql+psycopg://`) are taken too."""
    text = given.get(variable)
    if text is None:
        return None
    scheme, separator, rest = text.partition("://")
    kind = scheme.partition("+")[0]
    if kind not in {"postgresql", "postgres"} or not separator:
        raise SettingInvalid(variable, "must be a URL like postgresql://user:password@host:5432/database")
    url = f"postgresql://{rest}"
    try:
        parts = urlsplit(url)
        known = bool(parts.hostname) or any(name == "host" for name, _ in parse_qsl(parts.query))
        # Several hosts, as libpq allows them, are beyond what urlsplit reads.
        known = known and ("," in parts.netloc or parts.port is None or parts.port > 0)
    except ValueError as error:
        raise SettingInvalid(variable, f"is no URL ({error})") from None
    if not known or parts.path in {"", "/"}:
        raise SettingInvalid(variable, "must name a host and a database, like postgresql://host:5432/database")
    return url


def _temporal(given: Mapping[str, str]) -> TemporalConnection | None:
    """Temporal's own configuration, when it names a server; the SDK is imported only then, because that is slow."""
    if not any(name in given for name in TEMPORAL_SELECTORS):
        return None
    from temporalio.envconfig import ClientConfigProfile

    named_file = any(name in given for name in TEMPORAL_SELECTORS[1:])
    variable = next(name for name in TEMPORAL_SELECTORS if name in given)
    try:
        profile = ClientConfigProfile.load(disable_file=not named_file, override_env_vars=given)
        connect = profile.to_client_connect_config()
    except (RuntimeError, ValueError, OSError) as error:
        raise SettingInvalid(variable, f"cannot be used ({error})") from None
    address = connect.get("target_host")
    if address is None:
        raise SettingInvalid(variable, "names a profile without an address; set TEMPORAL_ADDRESS to host:port")
    host, _, port = address.rpartition(":")
    if not host or not (port.isascii() and port.isdigit() and 0 < int(port) <= 65535):
        raise SettingInvalid("TEMPORAL_ADDRESS", f"is {address[:80]!r}; give host:port, e.g. 127.0.0.1:7233")
    namespace = connect.setdefault("namespace", "default")
    return TemporalConnection(address=address, namespace=namespace, connect=connect)
