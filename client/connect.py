"""Connect to Temporal as a caller of Temporality: Temporal's own environment configuration, and the two settings of ours.

Where to reach Temporal is `temporalio.envconfig`'s business alone (`TEMPORAL_ADDRESS`, `TEMPORAL_NAMESPACE`, `temporal.toml`).
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from temporalio.client import Client
from temporalio.envconfig import ClientConfig

from client.converter import data_converter
from client.protection import SETTING, Protection
from client.stores import open_store
from domain.contracts.errors import UnusableSetting
from domain.contracts.origin import installation_key
from domain.contracts.redaction import Redactor

KEY: Final = "TEMPORALITY_KEY"
KEY_FILE: Final = "TEMPORALITY_KEY_FILE"
DEFAULT_ADDRESS: Final = "localhost:7233"


@dataclass(frozen=True, slots=True)
class ClientSettings:
    """`artifacts` is a folder or a Postgres URL (None: a text over 16 KB is refused); `key` is the installation's."""

    artifacts: str | None = None
    key: bytes | None = field(default=None, repr=False)

    @staticmethod
    def read(environment: Mapping[str, str] | None = None) -> "ClientSettings":
        """From `TEMPORALITY_ARTIFACTS` and `TEMPORALITY_KEY` or `TEMPORALITY_KEY_FILE`.

        Raises `UnusableSetting` when the file cannot be read or the key is too short.
        """
        settings = os.environ if environment is None else environment  # noqa: TID251
        return ClientSettings(artifacts=settings.get(SETTING) or None, key=_key(settings))

    def protection(self) -> Protection:
        """What a converter with these settings does to outgoing values. Raises `UnusableSetting`."""
        store = None if self.artifacts is None else open_store(self.artifacts)
        return Protection(redactor=Redactor(self.key), key=self.key, store=store)


def _key(settings: Mapping[str, str]) -> bytes | None:
    if text := settings.get(KEY):
        return installation_key(text)
    if not (path := settings.get(KEY_FILE)):
        return None
    try:
        return installation_key(Path(path).expanduser().read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise UnusableSetting(f"{KEY_FILE} names {path}, which cannot be read: {error}") from error


async def connect(settings: ClientSettings | None = None, **options: Any) -> Client:
    """A Temporal client whose payloads are protected. `options` go to `Client.connect` and win over the environment.

    Without `settings` they are read from the environment. Raises `UnusableSetting`, and what `Client.connect` does.
    """
    protection = (settings or ClientSettings.read()).protection()
    environment = ClientConfig.load_client_connect_config()
    merged: dict[str, Any] = {"target_host": DEFAULT_ADDRESS, **environment, **options}
    return await Client.connect(data_converter=data_converter(protection), **merged)
