"""What a fresh server holds before the first migration: two roles, the database, and the vector extension.

The application's role owns nothing and bypasses nothing; the owner's role is for migrations and is no superuser.
Everything here may run again at each start.
"""

from collections.abc import Callable

import psycopg
from psycopg import sql

from stack.postgres_files import APP, DATABASE, OWNER, password

MAINTENANCE = "postgres"
LIMITS = sql.SQL("LOGIN NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE NOREPLICATION INHERIT")


def ensure(url_of: Callable[[str], str], secret: str) -> None:
    """Creates what is missing and narrows widened roles; `url_of` gives the superuser's URL of a database."""
    with psycopg.connect(url_of(MAINTENANCE), autocommit=True) as connection:
        known = {name for (name,) in connection.execute("SELECT rolname FROM pg_roles")}
        for role in (OWNER, APP):
            verb = sql.SQL("ALTER ROLE" if role in known else "CREATE ROLE")
            connection.execute(sql.SQL("{} {} {}").format(verb, sql.Identifier(role), LIMITS))
            if role not in known:
                word = sql.Literal(password(secret, role))
                connection.execute(sql.SQL("ALTER ROLE {} PASSWORD {}").format(sql.Identifier(role), word))
        exists = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", (DATABASE,)).fetchone()
    # In the template too, so that every later database has the extension without a superuser at hand.
    _ensure_vector(url_of("template1"))
    if exists is None:
        create_database(url_of(MAINTENANCE), DATABASE)
    _ensure_vector(url_of(DATABASE))


def create_database(maintenance_url: str, name: str) -> None:
    """A database owned by the owner's role, open to the application's role and to nobody else."""
    database, owner, app = sql.Identifier(name), sql.Identifier(OWNER), sql.Identifier(APP)
    with psycopg.connect(maintenance_url, autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {} OWNER {}").format(database, owner))
        connection.execute(sql.SQL("REVOKE ALL ON DATABASE {} FROM PUBLIC").format(database))
        connection.execute(sql.SQL("GRANT CONNECT, TEMPORARY ON DATABASE {} TO {}").format(database, app))


def _ensure_vector(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
