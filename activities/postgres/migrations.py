"""Bring a database to this version's schema, as the owner's role and never as the application's.

Concurrent starts wait for one another; running it again changes nothing.
"""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from sqlalchemy import create_engine, text

_FOLDER = Path(__file__).resolve().parents[2] / "deploy" / "migrations"
_LOCK = 7_353_021_190


def migrate(owner_url: str) -> None:
    """Upgrade the database at the owner's libpq URL to the newest migration. Raises SQLAlchemy's errors."""
    scheme, _, rest = owner_url.partition("://")
    engine = create_engine(f"postgresql+psycopg://{rest}" if scheme.startswith("postgres") else owner_url)
    try:
        with engine.begin() as connection:
            connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
            config = Config()
            config.set_main_option("script_location", str(_FOLDER))
            config.attributes["connection"] = connection
            command.upgrade(config, "head")
    finally:
        engine.dispose()
