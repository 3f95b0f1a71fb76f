"""Which run is stuck, in what, since when, with which error, and who must decide by when: from list and describe alone."""

import asyncio
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from temporalio.client import Client, WorkflowExecutionDescription

from domain.contracts.approval import ApprovalInput
from domain.contracts.errors import ArtifactMissing, JournalUnavailable
from domain.contracts.extraction import ExtractionInput
from domain.contracts.starting import approval_start, extraction_start
from tests.workflows.runs import batch, complete, open_run, record
from tests.workflows.world import KEYS, World, eventually


@dataclass(frozen=True)
class Stuck:
    """One workflow that tries something again and again."""

    what: str
    summary: str
    activity: str
    attempt: int
    since: datetime
    error: str


@dataclass(frozen=True)
class Open:
    """One decision that somebody must take."""

    summary: str
    who: str
    node: str
    deadline: datetime


async def running(client: Client, project: str, kind: str) -> list[WorkflowExecutionDescription]:
    query = f"ExecutionStatus = 'Running' AND TemporalityProject = '{project}' AND TemporalityKind = '{kind}'"
    found = [listed async for listed in client.list_workflows(query)]
    return [await client.get_workflow_handle(one.id).describe() for one in found]


async def stuck(client: Client, project: str) -> list[Stuck]:
    """Everything of a project that is beyond its first attempt."""
    found: list[Stuck] = []
    for kind in ("run", "import", "extraction", "approval"):
        for described in await running(client, project, kind):
            for pending in described.raw_description.pending_activities:
                if pending.attempt > 1:
                    whole = pending.activity_options.schedule_to_close_timeout.ToTimedelta()
                    found.append(
                        Stuck(
                            what=f"{kind} {described.typed_search_attributes.get(KEYS['TemporalityRun'])}",
                            summary=str(await described.static_summary()),
                            activity=pending.activity_type.name,
                            attempt=pending.attempt,
                            # A retry has a new start: what stays is the end of all attempts together.
                            since=pending.expiration_time.ToDatetime(UTC) - whole,
                            error=pending.last_failure.message,
                        )
                    )
    return found


async def waiting(client: Client, project: str) -> list[Open]:
    """Every open decision of a project, by deadline."""
    found: list[Open] = []
    for described in await running(client, project, "approval"):
        attributes = described.typed_search_attributes
        found.append(
            Open(
                summary=str(await described.static_summary()),
                who=str(await described.static_details()),
                node=str(attributes.get(KEYS["TemporalityNode"])),
                deadline=attributes[KEYS["TemporalityDeadline"]],
            )
        )
    return sorted(found, key=lambda one: one.deadline)


async def test_list_and_describe_say_what_is_stuck(world: World, project: str) -> None:
    begun = datetime.now(UTC) - timedelta(seconds=1)
    world.faults.fail("journal.record", project, *[JournalUnavailable()] * 3)
    world.faults.fail("extraction.propose", project, *[ArtifactMissing("body 7 of run r2")] * 3)
    sick = await open_run(world, project, "r1")
    healthy = await open_run(world, project, "r9")
    recording = asyncio.create_task(record(sick, batch(0, 1)))
    extraction = ExtractionInput(project=project, run="r2", trajectory="cd" * 32, extractor="rules/1")
    await world.start(extraction_start(extraction))

    async def both() -> list[Stuck]:
        found = await stuck(world.client, project)
        return found if len(found) == 2 else []

    run, extracting = await eventually(both)
    assert (run.what, run.activity, run.summary) == ("run r1", "journal.record", "run r1: mend the cache")
    assert "database did not answer" in run.error and run.attempt >= 2 and begun <= run.since <= datetime.now(UTC)
    assert (extracting.what, extracting.activity) == ("extraction r2", "extraction.propose")
    assert "body 7 of run r2" in extracting.error and extracting.summary == "what run r2 taught, by rules/1"
    await recording
    await asyncio.gather(complete(sick), complete(healthy))


async def test_list_and_describe_say_who_must_decide_by_when(world: World, project: str) -> None:
    deadlines = [datetime.now(UTC).replace(microsecond=0) + timedelta(hours=hours) for hours in (168, 24)]
    for number, deadline in enumerate(deadlines):
        asked = ApprovalInput(
            project=project,
            approval=f"a{number}",
            deadline=deadline,
            title=f"claim {number}\nis true",
            proposed_by_run="r1",
            node=f"claim/v1/{number}",
        )
        await world.start(approval_start(asked))

    async def both() -> list[Open]:
        found = await waiting(world.client, project)
        return found if len(found) == 2 else []

    first, second = await eventually(both)
    assert [first.deadline, second.deadline] == deadlines[::-1]
    assert first.summary == f"decide by {deadlines[1]:%Y-%m-%d %H:%M} UTC: claim 1 is true"
    assert "person or a service" in first.who and "never run r1" in first.who and "`decide`" in first.who
    assert first.node == "claim/v1/1"
