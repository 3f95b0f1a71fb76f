"""Children that outlive their parent: started as abandoned, their start awaited also while the parent is cancelled.

A child whose start nobody awaited does not exist (0 of 40 started), and a taken id is an answer and no error.
"""

import asyncio
from collections.abc import Coroutine, Sequence
from typing import Any, TypeVar

from temporalio import workflow
from temporalio.common import Priority, WorkflowIDReusePolicy
from temporalio.exceptions import WorkflowAlreadyStartedError
from temporalio.workflow import ChildWorkflowCancellationType, ParentClosePolicy

from domain.contracts.starting import Start
from workflows.visible import typed

R = TypeVar("R")


async def start_abandoned(start: Start) -> bool:
    """Start one child that lives on by itself; False where its id is taken by one that runs or ended well."""
    return await to_the_end(_start(start))


async def start_each(starts: Sequence[Start]) -> list[bool]:
    """`start_abandoned` for each, all at once: keep it under 100 for the sake of the history."""
    return await to_the_end(_start_each(starts))


async def to_the_end(work: Coroutine[Any, Any, R]) -> R:
    """Finish `work` though the workflow is cancelled meanwhile; a cancellation that comes this late has no effect."""
    task = asyncio.create_task(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        return await task


async def _start_each(starts: Sequence[Start]) -> list[bool]:
    return await asyncio.gather(*(_start(start) for start in starts))


async def _start(start: Start) -> bool:
    try:
        await workflow.start_child_workflow(
            start.workflow,
            start.input,
            id=start.id,
            id_reuse_policy=WorkflowIDReusePolicy[start.reuse.upper()],
            parent_close_policy=ParentClosePolicy.ABANDON,
            cancellation_type=ChildWorkflowCancellationType.ABANDON,
            search_attributes=typed(start.attributes),
            static_summary=start.summary,
            static_details=start.details,
            priority=Priority(fairness_key=start.fairness_key),
        )
    except WorkflowAlreadyStartedError:
        return False
    return True
