"""How errors leave a workflow: as failures that carry the class's name and its sentence.

An error that is no failure would block its workflow task for ever, so the root of all domain errors is listed here.
"""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

from temporalio.exceptions import ActivityError, ApplicationError, is_cancelled_exception

from domain.contracts.errors import TemporalityError, retryable

DOMAIN_ERRORS: Final = (TemporalityError,)
"""For every `workflow.defn(failure_exception_types=...)`."""
REASON_CHARACTERS: Final = 4000


@contextmanager
def refusing() -> Generator[None, None, None]:
    """Let a domain error leave a handler as the failure that its caller reads."""
    try:
        yield
    except TemporalityError as error:
        raise ApplicationError(
            str(error), type=type(error).__name__, non_retryable=not retryable(type(error))
        ) from None


def failure_of(error: ActivityError) -> ApplicationError:
    """The failure that a caller gets for an activity that ended without an answer."""
    code, reason = why(error)
    return ApplicationError(reason, type=code)


def why(error: BaseException) -> tuple[str, str]:
    """A code and a sentence for `error`: those of the innermost error that says why."""
    if is_cancelled_exception(error):
        return "cancelled", "it was cancelled"
    told = error
    while isinstance(told.__cause__, BaseException):
        told = told.__cause__
    if isinstance(told, ApplicationError):
        return told.type or "ApplicationError", told.message[:REASON_CHARACTERS]
    activity = f"{error.activity_type} gave no answer in time: " if isinstance(error, ActivityError) else ""
    return type(told).__name__, f"{activity}{told}"[:REASON_CHARACTERS]
