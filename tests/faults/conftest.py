"""The initialised data folder that every home of this session starts from."""

from tests.support.stack import postgres_template

__all__ = ["postgres_template"]
