"""Settings come from the environment, are checked before anything is sent, and say what is wrong in one sentence."""

from pathlib import Path

import psycopg
import pytest

from client.artifacts.folder import FolderArtifactStore
from client.artifacts.postgres import PostgresArtifactStore
from client.connect import ClientSettings, connect
from client.converter import protection_of
from client.stores import open_store
from domain.contracts.errors import UnusableSetting
from stack.postgres import PostgresEndpoint
from tests.client.conftest import Caller
from tests.support.artifacts.table import create_table
from tests.support.stack import fresh_database, postgres_server, postgres_template

__all__ = ["fresh_database", "postgres_server", "postgres_template"]

KEY = "0123456789abcdef" * 4


def test_the_key_is_given_or_lies_in_a_file(tmp_path: Path) -> None:
    file = tmp_path / "key"
    assert ClientSettings.read({"TEMPORALITY_KEY": KEY}).key == bytes.fromhex(KEY)
    for said in (KEY, f"{KEY}\n"):
        file.write_text(said)
        assert ClientSettings.read({"TEMPORALITY_KEY_FILE": str(file)}).key == bytes.fromhex(KEY)
    assert ClientSettings.read({}) == ClientSettings()
    assert KEY not in repr(ClientSettings.read({"TEMPORALITY_KEY": KEY}))


def test_what_cannot_be_a_key_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        UnusableSetting,
        match="the installation's key is 64 hexadecimal digits; copy the one",
    ):
        ClientSettings.read({"TEMPORALITY_KEY": "short"})
    with pytest.raises(UnusableSetting, match="is 64 hexadecimal digits"):
        ClientSettings.read({"TEMPORALITY_KEY": "g" * 64})
    with pytest.raises(UnusableSetting, match=r"TEMPORALITY_KEY_FILE names .*nowhere, which cannot be read"):
        ClientSettings.read({"TEMPORALITY_KEY_FILE": str(tmp_path / "nowhere")})


def test_the_store_is_a_folder_or_postgres(tmp_path: Path) -> None:
    assert isinstance(open_store(str(tmp_path)), FolderArtifactStore)
    assert isinstance(open_store("postgresql://localhost/x"), PostgresArtifactStore)
    url = "postgresql://localhost/x"
    assert ClientSettings.read({"TEMPORALITY_ARTIFACTS": "postgres", "DATABASE_URL": url}).artifacts == url
    with pytest.raises(UnusableSetting, match="so DATABASE_URL must name the database"):
        ClientSettings.read({"TEMPORALITY_ARTIFACTS": "postgres"})
    with pytest.raises(UnusableSetting, match="a folder or a postgresql:// URL, not s3://"):
        open_store("s3://bucket/x")


async def test_a_postgres_store_opens_each_transaction_for_its_project(fresh_database: PostgresEndpoint) -> None:
    create_table(fresh_database)
    key = await open_store(fresh_database.app_url).put("p", b"body")
    with psycopg.connect(fresh_database.superuser_url) as connection:
        assert connection.execute("SELECT project_id, sha256 FROM journal.artifacts").fetchall() == [("p", key)]


async def test_connecting_reads_temporals_own_configuration(caller: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEMPORAL_ADDRESS", caller.client.service_client.config.target_host)
    monkeypatch.setenv("TEMPORAL_NAMESPACE", "default")
    monkeypatch.setenv("TEMPORALITY_KEY", KEY)
    client = await connect()
    protection = protection_of(client.data_converter)
    assert protection is not None
    assert protection.key == bytes.fromhex(KEY)
    assert await client.service_client.check_health()
    assert (await connect(ClientSettings(), namespace="other")).namespace == "other"
