"""Scope before everything: the pool's own role owns nothing, and a project's rows are there for a grant of that project only (law 16)."""

import psycopg
import pytest

from activities.postgres.journal import Journal
from activities.postgres.pool import Database
from domain.contracts.errors import MalformedId
from domain.projections.fold import TABLES
from tests.support.events import happened, proposed, ran
from tests.support.installation import Installation

JOURNAL = ("journal.projects", "journal.events", "journal.subject_keys", "journal.artifacts", "journal.incoming")
ALL = (*JOURNAL, *(f"projection.{table.name}" for table in TABLES))


async def test_every_table_there_is_is_known_here_and_under_forced_row_level_security(
    installation: Installation,
) -> None:
    found = installation.rows(
        "SELECT n.nspname || '.' || c.relname, c.relrowsecurity AND c.relforcerowsecurity,"
        " EXISTS (SELECT FROM pg_policy p WHERE p.polrelid = c.oid) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
        " WHERE c.relkind IN ('r', 'p') AND n.nspname IN ('journal', 'projection') ORDER BY 1"
    )
    assert found == [(name, True, True) for name in sorted(ALL)]


async def test_the_pools_own_role_is_nobody(installation: Installation) -> None:
    async with installation.database.connection() as connection:
        cursor = await connection.execute(
            "SELECT rolsuper, rolbypassrls, rolcreaterole, rolcreatedb, rolreplication FROM pg_roles WHERE rolname = current_user"
        )
        assert await cursor.fetchone() == (False, False, False, False, False)
        cursor = await connection.execute(
            "SELECT count(*) FROM pg_auth_members m JOIN pg_roles r ON r.oid = m.member WHERE r.rolname = current_user"
        )
        assert await cursor.fetchone() == (0,)
        for table in ALL:
            cursor = await connection.execute(
                "SELECT pg_get_userbyid(relowner) = current_user, has_table_privilege(oid, 'TRUNCATE') FROM pg_class"
                " WHERE oid = to_regclass(%s)",
                (table,),
            )
            assert await cursor.fetchone() == (False, False), table


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE journal.events SET type = 'x'",
        "DELETE FROM journal.events",
        "TRUNCATE journal.events",
        "DELETE FROM journal.artifacts",
        "UPDATE journal.artifacts SET part = 1",
        "DELETE FROM journal.projects",
        "ALTER TABLE journal.events DISABLE ROW LEVEL SECURITY",
        "CREATE TABLE journal.mine (a int)",
        "SET ROLE temporality_owner",
    ],
)
async def test_it_may_not_change_what_was_said(installation: Installation, project: str, statement: str) -> None:
    await installation.journal.append(project, [happened(project, "a")])
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        async with installation.database.scoped(project) as connection:
            await connection.execute(statement.encode())


async def fill(installation: Installation, project: str) -> None:
    """At least one row of the project in every table."""
    await installation.journal.append(
        project,
        [
            *(event for event in ran(project, "op")),
            happened(project, "framed", frame="f", task="t"),
            proposed(project, "k", evidence=({"ref": "framed", "type": "user_statement"},)),
        ],
    )
    with installation.superuser() as connection:
        for table in ALL:
            if table in (
                "journal.subject_keys",
                "journal.artifacts",
                "journal.incoming",
                "projection.relationships",
                "projection.approvals",
                "projection.extractions",
            ):
                columns = connection.execute(
                    "SELECT attname, format_type(atttypid, NULL) FROM pg_attribute"
                    " WHERE attrelid = %s::regclass AND attnum > 0 AND attnotnull",
                    (table,),
                ).fetchall()
                values = {
                    "text": "'x'",
                    "bigint": "1",
                    "integer": "1",
                    "bytea": "'x'",
                    "jsonb": "'{}'",
                    "boolean": "false",
                }
                given = ", ".join("%s" if name == "project_id" else values.get(kind, "now()") for name, kind in columns)
                names = ", ".join(name for name, _ in columns)
                key = ("", "") if table != "journal.subject_keys" else (", key", ", 'x'")
                connection.execute(
                    f"INSERT INTO {table} ({names}{key[0]}) VALUES ({given}{key[1]})".encode(), (project,)
                )


async def test_another_projects_rows_are_invisible_in_every_table(installation: Installation, project: str) -> None:
    await fill(installation, project)
    for table in ALL:
        async with installation.database.scoped(f"{project}-other") as connection:
            cursor = await connection.execute(f"SELECT count(*) FROM {table}".encode())
            assert await cursor.fetchone() == (0,), table
        async with installation.database.scoped(project) as connection:
            cursor = await connection.execute(f"SELECT count(*) > 0, count(DISTINCT project_id) FROM {table}".encode())
            assert await cursor.fetchone() == (True, 1), table


async def test_a_missing_scope_raises_in_every_table_also_on_a_used_connection(
    installation: Installation, project: str
) -> None:
    await fill(installation, project)
    one = Database(installation.endpoint.app_url, max_connections=1)
    await one.open()
    try:
        for used in (False, True):
            if used:
                await Journal(one).append(project, [happened(project, "b")])
            for table in ALL:
                async with one.connection() as connection:
                    with pytest.raises(psycopg.errors.InsufficientPrivilege, match="no scope is granted"):
                        await connection.execute(f"SELECT * FROM {table}".encode())
    finally:
        await one.close()


async def test_a_row_for_another_project_cannot_be_written(installation: Installation, project: str) -> None:
    for table in (
        "journal.subject_keys (project_id, key_id, subject, key) VALUES (%s, 'x', 'x', 'x')",
        "projection.relationships VALUES (%s, 'a', 'supports', 'b', 1, 'e')",
    ):
        with pytest.raises(psycopg.errors.InsufficientPrivilege, match="row-level security"):
            async with installation.database.scoped(project) as connection:
                await connection.execute(f"INSERT INTO {table}".encode(), (f"{project}-other",))


async def test_several_scopes_are_a_list_and_a_comma_grants_nothing_more(
    installation: Installation, project: str
) -> None:
    for name in (project, f"{project}-b", f"{project}-c"):
        await installation.journal.append(name, [happened(name, "a")])
    async with installation.database.scoped(project, f"{project}-b") as connection:
        cursor = await connection.execute("SELECT DISTINCT project_id FROM journal.events ORDER BY 1")
        assert await cursor.fetchall() == [(project,), (f"{project}-b",)]
    for scope in (f"{project},{project}-b", ""):
        with pytest.raises(MalformedId):
            async with installation.database.scoped(scope):
                pass


async def test_the_names_of_projects_are_all_that_is_told_without_a_scope(
    installation: Installation, project: str
) -> None:
    await installation.journal.append(project, [happened(project, "a")])
    async with installation.database.connection() as connection:
        cursor = await connection.execute("SELECT journal.project_ids()")
        assert (project,) in await cursor.fetchall()


SCORES = ("confidence", "score", "probability", "likelihood", "certainty", "truth", "belief", "weight", "rank")


async def test_no_column_scores_truth_and_none_is_a_float(installation: Installation) -> None:
    columns = installation.rows(
        "SELECT table_schema || '.' || table_name || '.' || column_name, data_type FROM information_schema.columns"
        " WHERE table_schema IN ('journal', 'projection')"
    )
    assert [name for name, _ in columns if any(word in name for word in SCORES)] == []
    assert [name for name, kind in columns if kind in ("real", "double precision", "numeric")] == []
