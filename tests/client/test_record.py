"""The record recipe: start or join, bounded batches, the same again until there is an answer, one answer for each event."""

import asyncio
import json
import uuid
from typing import Any

import pytest
from temporalio.client import Client

from client.asking import Patience
from client.record import RecordOptions, RunRecorder
from domain.contracts.errors import MalformedId, NoAnswer, PayloadTooLarge, RunClosed, UnusableSetting
from domain.contracts.observed_run import Complete, ObservedRunInput
from domain.contracts.payloads import size_of
from tests.client.conftest import Caller

QUICK = RecordOptions(patience=Patience(in_all=20.0, one_attempt=5.0))


def event(n: int, **data: Any) -> dict[str, Any]:
    return {"event_id": f"e{n}", "type": "turn.user", "occurred_at": "2026-01-02T03:04:05Z", "data": {"n": n, **data}}


def a_run(title: str | None = None) -> ObservedRunInput:
    return ObservedRunInput(project="p", run=f"run-{uuid.uuid4().hex[:12]}", title=title)


async def updates_of(client: Client, workflow_id: str) -> list[Any]:
    """The arguments of every accepted update in the current history, as they lie in Temporal."""
    history = await client.get_workflow_handle(workflow_id).fetch_history()
    taken = [entry.workflow_execution_update_accepted_event_attributes for entry in history.events]
    return [
        json.loads(one.accepted_request.input.args.payloads[0].data)
        for one in taken
        if one.HasField("accepted_request")
    ]


async def test_events_are_answered_one_by_one_and_again_as_duplicates(served: Caller) -> None:
    recorder = RunRecorder(served.client, a_run(), QUICK)
    answers = await recorder.record([event(1), "no event", event(2)])
    assert [(one.index, one.status, one.event_id, one.seq) for one in answers] == [
        (0, "recorded", "e1", 1),
        (1, "refused", None, None),
        (2, "recorded", "e2", 2),
    ]
    again = await recorder.record([event(2), event(3)])
    assert [one.status for one in again] == ["duplicate", "recorded"]
    assert (await recorder.complete()).trajectory == "e1,e2,e3"


async def test_the_same_events_sent_again_by_another_process_get_the_first_answer(served: Caller) -> None:
    run = a_run()
    first = await RunRecorder(served.client, run, QUICK).record([event(1), event(2)])
    assert await RunRecorder(served.client, run, QUICK).record([event(1), event(2)]) == first


async def test_batches_stay_in_bounds_and_in_order(served: Caller) -> None:
    recorder = RunRecorder(served.client, a_run(), QUICK)
    events = [event(n, text="x" * 10_000) for n in range(12)] + [event(n) for n in range(12, 1300)]
    answers = await recorder.record(events)
    assert [one.seq for one in answers] == list(range(1, 1301))
    batches = await updates_of(served.client, recorder.workflow_id)
    assert len(batches) > 3
    assert all(len(batch["events"]) <= 500 and size_of(batch) <= 50_000 for batch in batches)
    assert [one["event_id"] for batch in batches for one in batch["events"]] == [f"e{n}" for n in range(1300)]


async def test_a_long_text_is_put_away_and_an_event_that_stays_too_large_is_refused(served: Caller) -> None:
    recorder = RunRecorder(served.client, a_run(), QUICK)
    many = {f"field{n}": "y" * 15_000 for n in range(4)}
    answers = await recorder.record([event(1, output="z" * 100_000), event(2, **many), event(3)])
    assert [one.status for one in answers] == ["recorded", "refused", "recorded"]
    assert "split it" in (answers[1].reason or "")
    assert answers[1].event_id == "e2"
    [batch] = await updates_of(served.client, recorder.workflow_id)
    output = batch["events"][0]["data"]["output"]
    assert output["bytes"] == 100_000
    assert await served.store.get("p", output["artifact"]) == b"z" * 100_000


async def test_what_has_no_json_form_is_answered_for_that_event(served: Caller) -> None:
    loop: dict[str, Any] = event(1)
    loop["data"]["self"] = loop
    odd = event(2, when=uuid.UUID(int=5), raw=b"\xff\x00", half="\ud800", nan=float("nan"))
    answers = await RunRecorder(served.client, a_run(), QUICK).record([loop, odd])
    assert [one.status for one in answers] == ["refused", "recorded"]
    assert "no JSON form" in (answers[0].reason or "")


async def test_a_closed_gate_is_waited_for(served: Caller) -> None:
    recorder = RunRecorder(served.client, a_run("gate"), QUICK)
    calls = await asyncio.gather(*(recorder.record([event(n)]) for n in range(20)))
    assert {answers[0].status for answers in calls} == {"recorded"}
    assert sorted(answers[0].seq or 0 for answers in calls) == list(range(1, 21))


async def test_nothing_is_lost_while_the_run_starts_anew(served: Caller) -> None:
    recorder = RunRecorder(served.client, a_run("handover"), QUICK)
    calls = await asyncio.gather(*(recorder.record([event(n)]) for n in range(12)))
    assert {answers[0].status for answers in calls} <= {"recorded", "duplicate"}
    known = await served.client.get_workflow_handle(recorder.workflow_id).query("events", result_type=list[str])
    assert sorted(known) == sorted(f"e{n}" for n in range(12))


async def test_a_refusal_is_raised_as_its_own_kind(served: Caller) -> None:
    recorder = RunRecorder(served.client, a_run("refuse"), QUICK)
    with pytest.raises(PayloadTooLarge, match=r"^The payload is over the limit: it is far too large$"):
        await recorder.record([event(1)])


async def test_a_closed_run_refuses_new_batches_and_repeats_old_answers(served: Caller) -> None:
    recorder = RunRecorder(served.client, a_run(), QUICK)
    first = await recorder.record([event(1)])
    done = await recorder.complete(Complete(outcome="failed"))
    await served.client.get_workflow_handle(recorder.workflow_id).result()
    assert await recorder.record([event(1)]) == first
    assert await recorder.complete(Complete(outcome="failed")) == done
    with pytest.raises(RunClosed, match=r"takes no more events.*record to a run of another id"):
        await recorder.record([event(2)])
    with pytest.raises(RunClosed):
        await recorder.complete(Complete(outcome="cancelled"))


async def test_without_a_worker_patience_ends_with_a_sentence(caller: Caller) -> None:
    recorder = RunRecorder(caller.client, a_run(), RecordOptions(patience=Patience(in_all=1.0, one_attempt=0.4)))
    with pytest.raises(NoAnswer, match="send the same again"):
        await recorder.record([event(1)])
    await caller.client.get_workflow_handle(recorder.workflow_id).terminate()


async def test_a_cancelled_caller_stops_asking(caller: Caller) -> None:
    recorder = RunRecorder(caller.client, a_run(), QUICK)
    task = asyncio.create_task(recorder.record([event(1)]))
    await asyncio.sleep(0.3)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(task, 3)
    await caller.client.get_workflow_handle(recorder.workflow_id).terminate()


async def test_a_namespace_that_does_not_exist_is_not_waited_for(caller: Caller) -> None:
    address = caller.client.service_client.config.target_host
    lost = await Client.connect(address, namespace="nowhere", data_converter=caller.client.data_converter)
    with pytest.raises(Exception, match="nowhere"):
        await asyncio.wait_for(RunRecorder(lost, a_run(), QUICK).record([event(1)]), 5)


async def test_no_more_than_eight_batches_are_in_flight(served: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    recorder = RunRecorder(served.client, a_run("gate"), QUICK)
    now, most = 0, 0
    ask = recorder._ask

    async def counted(*args: Any) -> Any:
        nonlocal now, most
        now, most = now + 1, max(most, now + 1)
        try:
            return await ask(*args)
        finally:
            now -= 1

    monkeypatch.setattr(recorder, "_ask", counted)
    await asyncio.gather(*(recorder.record([event(n)]) for n in range(30)))
    assert most == 8


async def test_a_client_without_the_converter_is_refused(environment: Any) -> None:
    with pytest.raises(UnusableSetting, match="make it with `connect`"):
        RunRecorder(environment.client, a_run())


def test_a_run_that_cannot_be_one_is_refused_before_anything_is_sent(caller: Caller) -> None:
    with pytest.raises(MalformedId, match="give a shorter one"):
        RunRecorder(caller.client, ObservedRunInput(project="p", run="é" * 128))
