"""`journal.artifacts` on an empty database, under forced row-level security as the migrations make it."""

from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import psycopg

from client.artifacts.postgres import Scoped
from stack.postgres import PostgresEndpoint

TABLE = """
CREATE SCHEMA journal;
CREATE FUNCTION journal.scope() RETURNS text[] LANGUAGE plpgsql STABLE AS $$
DECLARE
  granted text := current_setting('temporality.scopes', true);
BEGIN
  IF granted IS NULL OR granted = '' THEN
    RAISE EXCEPTION 'no scope is granted in this transaction' USING ERRCODE = 'insufficient_privilege';
  END IF;
  RETURN string_to_array(granted, ',');
END $$;
CREATE TABLE journal.artifacts (
  project_id text COLLATE "C" NOT NULL,
  sha256 text COLLATE "C" NOT NULL,
  part integer NOT NULL,
  parts integer NOT NULL,
  body bytea NOT NULL,
  PRIMARY KEY (project_id, sha256, part)
);
ALTER TABLE journal.artifacts ENABLE ROW LEVEL SECURITY;
ALTER TABLE journal.artifacts FORCE ROW LEVEL SECURITY;
CREATE POLICY granted ON journal.artifacts USING (project_id = ANY ((SELECT journal.scope())::text[]));
GRANT USAGE ON SCHEMA journal TO temporality_app;
GRANT SELECT, INSERT ON journal.artifacts TO temporality_app;
"""


def create_table(database: PostgresEndpoint) -> None:
    """Make the table as the owner role."""
    with psycopg.connect(database.owner_url) as connection:
        connection.execute(TABLE)


def scoped(url: str) -> Scoped:
    """A connection per call that is granted the one project, as a worker's pool grants it."""

    @asynccontextmanager
    async def transaction(project: str) -> AsyncGenerator[psycopg.AsyncConnection[Any]]:
        async with await psycopg.AsyncConnection.connect(url) as connection:
            await connection.execute("SELECT set_config('temporality.scopes', %s, true)", (project,))
            yield connection

    def open_transaction(project: str) -> AbstractAsyncContextManager[psycopg.AsyncConnection[Any]]:
        return transaction(project)

    return open_transaction
