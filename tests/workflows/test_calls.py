"""`call` and `implements` meet over a real server: typed values cross, errors cross by name, policies are complete."""

import dataclasses
import uuid
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest
from temporalio.client import Client, WorkflowFailureError
from temporalio.exceptions import ActivityError, ApplicationError
from temporalio.worker import Worker

from activities.implements import implements
from domain.contracts.errors import TemporalityError
from domain.ports.activity_ref import ActivityRef
from tests.replay.converter import converter
from tests.replay.synthetic.calling import DOUBLE, POLICY, Calling, Number
from tests.support.temporal import dev_server
from workflows.calls import check_policies, failed_as, policy_for
from workflows.sandbox import sandbox


class Doubler:
    """The activity, with something injected and a memory of its calls."""

    def __init__(self, factor: int) -> None:
        self.factor = factor
        self.calls: list[Number] = []

    @implements(DOUBLE)
    async def double(self, arg: Number) -> Number:
        """Multiply by the factor; a negative number is refused."""
        self.calls.append(arg)
        if arg.value < 0:
            raise TemporalityError(f"{arg.value} is below zero.")
        return Number(arg.value * self.factor)


@pytest.fixture(scope="module")
async def client() -> AsyncIterator[Client]:
    async with dev_server(converter()) as env:
        yield env.client


async def _run(client: Client, doubler: Doubler, start: int) -> tuple[int, list[str]]:
    queue = uuid.uuid4().hex
    async with Worker(
        client, task_queue=queue, workflows=[Calling], activities=[doubler.double], workflow_runner=sandbox(strict=True)
    ):
        handle = await client.start_workflow(Calling.run, start, id=queue, task_queue=queue)
        answer = await handle.result()
        history = await handle.fetch_history()
        return answer, [e.user_metadata.summary.data.decode() for e in history.events if e.HasField("user_metadata")]


async def test_a_typed_value_crosses_and_the_call_is_summarised(client: Client) -> None:
    doubler = Doubler(2)
    answer, summaries = await _run(client, doubler, 3)
    assert (answer, doubler.calls) == (12, [Number(3)])
    assert '"double it"' in summaries


async def test_an_error_crosses_by_name_and_is_not_tried_again(client: Client) -> None:
    doubler = Doubler(2)
    with pytest.raises(WorkflowFailureError) as failed:
        await _run(client, doubler, -3)
    activity = failed.value.cause
    assert isinstance(activity, ActivityError)
    assert isinstance(activity.cause, ApplicationError)
    assert "could not do what was asked: -3 is below zero." in str(activity.cause)
    assert failed_as(activity, TemporalityError)
    assert len(doubler.calls) == 1


def test_references_and_policies_name_the_same_activities() -> None:
    check_policies([DOUBLE], {DOUBLE.name: POLICY})
    with pytest.raises(LookupError, match=r"no policy for tests\.double"):
        check_policies([DOUBLE], {})
    with pytest.raises(LookupError, match="no module in domain/ports declares"):
        check_policies([], {DOUBLE.name: POLICY})
    with pytest.raises(LookupError, match="list its port"):
        policy_for(DOUBLE)


def test_a_policy_tells_temporal_which_errors_end_the_call() -> None:
    retry = dataclasses.replace(POLICY, attempts=3, longest_retry_after=timedelta(seconds=5)).retry_policy()
    assert retry.maximum_attempts == 3
    assert retry.maximum_interval == timedelta(seconds=5)
    assert "TemporalityError" in (retry.non_retryable_error_types or ())


@pytest.mark.parametrize("name", ["append", "Journal.append", "journal.", "journal append", ""])
def test_a_reference_is_named_room_and_verb(name: str) -> None:
    with pytest.raises(ValueError, match=r"room\.verb"):
        ActivityRef(name, takes=Number, gives=Number)


def test_a_reference_takes_one_class() -> None:
    union: Any = Number | int
    with pytest.raises(TypeError, match="wrap it in a model"):
        ActivityRef("tests.union", takes=union, gives=Number)
