"""The journal, its projections, and row-level security on all of them.

Named pre: it runs before the code that needs it rolls out.
"""

from pathlib import Path
from typing import Any

from alembic import op

revision = "0001_pre_journal"
down_revision = None


def upgrade() -> None:
    """Runs the SQL block of the same name whole: it holds function bodies, so nothing may split it at semicolons."""
    text = (Path(__file__).parents[1] / "sql" / "0001_pre_journal.sql").read_text(encoding="utf-8")
    # the driver's own connection: SQLAlchemy would read the colons of casts as parameters
    connection: Any = op.get_bind().connection.driver_connection
    connection.execute(text)
