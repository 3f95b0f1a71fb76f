"""The one way an activity is declared: `@implements(REF)` over a method with its resources injected.

The method's hints are compared with the reference when it is imported, and an error of Temporality leaves it as a
failure that carries the class's name, its sentence, and whether asking again may help. While it runs the worker gives
signs of life, so that what a killed worker was doing begins again after the policy's heartbeat and not after its whole time.
"""

import asyncio
import functools
import inspect
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import asynccontextmanager
from contextvars import ContextVar
from typing import Any, Final, TypeVar, get_type_hints

from temporalio import activity
from temporalio.exceptions import ApplicationError

from domain.contracts.errors import TemporalityError, retryable
from domain.ports.activity_ref import ActivityRef

S = TypeVar("S")
A = TypeVar("A")
R = TypeVar("R")

BEATS: Final = 4
"""Signs of life within the time that Temporal waits for one."""
_progress: Final[ContextVar[list[Any]]] = ContextVar("_progress")


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
                async with _signs_of_life():
                    return await method(self, arg)
            except TemporalityError as error:
                raise as_failure(error) from None

        return activity.defn(name=ref.name)(run)

    return decorate


def tell_progress(*details: Any) -> None:
    """Show in the Temporal UI how far this attempt is; outside an activity nobody is told."""
    if activity.in_activity():
        _progress.get([])[:] = details
        activity.heartbeat(*details)


@asynccontextmanager
async def _signs_of_life() -> AsyncGenerator[None]:
    """Heartbeats for as long as the block runs and its event loop moves, where the policy asks for them."""
    timeout = activity.info().heartbeat_timeout if activity.in_activity() else None
    if timeout is None:
        yield
        return
    _progress.set([])
    beating = asyncio.create_task(_beat(timeout.total_seconds() / BEATS))
    try:
        yield
    finally:
        beating.cancel()


async def _beat(seconds: float) -> None:
    while True:
        await asyncio.sleep(seconds)
        activity.heartbeat(*_progress.get())


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
