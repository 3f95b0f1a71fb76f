"""Ask until there is an answer: which failures of a message mean "again in a moment", and what the others mean to a caller.

The same message with the same id is sent again each time, so asking twice is never doing twice (TEMPORAL.md, section 6).
"""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, TypeVar

from temporalio.client import WorkflowUpdateFailedError, WorkflowUpdateRPCTimeoutOrCancelledError
from temporalio.exceptions import ApplicationError
from temporalio.service import RPCError, RPCStatusCode

from domain.contracts.errors import RETRYABLE, NoAnswer, RollingOver, TemporalityError

T = TypeVar("T")

MOMENTARY_FAILURES: Final = frozenset({RollingOver.__name__, "AcceptedUpdateCompletedWorkflow"})
"""Types of a refused update that say the run is moving to a new history."""

MOMENTARY_STATUSES: Final = frozenset(
    {
        RPCStatusCode.FAILED_PRECONDITION,
        RPCStatusCode.NOT_FOUND,
        RPCStatusCode.UNAVAILABLE,
        RPCStatusCode.RESOURCE_EXHAUSTED,
        RPCStatusCode.ABORTED,
        RPCStatusCode.DEADLINE_EXCEEDED,
        RPCStatusCode.CANCELLED,
        # the connection broke while the answer was on its way ("transport error")
        RPCStatusCode.UNKNOWN,
        RPCStatusCode.INTERNAL,
    }
)

_KINDS: Final = {kind.__name__: kind for kind in RETRYABLE}


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How long an answer is waited for, in seconds: in all, in one attempt, and between attempts (grown and jittered)."""

    in_all: float = 600.0
    one_attempt: float = 30.0
    first_wait: float = 0.05
    longest_wait: float = 2.0


async def until_answered(ask: Callable[[], Awaitable[T]], patience: Patience, what: str) -> T:
    """What `ask` gives, asked again while it fails for a moment.

    Raises the typed error a refusal stands for, `NoAnswer` when patience ends, and every other failure as it is.
    """
    deadline = time.monotonic() + patience.in_all
    wait = patience.first_wait
    while True:
        try:
            async with asyncio.timeout(max(0.001, min(patience.one_attempt, deadline - time.monotonic()))):
                return await ask()
        except (WorkflowUpdateFailedError, WorkflowUpdateRPCTimeoutOrCancelledError, RPCError, TimeoutError) as error:
            _stop_if_cancelled(error)
            if not _momentary(error):
                if (refusal := _refusal_in(error)) is None:
                    raise
                raise refusal from error
            if time.monotonic() + wait >= deadline:
                raise NoAnswer(f"After {patience.in_all:g} s of {what}, it said: {_said(error)}.") from error
        await asyncio.sleep(wait * random.uniform(0.5, 1.0))
        wait = min(wait * 2, patience.longest_wait)


def refusal_of(error: BaseException | None) -> TemporalityError | None:
    """The error of Temporality that a failure stands for, by its type's name; None where it stands for none."""
    if not isinstance(error, ApplicationError) or (kind := _KINDS.get(error.type or "")) is None:
        return None
    sentence = str(kind()).removesuffix(".")
    return kind(error.message.removeprefix(sentence).removeprefix(".").removeprefix(":").strip())


def _momentary(error: Exception) -> bool:
    if isinstance(error, WorkflowUpdateFailedError):
        return isinstance(error.cause, ApplicationError) and error.cause.type in MOMENTARY_FAILURES
    if not isinstance(error, RPCError):
        return True
    # a namespace that does not exist is not found either, and waiting does not make it
    return error.status in MOMENTARY_STATUSES and not error.message.startswith("Namespace")


def _refusal_in(error: Exception) -> TemporalityError | None:
    return refusal_of(error.cause) if isinstance(error, WorkflowUpdateFailedError) else None


def _said(error: Exception) -> str:
    cause = error.cause if isinstance(error, WorkflowUpdateFailedError) else error
    return str(cause) or type(cause).__name__


def _stop_if_cancelled(error: Exception) -> None:
    """The SDK turns the cancellation of a waiting task into a timeout of its own; a cancelled caller must not ask again."""
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError from error
