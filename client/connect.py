"""Connect to Temporal as a caller of Temporality: Temporal's own environment configuration, and the two settings of ours.

Where to reach Temporal is `temporalio.envconfig`'s business alone (`TEMPORAL_ADDRESS`, `TEMPORAL_NAMESPACE`, `temporal.toml`).
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from temporalio.client import Client
from temporalio.converter import DataConverter
from temporalio.envconfig import ClientConfig

from client.converter import data_converter
from client.protection import SETTING, protection
from client.stores import open_store
from domain.contracts.errors import UnusableSetting
from domain.contracts.origin import installation_key

KEY: Final = "TEMPORALITY_KEY"
KEY_FILE: Final = "TEMPORALITY_KEY_FILE"
DATABASE: Final = "DATABASE_URL"
IN_POSTGRES: Final = "postgres"
DEFAULT_ADDRESS: Final = "localhost:7233"


@dataclass(frozen=True, slots=True)
class ClientSettings:
    """`artifacts` is a folder or a Postgres URL (None: a text over 16 KB is refused); `key` is the installation's."""

    artifacts: str | None = None
    key: bytes | None = field(default=None, repr=False)

    @staticmethod
    def read(environment: Mapping[str, str] | None = None) -> "ClientSettings":
        """From `TEMPORALITY_ARTIFACTS` (a folder, a Postgres URL, or `postgres` with `DATABASE_URL`) and `TEMPORALITY_KEY[_FILE]`.

        Raises `UnusableSetting` when one of them cannot be used.
        """
        settings = os.environ if environment is None else environment  # noqa: TID251
        return ClientSettings(artifacts=_artifacts(settings), key=_key(settings))

    def converter(self) -> DataConverter:
        """The converter with these settings. Raises `UnusableSetting`."""
        store = None if self.artifacts is None else open_store(self.artifacts)
        return data_converter(protection(self.key, store))


def _artifacts(settings: Mapping[str, str]) -> str | None:
    named = settings.get(SETTING) or None
    if named != IN_POSTGRES:
        return named
    if not (url := settings.get(DATABASE)):
        raise UnusableSetting(f"{SETTING} is `{IN_POSTGRES}`, so {DATABASE} must name the database; or give a folder")
    return url


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
    converter = (settings or ClientSettings.read()).converter()
    environment = ClientConfig.load_client_connect_config()
    merged: dict[str, Any] = {"target_host": DEFAULT_ADDRESS, **environment, **options}
    return await Client.connect(data_converter=converter, **merged)
