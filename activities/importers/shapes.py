"""Foreign JSON, asked for the shape it should have: a mapping, a list, a word, or nothing of the kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def mapping(value: Any) -> Mapping[str, Any]:
    """The value where it is an object, else an empty one."""
    return value if isinstance(value, Mapping) else {}


def listing(value: Any) -> Sequence[Any]:
    """The value where it is a list, else an empty one."""
    return value if isinstance(value, list) else []


def mappings(value: Any) -> list[Mapping[str, Any]]:
    """The objects of a list."""
    return [item for item in listing(value) if isinstance(item, Mapping)]


def word(value: Any) -> str | None:
    """The value where it is a string that is not empty."""
    return value if isinstance(value, str) and value else None


def moment(value: Any) -> str | float | None:
    """The value as a time may be written: text or a number; anything else as its text, so that it is seen to be odd."""
    if value is None or (isinstance(value, str | int | float) and not isinstance(value, bool)):
        return value
    return str(value)


def counts(value: Any) -> dict[str, int]:
    """The whole numbers of an object, such as a model's usage."""
    return {key: number for key, number in mapping(value).items() if type(number) is int}
