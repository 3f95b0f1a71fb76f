"""The embedded Postgres keeps its data and comes back after anything."""

import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from stack import identity
from stack.errors import AlreadyRunning, CannotLeaveRoot, NoAccount, ServerDidNotStart, WrongPostgresMajor
from stack.postgres import PostgresEndpoint, PostgresOptions, PostgresServer
from stack.postgres_files import socket_fits
from stack.process import Launch, RunAs, mark_of, processes_in, run
from tests.stack.left import processes_of, soon

root_only = pytest.mark.skipif(os.geteuid() != 0, reason="only root has to become somebody else")


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory, postgres_template: Path) -> Iterator[PostgresServer]:
    """One server with the settings of real use; a test that ends it starts it again."""
    home = tmp_path_factory.mktemp("postgres")
    server = PostgresServer(home, PostgresOptions(template=postgres_template, die_with_parent=True))
    server.start()
    yield server
    server.stop()
    assert processes_of(home) == []


def ask(url: str, query: str) -> list[tuple[object, ...]]:
    with psycopg.connect(url, autocommit=True) as connection:
        cursor = connection.execute(query.encode())
        return cursor.fetchall() if cursor.description is not None else []


def forbid_namespaces(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a machine whose kernel refuses user namespaces."""
    real = identity._refusal
    refuse = lambda who, folder, program: "off" if who.namespace else real(who, folder, program)  # noqa: E731
    monkeypatch.setattr(identity, "_refusal", refuse)


def setting(endpoint: PostgresEndpoint, name: str) -> object:
    return ask(endpoint.superuser_url, f"SHOW {name}")[0][0]


def test_the_roles_are_as_promised(shared: PostgresServer) -> None:
    endpoint = shared.endpoint()
    roles = ask(
        endpoint.superuser_url,
        "SELECT rolname, rolcanlogin, rolsuper, rolbypassrls, rolcreatedb, rolcreaterole, rolreplication FROM pg_roles"
        " WHERE rolname LIKE 'temporality%' ORDER BY 1",
    )
    assert roles == [(f"temporality_{name}", True, *[False] * 5) for name in ("app", "owner")]
    owned = "SELECT datname FROM pg_database WHERE datdba = 'temporality_app'::regrole"
    assert ask(endpoint.superuser_url, owned) == []
    assert ask(endpoint.superuser_url, owned.replace("_app", "_owner")) == [("temporality",)]
    assert ask(endpoint.owner_url, "SELECT extname FROM pg_extension WHERE extname = 'vector'") == [("vector",)]
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        ask(endpoint.app_url, "CREATE TABLE public.mine (x int)")
    ask(endpoint.owner_url, "CREATE TABLE public.theirs (x int); DROP TABLE public.theirs")


def test_widened_roles_get_their_limits_back(shared: PostgresServer) -> None:
    ask(shared.endpoint().superuser_url, "ALTER ROLE temporality_app SUPERUSER BYPASSRLS")
    shared.stop()
    endpoint = shared.start()
    found = ask(endpoint.app_url, "SELECT rolsuper, rolbypassrls FROM pg_roles WHERE rolname = current_user")
    assert found == [(False, False)]


def test_durability_and_order_are_as_the_laws_want(shared: PostgresServer) -> None:
    endpoint = shared.endpoint()
    names = ("fsync", "synchronous_commit", "full_page_writes", "listen_addresses", "timezone")
    assert [setting(endpoint, name) for name in names] == ["on", "on", "on", "", "UTC"]
    place = "SELECT encoding, datcollate, datctype FROM pg_database WHERE datname = 'temporality'"
    assert ask(endpoint.superuser_url, place) == [(6, "C", "C")]


def test_data_survives_a_restart(shared: PostgresServer) -> None:
    ask(shared.endpoint().owner_url, "CREATE TABLE kept AS SELECT 7 AS x")
    shared.stop()
    assert ask(shared.start().owner_url, "SELECT x FROM kept") == [(7,)]
    assert shared.start() == shared.endpoint()


def test_a_killed_postmaster_is_followed_by_a_working_server(shared: PostgresServer) -> None:
    endpoint = shared.endpoint()
    ask(endpoint.owner_url, "CREATE TABLE committed AS SELECT generate_series(1, 1000) AS x")
    busy = psycopg.connect(endpoint.app_url)

    def compute() -> None:
        with pytest.raises(psycopg.OperationalError):
            busy.execute("SELECT count(*) FROM generate_series(1, 4000000000)")

    backend = threading.Thread(target=compute)
    backend.start()
    assert soon(lambda: ask(endpoint.superuser_url, "SELECT 1 FROM pg_stat_activity WHERE state = 'active'") != [(1,)])
    os.kill(endpoint.pid, signal.SIGKILL)
    again = shared.start()
    backend.join(10.0)

    assert not backend.is_alive()
    assert again.pid != endpoint.pid and again.app_url == endpoint.app_url
    assert ask(again.owner_url, "SELECT count(*) FROM committed") == [(1000,)]


def test_orphans_and_a_pid_file_naming_a_stranger_do_not_block(tmp_path: Path, postgres_template: Path) -> None:
    code = (
        "import os, sys; from pathlib import Path; from stack.postgres import *\n"
        f"s = PostgresServer(Path({str(tmp_path)!r}), PostgresOptions(template=Path({str(postgres_template)!r})))\n"
        "print(s.start().pid, flush=True); os.kill(os.getpid(), 9)"
    )
    told = subprocess.run((sys.executable, "-c", code), stdout=subprocess.PIPE, text=True, check=False).stdout
    orphan = mark_of(int(told))
    assert orphan is not None, "the server outlived its owner, as asked"

    server = PostgresServer(tmp_path, PostgresOptions(die_with_parent=True))
    first = server.start()
    assert first.pid != orphan.pid and mark_of(orphan.pid) != orphan
    server.stop()

    data = first.data_dir
    (data / "postmaster.pid").write_text(f"{os.getppid()}\n{data}\n1\n5432\n\n\n  1 1\nready   \n")
    lock = data.parent / "run" / ".s.PGSQL.5432.lock"
    lock.write_text(f"{os.getppid()}\n{data}\n1\n5432\n{lock.parent}\n")
    second = server.start()
    assert ask(second.app_url, "SELECT 1") == [(1,)]
    server.stop()
    assert processes_in(data, "postgres") == []


def test_one_folder_has_one_owner(shared: PostgresServer) -> None:
    with pytest.raises(AlreadyRunning, match="already running"):
        PostgresServer(shared.data_dir.parents[1]).start()
    assert ask(shared.endpoint().app_url, "SELECT 1") == [(1,)]


def test_each_test_can_have_a_database(shared: PostgresServer) -> None:
    fresh = shared.create_database("one_test")
    assert ask(fresh.app_url, "SELECT current_database(), current_user") == [("one_test", "temporality_app")]
    assert ask(fresh.owner_url, "SELECT '[1,2]'::vector <-> '[1,3]'::vector") == [(1.0,)]


@pytest.mark.parametrize("name", ["x" * 120, "with, comma 'and quote", "ünï cödé %20 #?"])
def test_any_home_path_will_do(tmp_path: Path, postgres_template: Path, name: str) -> None:
    home = tmp_path / name
    server = PostgresServer(home, PostgresOptions(template=postgres_template, die_with_parent=True))
    endpoint = server.start()
    folder = Path(str(setting(endpoint, "unix_socket_directories")))
    assert ask(endpoint.app_url, "SELECT current_user") == [("temporality_app",)]
    assert socket_fits(folder) and folder.stat().st_mode & 0o777 == 0o700
    server.stop()
    assert folder.is_dir() == folder.is_relative_to(home)
    assert processes_of(home) == []


def test_a_short_socket_folder_of_a_killed_owner_is_removed(tmp_path: Path, postgres_template: Path) -> None:
    home = tmp_path / ("x" * 120)
    code = (
        "import os, sys; from pathlib import Path; from stack.postgres import *\n"
        f"s = PostgresServer(Path({str(home)!r}), PostgresOptions(template=Path({str(postgres_template)!r})))\n"
        "s.start(); os.kill(os.getpid(), 9)"
    )
    subprocess.run((sys.executable, "-c", code), check=False)
    left = Path((home / "postgres" / "socket").read_text())
    assert left.is_dir()
    PostgresServer(home).clear()
    assert not left.exists()
    assert processes_of(home) == []


def test_loopback_asks_for_a_password(tmp_path: Path, postgres_template: Path) -> None:
    options = PostgresOptions(template=postgres_template, loopback=True, die_with_parent=True)
    server = PostgresServer(tmp_path, options)
    endpoint = server.start()
    try:
        assert ask(endpoint.app_url, "SELECT current_user") == [("temporality_app",)]
        assert setting(endpoint, "listen_addresses") == "127.0.0.1"
        word = endpoint.app_url.partition("temporality_app:")[2].partition("@")[0]
        for wrong in (
            endpoint.app_url.replace(word, "guess"),
            endpoint.superuser_url.replace("postgres:", "postgres:x"),
        ):
            with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
                ask(wrong, "SELECT 1")
    finally:
        server.stop()


def test_another_major_is_refused(tmp_path: Path) -> None:
    data = tmp_path / "postgres" / "data"
    data.mkdir(parents=True)
    (data / "PG_VERSION").write_text("16\n")
    with pytest.raises(WrongPostgresMajor, match="written by Postgres 16 and this version runs Postgres 18"):
        PostgresServer(tmp_path).start()
    assert sorted(entry.name for entry in data.iterdir()) == ["PG_VERSION"]


def test_a_damaged_configuration_gives_its_reason(tmp_path: Path, postgres_template: Path) -> None:
    options = PostgresOptions(template=postgres_template, settings={"max_connections": "many"})
    with pytest.raises(ServerDidNotStart, match='invalid value for parameter "max_connections": "many"'):
        PostgresServer(tmp_path, options).start()
    assert processes_of(tmp_path) == []


def test_a_killed_initdb_is_done_again(tmp_path: Path) -> None:
    half = tmp_path / "home" / "postgres" / "data.new"
    half.mkdir(parents=True)
    (half / "PG_VERSION").write_text("18\n")
    (tmp_path / "home").chmod(0o700)
    server = PostgresServer(tmp_path / "home", PostgresOptions(die_with_parent=True))
    try:
        assert ask(server.start().app_url, "SELECT 1") == [(1,)]
        assert not half.exists()
        assert server.data_dir.stat().st_uid == os.geteuid()
    finally:
        server.stop()


@pytest.fixture
def open_home() -> Iterator[Path]:
    """A home that other accounts can reach, which pytest's own folders never are."""
    place = Path(tempfile.mkdtemp(prefix="temporality-test-"))
    place.chmod(0o755)
    yield place / "home"
    assert processes_of(place) == []
    shutil.rmtree(place)


@root_only
def test_where_namespaces_go_away_root_switches_to_another_account(
    open_home: Path, postgres_template: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = PostgresServer(open_home, PostgresOptions(template=postgres_template, die_with_parent=True))
    try:
        ask(server.start().owner_url, "CREATE TABLE kept AS SELECT 7 AS x")
        server.stop()
        forbid_namespaces(monkeypatch)
        try:
            endpoint = server.start()
        except CannotLeaveRoot as error:
            pytest.skip(f"the checkout is closed to other accounts: {error}")
        account = identity.unprivileged_user().user
        assert ask(endpoint.app_url, "SELECT current_user") == [("temporality_app",)]
        assert account is not None and Path(f"/proc/{endpoint.pid}").stat().st_uid == account[0]
        server.stop()
        monkeypatch.undo()
        assert ask(server.start().owner_url, "SELECT x FROM kept") == [(7,)], "the data's owner decides from then on"
    finally:
        server.stop()


@root_only
@pytest.mark.parametrize(("uid", "direct"), [(pwd.getpwnam("bin").pw_uid, True), (4711, False)])
def test_an_ordinary_user_runs_it_even_without_an_account(tmp_path: Path, uid: int, direct: bool) -> None:
    code = (
        "import os; from pathlib import Path; from stack import identity; from stack.postgres import *\n"
        f"s = PostgresServer(Path({str(tmp_path)!r}), PostgresOptions(die_with_parent=True)); e = s.start()\n"
        "direct = identity.choose(s.data_dir, s.data_dir, e.data_dir / '/usr/bin/env') == RunAs()\n"
        "print(os.geteuid(), direct, psycopg.connect(e.app_url).execute('SELECT current_user').fetchone()[0]); s.stop()"
    )
    root = Path(identity.__file__).parents[1]
    somebody = RunAs(namespace=(uid, uid))  # who can still read an interpreter in root's own folder
    done = run(Launch((sys.executable, "-c", code), root, None, environment=None, run_as=somebody), 120.0)
    assert done.stdout == f"{uid} {direct} temporality_app\n"
    assert processes_of(tmp_path) == []


@root_only
def test_where_no_account_can_enter_one_sentence_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tmp_path.chmod(0o700)
    forbid_namespaces(monkeypatch)
    with pytest.raises(CannotLeaveRoot, match="run as an ordinary user"):
        PostgresServer(tmp_path / "home").start()


def test_run_as_is_nothing_for_an_ordinary_user(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: pwd.getpwnam("nobody").pw_uid)
    assert identity.choose(tmp_path, tmp_path / "data", Path("/nowhere")) == RunAs()


def test_without_account_and_namespaces_one_sentence_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    forbid_namespaces(monkeypatch)
    monkeypatch.setattr(os, "geteuid", lambda: 4711)
    with pytest.raises(NoAccount, match="needs an account for uid 4711"):
        identity.choose(tmp_path, tmp_path / "data", Path("/nowhere"))
