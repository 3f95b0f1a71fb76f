"""The floors in Temporal: activities and updates that do nothing, run and sandboxed like our own."""

from datetime import timedelta

from temporalio import activity, workflow

QUEUE = "bench"
_SECOND = timedelta(seconds=30)


@activity.defn(name="bench.nothing")
async def nothing() -> None:
    """An activity that does nothing."""


@workflow.defn(name="BenchSequence")
class Sequence:
    """So many bare activities, one after the other."""

    @workflow.run
    async def run(self, count: int) -> None:
        for _ in range(count):
            await workflow.execute_activity("bench.nothing", start_to_close_timeout=_SECOND)


@workflow.defn(name="BenchUpdate")
class Update:
    """Waits for one update, whose handler awaits one bare activity."""

    def __init__(self) -> None:
        self._done = False

    @workflow.run
    async def run(self) -> None:
        await workflow.wait_condition(lambda: self._done and workflow.all_handlers_finished())

    @workflow.update
    async def decide(self) -> None:
        await workflow.execute_activity("bench.nothing", start_to_close_timeout=_SECOND)
        self._done = True
