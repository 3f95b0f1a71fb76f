"""An installation with a real database for every module here that asks for one."""

from tests.support.installation import installation, migrated, project
from tests.support.stack import postgres_server, postgres_template

__all__ = ["installation", "migrated", "postgres_server", "postgres_template", "project"]
