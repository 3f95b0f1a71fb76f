"""A workflow that asks for an activity through a reference, in a helper class of its own."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from temporalio import workflow

from domain.ports.activity_ref import ActivityRef
from workflows.calls import Policy, call


@dataclass(frozen=True)
class Number:
    """One whole number."""

    value: int


DOUBLE: Final = ActivityRef("tests.double", takes=Number, gives=Number)
POLICY: Final = Policy(
    summary="double it", start_to_close=timedelta(seconds=5), schedule_to_close=timedelta(seconds=20)
)


@workflow.defn(name="Calling")
class Calling:
    """Doubles a number as often as it is told."""

    @workflow.run
    async def run(self, start: int) -> int:
        """Double `start` once, or twice in runs that began after the patch."""
        number = await Steps(start).first()
        for _ in range(int(workflow.patched("x"))):
            number += number
        return number


class Steps:
    """What the workflow does, in a class of its own."""

    def __init__(self, start: int) -> None:
        self.start = start

    async def first(self) -> int:
        """Ask for the double."""
        doubled = await call(DOUBLE, Number(self.start), policy=POLICY)
        return doubled.value
