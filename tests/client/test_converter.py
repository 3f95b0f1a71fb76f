"""The converter as the SDK drives it: nothing secret in encoded payloads or failures, limits as typed errors, values intact."""

import asyncio
import base64
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from temporalio.api.common.v1 import Payload
from temporalio.api.failure.v1 import Failure
from temporalio.client import WorkflowFailureError
from temporalio.converter import ActivitySerializationContext, WorkflowSerializationContext
from temporalio.exceptions import ActivityError, ApplicationError
from temporalio.worker import Replayer, Worker

from client.converter import data_converter, protection_of
from client.protection import protection
from domain.contracts.approval import ApprovalInput
from domain.contracts.errors import JournalUnavailable, MalformedMessage, PayloadTooLarge
from domain.contracts.names import project_of
from tests.client.conftest import TEST_KEY, Caller, runner
from tests.client.fakes import Asks, leak, too_much
from tests.client.test_protection import CANARY
from tests.support.artifacts.memory import MemoryArtifactStore

RUN = WorkflowSerializationContext(namespace="default", workflow_id="run/p/r")


def converter(store: MemoryArtifactStore | None = None) -> Any:
    return data_converter(protection(TEST_KEY, store))


@pytest.mark.parametrize(
    ("workflow_id", "project"),
    [
        ("run/p/r", "p"),
        ("import/a%2Fb/" + "0" * 64, "a%2Fb"),
        ("extraction/p/t/x/1", "p"),
        ("approval/p/a", "p"),
        ("ingest/p/s", "p"),
        ("rollup/node", None),
        ("audit/scope/1", None),
        ("run", None),
        ("run//r", None),
        ("", None),
    ],
)
def test_the_project_is_read_from_the_workflow_id(workflow_id: str, project: str | None) -> None:
    assert project_of(workflow_id) == project


@pytest.mark.parametrize(
    "value",
    [
        {"events": [{"event_id": "e", "data": {"text": CANARY}}]},
        ApprovalInput(project="p", approval="a", deadline=datetime.now(UTC), title=f"use {CANARY}"),
        f"text {CANARY}",
        [CANARY, {"password": CANARY}],
    ],
    ids=["batch", "model", "text", "list"],
)
async def test_a_secret_is_in_no_encoded_payload(value: Any) -> None:
    [payload] = await converter().with_context(RUN).encode([value])
    assert CANARY.encode() not in payload.SerializeToString()
    assert b"[redacted:" in payload.data


async def test_values_without_secrets_come_back_as_they_were() -> None:
    values = [
        ApprovalInput(project="p", approval="a", deadline=datetime(2026, 1, 2, tzinfo=UTC)),
        UUID(int=7),
        {"a": [1, 2.5, None, True, "é"]},
        None,
        b"\x00\xff",
    ]
    dc = converter().with_context(RUN)
    hints = [ApprovalInput, UUID, dict[str, Any], type(None), bytes]
    assert await dc.decode(await dc.encode(values), hints) == values


async def test_a_long_text_goes_to_the_store_of_the_workflows_project_and_stays_a_reference() -> None:
    store = MemoryArtifactStore()
    contexts = [
        RUN,
        ActivitySerializationContext(
            namespace="default",
            activity_id="1",
            activity_type="a",
            activity_task_queue="q",
            workflow_id="run/p/r",
            workflow_type="ObservedRun",
            is_local=False,
        ),
    ]
    for context in contexts:
        dc = converter(store).with_context(context)
        [payload] = await dc.encode([{"text": "x" * 50_000}])
        assert len(payload.data) < 3000
        [value] = await dc.decode([payload])
        assert value["text"]["bytes"] == 50_000
        assert await store.get("p", value["text"]["artifact"]) == b"x" * 50_000


async def test_limits_are_typed_errors() -> None:
    dc = converter().with_context(RUN)
    with pytest.raises(PayloadTooLarge, match="set TEMPORALITY_ARTIFACTS"):
        await dc.encode(["x" * 20_000])
    with pytest.raises(PayloadTooLarge, match="put them into the artifact store"):
        await dc.encode([b"x" * 20_000])
    with pytest.raises(PayloadTooLarge, match=r"a payload of 1,\d{3},\d{3} bytes and 1,048,576 are allowed; send less"):
        await dc.encode([["x" * 10_000] * 110])


async def test_payloads_in_another_encoding_are_left_alone() -> None:
    payload = Payload(metadata={"encoding": b"binary/encrypted"}, data=b"\x01\x02")
    assert await converter().payload_codec.encode([payload]) == [payload]


async def test_failures_keep_their_type_and_lose_their_secrets() -> None:
    try:
        try:
            raise ValueError(f"inner {CANARY}")
        except ValueError as inner:
            raise ApplicationError(f"outer {CANARY}", {"detail": CANARY}, type="Outer") from inner
    except ApplicationError as error:
        failure = Failure()
        await converter().encode_failure(error, failure)
    assert CANARY.encode() not in failure.SerializeToString()
    assert failure.application_failure_info.type == "Outer"
    assert failure.message.startswith("outer [redacted:")
    assert failure.cause.message.startswith("inner [redacted:")


@pytest.mark.parametrize(("error", "again"), [(MalformedMessage("it is a list"), False), (JournalUnavailable(), True)])
async def test_an_error_of_temporality_crosses_by_its_name(error: Exception, again: bool) -> None:
    failure = Failure()
    await converter().encode_failure(error, failure)
    assert failure.application_failure_info.type == type(error).__name__
    assert failure.application_failure_info.non_retryable is not again
    assert failure.message == str(error)


def test_the_protection_of_a_converter_can_be_found() -> None:
    assert protection_of(converter()) is not None
    assert protection_of(type(converter())()) is None


async def test_a_payload_over_the_limit_ends_its_activity_at_once(caller: Caller) -> None:
    """COMPLAINTS row 24: under the default retry policy a payload that Temporal refuses is tried again without end."""
    async with Worker(
        caller.client, task_queue="q24", workflows=[Asks], activities=[too_much], workflow_runner=runner()
    ):
        handle = await caller.client.start_workflow(
            Asks.run, args=["too_much", ""], id="run/p/too-much", task_queue="q24"
        )
        with pytest.raises(WorkflowFailureError) as failed:
            await asyncio.wait_for(handle.result(), 10)
    cause = failed.value.cause
    assert isinstance(cause, ActivityError)
    assert isinstance(cause.cause, ApplicationError)
    assert (cause.cause.type, cause.cause.non_retryable) == ("PayloadTooLarge", True)
    assert "a payload of 3,000,901 bytes and 1,048,576 are allowed; send less at once" in str(cause.cause)


async def test_a_secret_is_nowhere_in_a_history_and_the_history_replays(caller: Caller) -> None:
    async with Worker(caller.client, task_queue="q", workflows=[Asks], activities=[leak], workflow_runner=runner()):
        handle = await caller.client.start_workflow(
            Asks.run,
            args=["leak", CANARY],
            id="run/p/canary",
            task_queue="q",
            memo={"note": CANARY},
            static_summary=f"use {CANARY}",
        )
        await handle.signal(Asks.hear, {"text": CANARY})
        with pytest.raises(WorkflowFailureError):
            await handle.result()
    history = await handle.fetch_history()
    said = "".join(str(event) for event in history.events)
    assert CANARY not in said
    # payloads lie in base64 in the JSON form, so that both spellings are looked for
    text = history.to_json()
    assert CANARY not in text
    for at in range(3):
        assert base64.b64encode(CANARY[at : at + 48].encode()).decode() not in text
    assert "redacted:" in said
    await Replayer(
        workflows=[Asks], data_converter=caller.client.data_converter, workflow_runner=runner()
    ).replay_workflow(history)
