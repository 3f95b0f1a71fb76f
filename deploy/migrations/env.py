"""Alembic's door: runs the migrations on the connection it is handed, as the owner's role."""

from alembic import context

context.configure(
    connection=context.config.attributes["connection"], target_metadata=None, version_table_schema="public"
)
with context.begin_transaction():
    context.run_migrations()
