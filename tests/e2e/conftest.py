"""One running installation for all tests here."""

from tests.support.running import running
from tests.support.stack import postgres_template

__all__ = ["postgres_template", "running"]
