"""The one way an activity is declared: `@implements(REF)` over a method with its resources injected.

The method's hints are compared with the reference when it is imported, and an error of Temporality leaves it as a
failure that carries the class's name, its sentence, and whether asking again may help.
"""

import functools
import inspect
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar, get_type_hints

from temporalio import activity
from temporalio.exceptions import ApplicationError

from domain.contracts.errors import TemporalityError, retryable
from domain.ports.activity_ref import ActivityRef

S = TypeVar("S")
A = TypeVar("A")
R = TypeVar("R")


def implements(
    ref: ActivityRef[A, R],
) -> Callable[[Callable[[S, A], Coroutine[Any, Any, R]]], Callable[[S, A], Coroutine[Any, Any, R]]]:
    """Register an async method `(self, arg)` as the activity `ref`.

    Raises TypeError at import where the method is not async or its hints are not exactly what `ref` says.
    """

    def decorate(method: Callable[[S, A], Coroutine[Any, Any, R]]) -> Callable[[S, A], Coroutine[Any, Any, R]]:
        _check(ref, method)

        @functools.wraps(method)
        async def run(self: S, arg: A) -> R:
            try:
                return await method(self, arg)
            except TemporalityError as error:
                raise as_failure(error) from None

        return activity.defn(name=ref.name)(run)

    return decorate


def as_failure(error: TemporalityError) -> ApplicationError:
    """The failure that stands for `error` in a history.

    It carries no cause: a database's own message may quote the row it refused, and histories are read by many.
    """
    kind = type(error)
    return ApplicationError(str(error), type=kind.__name__, non_retryable=not retryable(kind))


def _check(ref: ActivityRef[Any, Any], method: Callable[..., Any]) -> None:
    name = getattr(method, "__qualname__", repr(method))
    if not inspect.iscoroutinefunction(method):
        raise TypeError(f"{name} implements {ref.name} and must be async def")
    parameters = list(inspect.signature(method).parameters)
    if len(parameters) != 2:
        raise TypeError(f"{name} implements {ref.name} and must take (self, arg), not ({', '.join(parameters)})")
    try:
        hints = get_type_hints(method)
    except NameError as error:
        raise TypeError(f"{name}: hint {error.name} is not importable at run time; import it plainly") from error
    for part, expected in ((parameters[1], ref.takes), ("return", ref.gives)):
        if hints.get(part) is not expected:
            found = hints.get(part, "nothing")
            raise TypeError(f"{name} implements {ref.name}: {part} must be {expected.__name__}, found {found}")
