"""The one way a workflow asks for an effect.

Timeouts, retries and queue are looked up by reference, so no workflow states them; a reference without a policy,
or a policy without a reference, fails when this module is imported.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from types import MappingProxyType
from typing import Any, Final, TypeVar

from temporalio import workflow
from temporalio.common import RetryPolicy
from temporalio.exceptions import ActivityError, ApplicationError

from domain.contracts.errors import NON_RETRYABLE_NAMES, TemporalityError
from domain.ports.activity_ref import ActivityRef
from domain.ports.registry import REFS

A = TypeVar("A")
R = TypeVar("R")


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """How one activity is tried: every attempt and the whole of them end at a stated time."""

    summary: str
    """What the Temporal UI shows for a call that gives no summary of its own."""
    start_to_close: timedelta
    """The longest one attempt may take."""
    schedule_to_close: timedelta
    """The longest all attempts together may take, waiting included."""
    heartbeat: timedelta | None = timedelta(seconds=10)
    """The longest silence of a running attempt: so long a user waits when the worker that had it was killed.

    `activities.implements` gives the signs of life; None is for activities that do not come from there.
    """
    first_retry_after: timedelta = timedelta(seconds=1)
    longest_retry_after: timedelta = timedelta(seconds=30)
    attempts: int = 0
    """The number of attempts, 0 for as many as `schedule_to_close` allows."""
    task_queue: str | None = None
    """The queue whose workers have what the activity needs; None is the workflow's own."""

    def retry_policy(self) -> RetryPolicy:
        """Temporal's form of this policy; errors that asking again cannot mend are named and end the call."""
        return RetryPolicy(
            initial_interval=self.first_retry_after,
            maximum_interval=self.longest_retry_after,
            maximum_attempts=self.attempts,
            non_retryable_error_types=NON_RETRYABLE_NAMES,
        )


_DAY = timedelta(days=1)
_YEAR = timedelta(days=365)

POLICIES: Final[Mapping[str, Policy]] = MappingProxyType(
    {
        "journal.record": Policy(
            summary="append a batch", start_to_close=timedelta(seconds=30), schedule_to_close=_DAY
        ),
        "journal.close_run": Policy(
            summary="close the run", start_to_close=timedelta(seconds=30), schedule_to_close=_YEAR
        ),
        "import.transcript": Policy(
            summary="read the file into the journal",
            start_to_close=timedelta(hours=2),
            schedule_to_close=_DAY,
        ),
        "extraction.start": Policy(
            summary="claim the extraction", start_to_close=timedelta(seconds=30), schedule_to_close=_DAY
        ),
        "extraction.propose": Policy(
            summary="ask for candidates",
            start_to_close=timedelta(minutes=10),
            schedule_to_close=_DAY,
        ),
        "extraction.admit": Policy(
            summary="admit candidates", start_to_close=timedelta(minutes=2), schedule_to_close=_DAY
        ),
        "extraction.fail": Policy(
            summary="record the failure", start_to_close=timedelta(seconds=30), schedule_to_close=_YEAR
        ),
        "approval.decide": Policy(
            summary="decide and apply", start_to_close=timedelta(seconds=30), schedule_to_close=_DAY
        ),
        "approval.expire": Policy(
            summary="record the expiry", start_to_close=timedelta(seconds=30), schedule_to_close=_YEAR
        ),
        "approval.refuse": Policy(
            summary="record a refused decision", start_to_close=timedelta(seconds=30), schedule_to_close=_YEAR
        ),
    }
)
"""The policy of every reference in `domain.ports.registry`, by its name."""


def check_policies(refs: Iterable[ActivityRef[Any, Any]], policies: Mapping[str, Policy]) -> None:
    """Raise LookupError unless `refs` and `policies` name exactly the same activities."""
    names = {ref.name for ref in refs}
    if missing := sorted(names - policies.keys()):
        raise LookupError(f"no policy for {', '.join(missing)}: add it to POLICIES in workflows/calls.py")
    if unknown := sorted(policies.keys() - names):
        raise LookupError(f"POLICIES names {', '.join(unknown)}, which no module in domain/ports declares")


check_policies(REFS, POLICIES)


def policy_for(ref: ActivityRef[Any, Any]) -> Policy:
    """The policy of `ref`. Raises LookupError where there is none."""
    if (policy := POLICIES.get(ref.name)) is None:
        raise LookupError(f"no policy for {ref.name}: list its port in domain/ports/registry.py and add one")
    return policy


async def call(ref: ActivityRef[A, R], arg: A, *, summary: str | None = None, policy: Policy | None = None) -> R:
    """Run the activity `ref` with `arg` and give its answer.

    `summary` is what the Temporal UI shows for this call; `policy` replaces the listed one, for this call only.
    Raises ActivityError; `failed_as` says of which kind.
    """
    chosen = policy or policy_for(ref)
    answer: R = await workflow.execute_activity(
        ref.name,
        arg,
        result_type=ref.gives,
        task_queue=chosen.task_queue,
        start_to_close_timeout=chosen.start_to_close,
        schedule_to_close_timeout=chosen.schedule_to_close,
        heartbeat_timeout=chosen.heartbeat,
        retry_policy=chosen.retry_policy(),
        summary=summary or chosen.summary,
    )
    return answer


def failed_as(error: ActivityError, kind: type[TemporalityError]) -> bool:
    """Whether the activity ended with exactly `kind`: errors cross the boundary by the name of their class."""
    return isinstance(error.cause, ApplicationError) and error.cause.type == kind.__name__
