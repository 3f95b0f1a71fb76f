"""The errors of Temporality: one class for each thing a caller can do about it.

A class's docstring is the sentence a user reads, and the one table below says whether asking again may help.
"""

import inspect
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final


class TemporalityError(Exception):
    """Temporality could not do what was asked."""

    def __init__(self, detail: str = "") -> None:
        """Keep `detail`: the part of the sentence that only this occurrence knows (which event, which limit)."""
        super().__init__(detail)
        self.detail = detail

    def __str__(self) -> str:
        sentence = inspect.cleandoc(type(self).__doc__ or "").replace("\n", " ")
        return f"{sentence} {self.detail}" if self.detail else sentence


RETRYABLE: Final[Mapping[type[TemporalityError], bool]] = MappingProxyType(
    {
        TemporalityError: False,
    }
)
"""Every error class, and whether the same request may succeed later without anybody changing it."""


def retryable(kind: type[TemporalityError]) -> bool:
    """Whether Temporal may try again after `kind`; a class that is not listed answers as its nearest listed parent."""
    return next(RETRYABLE[parent] for parent in kind.__mro__ if parent in RETRYABLE)


NON_RETRYABLE_NAMES: Final[tuple[str, ...]] = tuple(
    sorted(kind.__name__ for kind, again in RETRYABLE.items() if not again)
)
"""Class names for a retry policy: Temporal compares names and knows no inheritance."""
