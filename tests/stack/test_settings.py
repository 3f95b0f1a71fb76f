"""Settings are read in one place, and a wrong one is a sentence that names its variable."""

from pathlib import Path

import pytest

import settings
from domain.contracts.observed_run import DEFAULT_IDLE_SECONDS
from settings import load
from stack import record
from stack.errors import SettingInvalid, StackNotRunning
from stack.postgres import PostgresEndpoint
from stack.process import mark_of
from stack.temporal import TemporalEndpoint


def test_without_any_variable_there_are_defaults() -> None:
    found = load({})
    assert found.home == settings.ROOT / ".temporality"
    assert found.artifacts == found.home / "artifacts"
    assert (found.max_document_bytes, found.extraction_cap, found.idle_seconds) == (16777216, 7, DEFAULT_IDLE_SECONDS)
    assert (found.temporal_port, found.ui_port, found.actor) == (7233, 8233, None)
    assert load(dict.fromkeys(("TEMPORALITY_HOME", "DATABASE_URL", "TEMPORAL_ADDRESS"), "")) == found


@pytest.mark.parametrize(
    ("variable", "value", "reason"),
    [
        ("TEMPORALITY_HOME", "a\nb", "line break"),
        ("DATABASE_URL", "mysql://host/db", "must be a URL like postgresql://"),
        ("DATABASE_URL", "host=localhost dbname=x", "must be a URL like postgresql://"),
        ("DATABASE_URL", "postgresql://localhost", "must name a host and a database"),
        ("DATABASE_URL", "postgresql:///db", "must name a host and a database"),
        ("DATABASE_URL", "postgresql://localhost:port/db", "is no URL"),
        ("TEMPORALITY_OWNER_DATABASE_URL", "x", "must be a URL"),
        ("TEMPORALITY_ACTOR", "bob", "human:example.org:u42"),
        ("TEMPORALITY_ARTIFACTS", __file__, "is no folder"),
        ("TEMPORALITY_KEY", "abc", "64 hexadecimal digits"),
        ("TEMPORALITY_KEY", "00" * 31, "32 bytes"),
        ("TEMPORALITY_MAX_DOCUMENT_BYTES", "16M", "whole number from 1024"),
        ("TEMPORALITY_MAX_DOCUMENT_BYTES", "1", "whole number from 1024"),
        ("TEMPORALITY_IDLE_SECONDS", "0", "whole number from 1 to"),
        ("TEMPORALITY_IDLE_SECONDS", "-5", "whole number"),
        ("TEMPORALITY_EXTRACTION_CAP", "١٢", "whole number"),
        ("TEMPORALITY_TEMPORAL_PORT", "70000", "from 0 to 65535"),
        ("TEMPORALITY_UI_PORT", "http", "from 0 to 65535"),
        ("TEMPORAL_ADDRESS", "localhost", "give host:port"),
        ("TEMPORAL_ADDRESS", "localhost:zero", "give host:port"),
        ("TEMPORAL_CONFIG_FILE", "/nonexistent/temporal.toml", ""),
    ],
)
def test_a_wrong_value_is_one_sentence(variable: str, value: str, reason: str) -> None:
    with pytest.raises(SettingInvalid) as caught:
        load({variable: value})
    assert caught.value.variable == variable
    assert str(caught.value).startswith(variable) and reason in str(caught.value)
    assert "\n" not in str(caught.value)


def test_values_are_taken() -> None:
    found = load(
        {
            "TEMPORALITY_HOME": "/srv/t",
            "DATABASE_URL": "postgresql+psycopg://app:word@db:5433/t?sslmode=require",
            "TEMPORALITY_OWNER_DATABASE_URL": "postgres://owner@/t?host=%2Frun%2Fpg",
            "TEMPORALITY_ACTOR": "human:example.org:u42",
            "TEMPORALITY_ARTIFACTS": "postgres",
            "TEMPORALITY_KEY": "0f" * 32,
            "TEMPORALITY_TEMPORAL_PORT": "0",
        }
    )
    assert found.database_url() == "postgresql://app:word@db:5433/t?sslmode=require"
    assert found.owner_database_url() == "postgresql://owner@/t?host=%2Frun%2Fpg"
    assert (found.artifacts, found.temporal_port, found.actor) == ("postgres", None, "human:example.org:u42")
    assert found.installation_key() == b"\x0f" * 32
    assert "word" not in repr(found) and "0f" * 32 not in repr(found)
    assert load({"DATABASE_URL": "postgresql://u@h/d"}).owner_database_url() == "postgresql://u@h/d"


def test_a_key_comes_from_a_file_of_bytes_or_digits(tmp_path: Path) -> None:
    raw, written = tmp_path / "raw", tmp_path / "written"
    raw.write_bytes(bytes(range(32)))
    written.write_text(bytes(range(32)).hex() + "\n")
    for path in (raw, written):
        assert load({"TEMPORALITY_KEY_FILE": str(path)}).installation_key() == bytes(range(32))
    with pytest.raises(SettingInvalid, match=r"TEMPORALITY_KEY_FILE names .*absent, which cannot be read"):
        load({"TEMPORALITY_KEY_FILE": str(tmp_path / "absent")}).installation_key()
    raw.write_bytes(b"short")
    with pytest.raises(SettingInvalid, match="32 bytes"):
        load({"TEMPORALITY_KEY_FILE": str(raw)}).installation_key()
    assert load({"TEMPORALITY_HOME": str(tmp_path)}).installation_key() is None


def test_temporals_own_configuration_is_taken(tmp_path: Path) -> None:
    own = load({"TEMPORAL_ADDRESS": "cluster:7233", "TEMPORAL_NAMESPACE": "mine", "TEMPORAL_API_KEY": "secret"})
    found = own.temporal()
    assert (found.address, found.namespace, found.ui_url) == ("cluster:7233", "mine", None)
    assert (found.connect.get("api_key"), found.connect.get("tls")) == ("secret", True)
    assert "secret" not in repr(own)

    file = tmp_path / "temporal.toml"
    file.write_text('[profile.other]\naddress = "far:7233"\nnamespace = "theirs"\n')
    given = {"TEMPORAL_CONFIG_FILE": str(file), "TEMPORAL_PROFILE": "other"}
    assert (load(given).temporal().address, load(given).temporal().namespace) == ("far:7233", "theirs")


def test_a_users_profile_is_not_read_unasked(tmp_path: Path) -> None:
    folder = tmp_path / ".config" / "temporalio"
    folder.mkdir(parents=True)
    (folder / "temporal.toml").write_text('[profile.default]\naddress = "production:7233"\n')
    given = {"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path / ".config"), "TEMPORALITY_HOME": str(tmp_path)}
    with pytest.raises(StackNotRunning):
        load(given).temporal()
    assert load({**given, "TEMPORAL_ADDRESS": "here:7233"}).temporal().address == "here:7233"


def test_what_is_not_named_comes_from_the_running_stack(tmp_path: Path) -> None:
    found = load({"TEMPORALITY_HOME": str(tmp_path)})
    for ask in (found.database_url, found.owner_database_url, found.temporal):
        with pytest.raises(StackNotRunning, match="run `make up`"):
            ask()
    owner = mark_of(1)
    assert owner is not None
    postgres = PostgresEndpoint("postgresql://o@/t", "postgresql://a@/t", "postgresql://s@/t", tmp_path, 1)
    temporal = TemporalEndpoint("127.0.0.1:1", "default", "u", 1)
    record.write(tmp_path, record.StackRecord(owner, postgres, owner, temporal))
    assert (found.database_url(), found.owner_database_url()) == ("postgresql://a@/t", "postgresql://o@/t")
    assert found.temporal().connect == {"target_host": "127.0.0.1:1", "namespace": "default"}
    record.write(tmp_path, record.StackRecord(owner))
    for ask in (found.database_url, found.temporal):
        with pytest.raises(StackNotRunning):
            ask()
    assert load({"TEMPORALITY_HOME": str(tmp_path), "DATABASE_URL": "postgresql://h/d"}).database_url()


def test_a_program_elsewhere_sees_the_same_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    found = load({"TEMPORALITY_HOME": "rel", "TEMPORALITY_ARTIFACTS": "bodies", "TEMPORALITY_KEY_FILE": "key"})
    passed = settings.program_environment(found, {"TEMPORALITY_HOME": "rel", "OTHER": "1"})
    monkeypatch.chdir("/")
    again = load(passed)
    assert (again.home, again.artifacts, again.key_file) == (tmp_path / "rel", tmp_path / "bodies", tmp_path / "key")
    assert passed["OTHER"] == "1"
