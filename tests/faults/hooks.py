"""The hooks that place kills: an interceptor around every activity and every command of a workflow.

The worker kills itself; for a server the hook asks whoever keeps the servers, and holds the worker still until it is done.
"""

import asyncio
import os
import signal
from typing import Any, Final

from temporalio import activity, workflow
from temporalio.worker import (
    ActivityInboundInterceptor,
    ExecuteActivityInput,
    HandleUpdateInput,
    Interceptor,
    StartActivityInput,
    StartChildWorkflowInput,
    WorkflowInboundInterceptor,
    WorkflowInterceptorClassInput,
    WorkflowOutboundInterceptor,
)

from domain.contracts.names import APPROVAL, IMPORT, KNOWLEDGE_EXTRACTION, OBSERVED_RUN
from tests.faults.ledger import Ledger
from tests.faults.plan import Kill, Work

HOLD_SECONDS: Final = 10.0
HOLD_TASK_SECONDS: Final = 1.5
"""A workflow that does not move for two seconds fails its task; that would be another fault than the one planned."""

WORK_OF_WORKFLOW: Final[dict[str, Work]] = {
    IMPORT: "import",
    OBSERVED_RUN: "record",
    KNOWLEDGE_EXTRACTION: "extraction",
    APPROVAL: "decision",
}
WORK_OF_ACTIVITY: Final[dict[str, Work]] = {
    "import": "import",
    "journal": "record",
    "extraction": "extraction",
    "approval": "decision",
}
NOT_IN_THE_JOURNAL: Final = frozenset({"extraction.propose"})
"""What it makes durable is an artifact, so nothing of it is ever committed and unacknowledged."""


class Faults(Interceptor):
    """Counts passages in the ledger and carries out the kills that are due."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._me = str(os.getpid())

    def intercept_activity(self, next: ActivityInboundInterceptor) -> ActivityInboundInterceptor:
        return _Activities(next, self)

    def workflow_interceptor_class(self, input: WorkflowInterceptorClassInput) -> type[WorkflowInboundInterceptor]:
        faults = self

        class Bound(_Workflows):
            def init(self, outbound: WorkflowOutboundInterceptor) -> None:
                super().init(_Commands(outbound, faults))

            async def handle_update_handler(self, input: HandleUpdateInput) -> Any:
                faults.in_workflow_task(input.update)
                return await super().handle_update_handler(input)

        return Bound

    def in_workflow_task(self, place: str) -> None:
        """A passage inside a workflow task: what it has commanded so far has not left the worker."""
        if workflow.unsafe.is_replaying():
            return
        kind = workflow.info().workflow_type
        work = WORK_OF_WORKFLOW.get(kind)
        if work is None:
            return
        with workflow.unsafe.sandbox_unrestricted():
            kill = self._ledger.passing((work, "workflow task"), f"{kind}: {place}", self._me)
            if kill is not None:
                self.carry_out(kill, HOLD_TASK_SECONDS)

    def passing(self, work: Work, place: str, *, committed: bool) -> Kill | None:
        phase = "committed, not acknowledged" if committed else "activity running"
        return self._ledger.passing((work, phase), place, self._me)

    def carry_out(self, kill: Kill, hold_seconds: float = HOLD_SECONDS) -> None:
        """Kill this process, or stand still until the server is dead."""
        self._ledger.ask(kill)
        if kill.victim == "worker":
            self._ledger.done(kill, os.getpid())
            os.kill(os.getpid(), signal.SIGKILL)
        self._ledger.wait_done(kill, hold_seconds)

    def give_back(self, kill: Kill) -> None:
        self._ledger.give_back(kill)


class _Activities(ActivityInboundInterceptor):
    def __init__(self, next: ActivityInboundInterceptor, faults: Faults) -> None:
        super().__init__(next)
        self._faults = faults

    async def execute_activity(self, input: ExecuteActivityInput) -> Any:
        name = activity.info().activity_type
        work = WORK_OF_ACTIVITY.get(name.partition(".")[0])
        if work is None:
            return await super().execute_activity(input)
        answer = await self._run(input, work, name)
        if name not in NOT_IN_THE_JOURNAL:
            kill = self._faults.passing(work, name, committed=True)
            if kill is not None:
                self._faults.carry_out(kill)
        return answer

    async def _run(self, input: ExecuteActivityInput, work: Work, name: str) -> Any:
        """The body, interrupted where a kill is due. The loop stands still meanwhile, so the body cannot end first."""
        kill = self._faults.passing(work, name, committed=False)
        if kill is None:
            return await super().execute_activity(input)
        if kill.after_ms == 0:
            self._faults.carry_out(kill)
            return await super().execute_activity(input)
        interrupted = False

        def interrupt() -> None:
            nonlocal interrupted
            interrupted = True
            self._faults.carry_out(kill)

        timer = asyncio.get_running_loop().call_later(kill.after_ms / 1000, interrupt)
        try:
            return await super().execute_activity(input)
        finally:
            timer.cancel()
            if not interrupted:
                self._faults.give_back(kill)


class _Workflows(WorkflowInboundInterceptor):
    """The inbound side; what it does is bound to the worker's own hooks."""


class _Commands(WorkflowOutboundInterceptor):
    def __init__(self, next: WorkflowOutboundInterceptor, faults: Faults) -> None:
        super().__init__(next)
        self._faults = faults

    def start_activity(self, input: StartActivityInput) -> workflow.ActivityHandle[Any]:
        self._faults.in_workflow_task(input.activity)
        return super().start_activity(input)

    async def start_child_workflow(self, input: StartChildWorkflowInput) -> workflow.ChildWorkflowHandle[Any, Any]:
        self._faults.in_workflow_task(input.workflow)
        return await super().start_child_workflow(input)
