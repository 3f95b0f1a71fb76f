"""A campaign: the work undisturbed in one home, the same work under planned kills in another, and what is the matter then."""

import asyncio
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from temporalio.client import Client, WorkflowExecutionStatus
from temporalio.service import RPCError

from activities.postgres.pool import Database
from activities.postgres.rebuild import rebuild
from activities.postgres.verify import verify
from domain.contracts.names import approval_workflow_id
from stack import record
from tests.faults.holdings import Holdings, differences, holdings
from tests.faults.inputs import Lane
from tests.faults.ledger import Placed
from tests.faults.plan import PHASES, VICTIMS, WORKS, Cell, Kill, Victim, draw
from tests.faults.scenario import Answers, Scenario
from tests.faults.site import Site, site

SETTLE_SECONDS: Final = 90.0
"""A kill after the last answer still has to be mended: a worker or server comes back, and what it had is done again."""

STAGGER_SECONDS: Final = 2.5
"""Between the beginnings of lanes under kills: while one waits until a dead worker is missed, the next is already hit."""


@dataclass(frozen=True)
class Outcome:
    """One home after the work."""

    answers: Answers
    undecided: dict[str, list[str]]
    holdings: dict[str, Holdings]
    workflows: dict[str, Counter[str]]
    passages: dict[Cell, int]
    began_at: float
    seconds: float
    told: Sequence[tuple[float, str]]


@dataclass(frozen=True)
class Campaign:
    """Both homes, the kills, and a sentence for everything that is not as it has to be."""

    seed: int
    undisturbed: Outcome
    killed: Outcome
    placed: Sequence[Placed]
    missing: Sequence[Kill]
    faults: Sequence[str]


async def campaign(
    folder: Path, template: Path, lanes: Sequence[Lane], seed: int, counts: Mapping[Victim, int]
) -> Campaign:
    """Run it all; about a minute and ten seconds more for each kill, shared by the lanes."""
    async with site(folder / "undisturbed", template) as calm:
        undisturbed, faults = await _work(calm, lanes, ())
    kills = draw(seed, counts, undisturbed.passages)
    async with site(folder / "killed", template) as stricken:
        killed, more = await _work(stricken, lanes, kills)
        placed, missing = stricken.ledger.placed(), stricken.ledger.missing()
    faults = [*faults, *more, *compared(undisturbed, killed)]
    return Campaign(seed, undisturbed, killed, placed, missing, faults)


async def _work(here: Site, lanes: Sequence[Lane], kills: Sequence[Kill]) -> tuple[Outcome, list[str]]:
    began_at = time.time()
    here.ledger.plan(kills)
    scenario = Scenario(here.client, here.artifacts)
    await scenario.work(lanes, STAGGER_SECONDS if kills else 0.0)
    faults = await _settled(here, scenario)
    seconds = time.time() - began_at
    told = record.running(here.home).postgres
    assert told is not None
    found = {lane.project: holdings(told.superuser_url, lane.project) for lane in lanes}
    database = Database(told.app_url, max_connections=2)
    await database.open()
    for lane in lanes:
        faults += await _unsound(database, lane.project)
        faults += _undecided_or_once(lane.project, found[lane.project], scenario)
        faults += _unfounded(lane.project, found[lane.project], scenario.answers)
    await database.close()
    workflows = await _workflows(here.client, found)
    told_by, passages = [*here.told, *scenario.told], here.ledger.passages()
    outcome = Outcome(scenario.answers, scenario.undecided, found, workflows, passages, began_at, seconds, told_by)
    return outcome, faults


async def _settled(here: Site, scenario: Scenario) -> list[str]:
    """Wait until every victim is back and nothing runs but what waits for a person; what does not settle is told."""
    waiting = {approval_workflow_id(project, one) for project, open_ in scenario.undecided.items() for one in open_}
    end = time.monotonic() + SETTLE_SECONDS
    while True:
        unsettled = [f"{victim} did not come back" for victim in VICTIMS if here.ledger.unmended(victim)]
        unsettled += await _unexpected(here.client, waiting)
        if not unsettled or time.monotonic() > end:
            return unsettled
        await asyncio.sleep(0.5)


async def _unexpected(client: Client, waiting: set[str]) -> list[str]:
    said: list[str] = []
    running: Counter[str] = Counter()
    try:
        async for execution in client.list_workflows():
            if execution.status == WorkflowExecutionStatus.RUNNING:
                running[execution.id] += 1
            elif execution.status not in (WorkflowExecutionStatus.COMPLETED, WorkflowExecutionStatus.CONTINUED_AS_NEW):
                status = execution.status.name.lower() if execution.status else "nothing"
                said.append(f"{execution.id} ended as {status}")
    except RPCError as error:
        return [f"Temporal does not answer: {error}"]
    said += [f"{one} still runs" for one in running if one not in waiting]
    return said + [f"{one} waits for nobody any more" for one in waiting if running[one] != 1]


async def _workflows(client: Client, found: Mapping[str, Holdings]) -> dict[str, Counter[str]]:
    """How often each workflow ran, by project. An import may be started again by a caller who lost the answer to its start."""
    ran: dict[str, Counter[str]] = {project: Counter() for project in found}
    async for execution in client.list_workflows():
        kind, project, _ = execution.id.split("/", 2)
        ran[project][found[project].aliases.of(execution.id)] += 1 if kind != "import" else 0
    return ran


async def _unsound(database: Database, project: str) -> list[str]:
    """What `verify --full` and a rebuild find."""
    verified = await verify(database, project, full=True)
    said = [f"{project}: {problem}" for problem in verified.problems]
    if verified.columns_checked != verified.events:
        said.append(f"{project}: only {verified.columns_checked} of {verified.events} events were checked")
    rebuilt = await rebuild(database, project)
    said += [
        f"{project}: a rebuild changes {rows} rows of {table}" for table, rows in rebuilt.differing.items() if rows
    ]
    return said


def _undecided_or_once(project: str, found: Holdings, scenario: Scenario) -> list[str]:
    """Each approval is decided exactly once and applied exactly once, and what nobody decided is open; no gap in `seq`."""
    said: list[str] = []
    if [event.seq for event in found.events] != list(range(1, len(found.events) + 1)):
        said.append(f"{project}: the sequence has gaps")
    decided = Counter(
        _approval(event.said) for kind in ("approved", "rejected") for event in found.of_type(f"approval.{kind}")
    )
    applied = Counter(_approval(event.said) for event in found.of_type("approval.applied"))
    open_ = {found.aliases.of(one) for one in scenario.undecided[project]}
    for event in found.of_type("approval.requested"):
        approval = _approval(event.said)
        wanted = 0 if approval in open_ else 1
        if decided[approval] != wanted or applied[approval] != wanted:
            said.append(
                f"{approval} was decided {decided[approval]} and applied {applied[approval]} times, not {wanted}"
            )
    for approval, answer in scenario.answers.decisions.items():
        if not answer.effective or answer.application != "applied":
            said.append(f"the decision on {approval} had no effect: {answer}")
    said += [
        f"{one}: a second decision took effect" for one, a in scenario.answers.second_thoughts.items() if a.effective
    ]
    return said


def _unfounded(project: str, found: Holdings, answers: Answers) -> list[str]:
    """Answers that the journal does not bear out: an event that is not where a caller was told, a wrong count of new ones."""
    said: list[str] = []
    at = {event.seq: event.event_id for event in found.events}
    for run, events in answers.records.items():
        if run.startswith(f"{project}/"):
            said += [
                f"{run}: {one.event_id} is not at {one.seq}" for one in events if at.get(one.seq or 0) != one.event_id
            ]
    added: Counter[str] = Counter()
    for answer in answers.imports.values():
        if answer.project == project:
            added.update({run.run: run.added for run in answer.runs})
    for run, count in added.items():
        happened = sum(event.run == run and event.happened and event.type != "run.closed" for event in found.events)
        if happened != count:
            said.append(f"{project}: imports say they added {count} events to {run}, and it has {happened}")
    return said


def _approval(document: Mapping[str, Mapping[str, str]]) -> str:
    return document["data"]["approval"]


def compared(undisturbed: Outcome, killed: Outcome) -> list[str]:
    """What the journal, the tables and the callers were told otherwise than undisturbed."""
    said: list[str] = []
    for project, expected in undisturbed.holdings.items():
        found = killed.holdings[project]
        said += [f"{project}: {one}" for one in differences(expected, found)]
        ran, again = undisturbed.workflows[project], killed.workflows[project]
        said += [
            f"{one} ran {again[one]} times, undisturbed {ran[one]}"
            for one in sorted(ran | again)
            if ran[one] != again[one]
        ]
        before, after = _told(undisturbed, project), _told(killed, project)
        said += [
            f"{project}: asked for {what}, a caller was told {after.get(what)}, undisturbed {before.get(what)}"
            for what in sorted(before.keys() | after.keys())
            if before.get(what) != after.get(what)
        ]
    return said


def _told(outcome: Outcome, project: str) -> dict[str, object]:
    """The answers that concern the project, by what was asked."""
    found, answers = outcome.holdings[project], outcome.answers
    told: dict[str, object] = {}
    everything = {
        **answers.imports,
        **answers.closes,
        **answers.extractions,
        **answers.decisions,
        **answers.second_thoughts,
    }
    mine = {found.aliases.of(event.said["data"]["approval"]) for event in found.of_type("approval.requested")}
    for what, answer in everything.items():
        name = found.aliases.of(what)
        if name in mine or what.startswith((f"{project}-", f"{project}/", f"extraction/{project}/")):
            told[name] = found.answer(answer)
    for run, events in answers.records.items():
        if run.startswith(f"{project}/"):
            # Asked again after a kill, what was recorded is a duplicate: durable either way, and once.
            told[run] = [("refused" if event.status == "refused" else "durable", event.event_id) for event in events]
    return told


def table(found: Campaign) -> str:
    """The kills by phase and kind, one line for each phase of each work."""
    hits = Counter((one.kill.victim, one.kill.work, one.kill.phase) for one in found.placed)
    lines = [
        f"seed {found.seed}: {len(found.placed)} kills in {found.killed.seconds:.0f} s, undisturbed {found.undisturbed.seconds:.0f} s"
    ]
    lines.append(f"{'phase':28}{'work':12}" + "".join(f"{victim:>10}" for victim in VICTIMS))
    for phase in PHASES:
        for work in WORKS:
            lines.append(f"{phase:28}{work:12}" + "".join(f"{hits[victim, work, phase]:10}" for victim in VICTIMS))
    totals = Counter(one.kill.victim for one in found.placed)
    lines.append(f"{'all':40}" + "".join(f"{totals[victim]:10}" for victim in VICTIMS))
    return "\n".join(lines)


def story(found: Campaign) -> list[str]:
    """What happened when, in seconds from the start of the work: kills, and what the keeper said."""
    began = found.killed.began_at
    events = [
        (one.asked_at - began, f"{one.kill} at {one.place}, away {one.away_seconds:.1f} s") for one in found.placed
    ]
    events += [(at - began, said) for at, said in found.killed.told]
    return [f"{at:7.1f}  {said}" for at, said in sorted(events)]
