"""A typed name for one thing a workflow may ask of the world.

Workflows call it and activities implement it; both know this value and neither knows the other.
"""

import re
from dataclasses import dataclass
from typing import Generic, TypeVar

A = TypeVar("A")
R = TypeVar("R")

_NAME = re.compile(r"[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)+")


@dataclass(frozen=True, slots=True)
class ActivityRef(Generic[A, R]):
    """The name under which an activity is registered, the one value it takes and the one it gives.

    `takes` and `gives` are classes (a pydantic model or a frozen dataclass; `type(None)` where there is no answer).
    Raises TypeError for a union or another type form, ValueError for a name that is not `room.verb`.
    """

    name: str
    takes: type[A]
    gives: type[R]

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise ValueError(f"{self.name!r} is no activity name: write it as room.verb, in lower case")
        for side, form in (("takes", self.takes), ("gives", self.gives)):
            if not isinstance(form, type):  # pyright: ignore[reportUnnecessaryIsInstance]
                raise TypeError(f"{self.name}: {side} must be one class, not {form}; wrap it in a model")
