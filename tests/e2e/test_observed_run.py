"""A run driven elsewhere, end to end on real servers: recorded, closed, extracted, and no secret anywhere."""

import json
import subprocess
import uuid
from typing import Any

import pytest
from temporalio.client import Client, WorkflowUpdateFailedError
from temporalio.exceptions import ApplicationError

from client.record import RunRecorder
from domain.contracts.names import COMPLETE, OBSERVED_RUN, RECORD, TASK_QUEUE, run_workflow_id
from domain.contracts.observed_run import Complete, ObservedRunInput
from stack.programs import temporal_program
from tests.support.running import Running

CANARY = "ghp_Zq7Rk2Wv9Lx4Tn8Bm1Yc5Hd3Jf6Gs0Pa2Qe"


def _event(number: int, kind: str, data: dict[str, Any], **context: Any) -> dict[str, Any]:
    return {
        "event_id": f"e{number}",
        "occurred_at": f"2026-03-01T10:00:{number:02d}Z",
        "type": kind,
        "data": data,
        "context": context,
    }


def _run_with_secret() -> list[dict[str, Any]]:
    return [
        _event(1, "turn.user", {"text": f"push it, my token is {CANARY}"}),
        _event(2, "tool.started", {"tool": "bash", "command": "make test"}, operation_id="op1"),
        _event(
            3, "tool.completed", {"exit_code": 0, "output": f"token={CANARY}\n" + "ok\n" * 9000}, operation_id="op1"
        ),
        _event(4, "turn.agent", {"text": "All green."}),
    ]


def _found_in_postgres(running: Running, needle: str) -> list[str]:
    return [table for table, row in running.everything_in_postgres() if needle.encode() in row]


def _history(running: Running, workflow: str) -> str:
    connection = running.settings.temporal()
    shown = subprocess.run(
        [str(temporal_program()), "workflow", "show", "-w", workflow, "-o", "json", "--address", connection.address],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return shown.stdout


async def test_a_secret_sent_through_the_client_is_nowhere(running: Running) -> None:
    run = ObservedRunInput(project=f"canary-{uuid.uuid4()}", run="run-1", title="push")
    recorder = RunRecorder(await running.client(), run)
    answers = await recorder.record(_run_with_secret())
    assert [answer.status for answer in answers] == ["recorded"] * 4
    closed = await recorder.complete(Complete(outcome="completed"))
    assert closed.extraction is not None
    await (await running.client()).get_workflow_handle(closed.extraction).result()
    assert _found_in_postgres(running, CANARY) == []
    for workflow in (recorder.workflow_id, closed.extraction):
        history = _history(running, workflow)
        assert "workflowExecutionStartedEventAttributes" in history
        assert CANARY not in history
    bodies = [path for path in (running.home / "artifacts").rglob("*") if path.is_file()]
    assert bodies, "the long output was put away"
    assert not any(CANARY.encode() in path.read_bytes() for path in bodies)


async def test_a_secret_sent_by_a_bare_client_is_not_in_postgres(running: Running) -> None:
    client, project = await running.bare_client(), f"bare-{uuid.uuid4()}"
    handle = await _start(client, project)
    answer = await handle.execute_update(RECORD, {"events": _run_with_secret()})
    assert answer["recorded"] == 4
    await handle.execute_update(COMPLETE, {"outcome": "completed"})
    assert _found_in_postgres(running, CANARY) == []


async def test_each_family_that_producers_may_not_write_is_refused_with_its_index(running: Running) -> None:
    client, project = await running.bare_client(), f"families-{uuid.uuid4()}"
    handle = await _start(client, project)
    kinds = [
        "knowledge.confirmed", "knowledge.extraction.completed", "entity.created", "relation.added", "hypothesis.proposed",
        "prediction.made", "correction.made", "ingest.import_completed", "proposal.made", "node.written", "section.written",
        "rollup.done", "graduation.changed", "promotion.done", "approval.approved", "access.granted", "case.opened",
        "audit.finding", "flag.raised", "budget.exceeded", "migration.started", "operator_action",
    ]  # fmt: skip
    events = [_event(number, kind, {"text": "x"}) for number, kind in enumerate(kinds)]
    events.append(_event(50, "turn.user", {"text": "this one is fine"}))
    answer = await handle.execute_update(RECORD, {"events": events})
    assert [(item["index"], item["status"]) for item in answer["events"]] == [
        *((index, "refused") for index in range(len(kinds))),
        (len(kinds), "recorded"),
    ]
    assert all(kind in item["reason"] for kind, item in zip(kinds, answer["events"], strict=False))


async def test_a_batch_over_the_limit_is_refused_with_a_sentence_that_names_the_client(running: Running) -> None:
    handle = await _start(await running.bare_client(), f"large-{uuid.uuid4()}")
    with pytest.raises(WorkflowUpdateFailedError) as refused:
        await handle.execute_update(RECORD, {"events": [_event(1, "turn.user", {"text": "x" * 60_000})]})
    cause = refused.value.cause
    assert isinstance(cause, ApplicationError)
    assert cause.type == "PayloadTooLarge"
    assert "temporality-client" in str(cause)
    assert (await handle.execute_update(RECORD, {"events": [_event(2, "turn.user", {"text": "goes on"})]}))[
        "recorded"
    ] == 1


async def test_what_was_recorded_is_knowledge_of_the_project(running: Running) -> None:
    client, project = await running.bare_client(), f"observe-{uuid.uuid4()}"
    for number in (1, 2, 3):
        handle = await _start(client, project, f"run-{number}")
        answer = await handle.execute_update(RECORD, {"events": _run_with_secret()})
        assert answer["recorded"] == 4, json.dumps(answer)
    async with _scoped(running, project) as connection:
        cursor = await connection.execute("SELECT kind, state, uses FROM projection.knowledge_nodes")
        assert await cursor.fetchall() == [("observation", "confirmed", 1)]


async def _start(client: Client, project: str, run: str = "run-1") -> Any:
    return await client.start_workflow(
        OBSERVED_RUN, {"project": project, "run": run}, id=run_workflow_id(project, run), task_queue=TASK_QUEUE
    )


class _scoped:
    def __init__(self, running: Running, project: str) -> None:
        self._database, self._project = running.database(), project

    async def __aenter__(self) -> Any:
        await self._database.open()
        self._inner = self._database.scoped(self._project)
        return await self._inner.__aenter__()

    async def __aexit__(self, *error: Any) -> None:
        await self._inner.__aexit__(*error)
        await self._database.close()
