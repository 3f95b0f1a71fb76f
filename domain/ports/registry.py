"""Every activity reference there is, in one tuple.

A port module is listed here or its references do not exist: policies, implementations and tests all read this tuple.
"""

from types import ModuleType
from typing import Any, Final, TypeGuard

from domain.ports.activity_ref import ActivityRef


def is_ref(value: object) -> TypeGuard[ActivityRef[Any, Any]]:
    """Whether `value` is an activity reference, of whatever types."""
    return isinstance(value, ActivityRef)


PORTS: Final[tuple[ModuleType, ...]] = ()
"""The modules of this room that declare references."""

REFS: Final[tuple[ActivityRef[Any, Any], ...]] = tuple(
    value for port in PORTS for value in vars(port).values() if is_ref(value)
)
