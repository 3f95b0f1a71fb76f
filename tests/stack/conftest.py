"""The servers of these tests: homes of their own, cut short by a shared template."""

from tests.support.stack import postgres_template

__all__ = ["postgres_template"]
