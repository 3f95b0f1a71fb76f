"""`kernel-heuristic/execution-observation.v1`, word by word of spec/1: a verification or build command that exits 0 is an observation.

It records execution facts only: it never reads free text, a failure emits nothing, and there is no truth score. An unknown outcome is
proposed exactly once, a repeated success of a proposed or challenged observation is confirmed, later successes are used; terminal
nodes and unavailable lookups emit nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from domain.contracts.ids import digest_id
from domain.journal.event import Event, stamp
from domain.knowledge.normalise import observation_identity
from domain.knowledge.state import Node
from domain.runs.commands.checks import Check, checks, checks_argv
from domain.runs.events import body_hash
from domain.runs.state import Operation

PRODUCER = "kernel-heuristic/execution-observation"
VERSION = "v1"
SOURCE = "temporality/kernel-heuristic"
ACTOR = "system:temporality:kernel"


@dataclass(frozen=True, slots=True)
class Unavailable:
    """The projection could not be asked: nothing is emitted, the tool's own event already records the fact."""


def succeeded(event: Event) -> bool:
    """Whether the ending says success: exit code 0, or a success the format documents or flags. Silence is no success."""
    code = event.data.get("exit_code")
    if code is not None:
        return code == 0
    return event.data.get("success") is True and event.data.get("success_basis") in ("format", "flag")


def executed(event: Event, operation: Operation) -> tuple[Check, ...]:
    """The checks this first ending of a command proves. Empty for failures, for late endings and for anything that is no check."""
    first = operation.ended_event == event.event_id and operation.late == 0
    if event.type != "tool.completed" or not first or not succeeded(event):
        return ()
    workspace = operation.workspace or ""
    if operation.argv:
        return checks_argv(operation.argv, workspace)
    if not operation.command:
        return ()
    # runs repeat themselves; a huge line is not worth remembering
    read = _checks_again if len(operation.command) <= _REMEMBERED_CHARACTERS else checks
    return read(operation.command, workspace)


_REMEMBERED_CHARACTERS = 500
_checks_again = lru_cache(maxsize=2_048)(checks)
_identity_again = lru_cache(maxsize=2_048)(observation_identity)


def identity(event: Event, check: Check) -> str:
    """`auto/` + hash(project, workspace, canonical command): scoped to the project, independent of the run."""
    return _identity_again(event.project, check.workspace, check.canonical)


def observe(event: Event, check: Check, lookup: Node | Unavailable | None) -> Event | None:
    """The knowledge event this execution causes, or None."""
    if isinstance(lookup, Unavailable) or (lookup is not None and (lookup.terminal or lookup.forgotten)):
        return None
    if lookup is None:
        return _emit(
            event,
            check,
            "knowledge.proposed",
            {"kind": "observation", "proposition": proposition(check), "workspace": check.workspace},
        )
    if lookup.state in ("proposed", "challenged"):
        return _emit(event, check, "knowledge.confirmed", {"basis": "execution-reverification.v1"})
    return _emit(event, check, "knowledge.used", {"basis": "execution-reuse.v1"})


def proposition(check: Check) -> str:
    """The sentence an observation says: the command, where it ran, and that it succeeded."""
    where = f" in {check.workspace}" if check.workspace else ""
    return f"`{check.canonical}` succeeds{where}"[:2000]


Transition = Literal["knowledge.proposed", "knowledge.confirmed", "knowledge.used"]


def _emit(event: Event, check: Check, kind: Transition, data: dict[str, Any]) -> Event:
    knowledge = identity(event, check)
    return Event(
        project=event.project,
        source=SOURCE,
        event_id=digest_id("heuristic/1", event.source, event.event_id, knowledge),
        type=kind,
        occurred_at=event.occurred_at,
        time_basis=event.time_basis,
        data={"knowledge": knowledge, "producer": PRODUCER, "producer_version": VERSION, **data},
        integration="temporality",
        version=VERSION,
        run=event.run,
        task=event.task,
        frame=event.frame,
        workspace=event.workspace,
        operation_id=event.operation_id,
        actor=ACTOR,
        evidence=(
            {
                "ref": event.event_id,
                "type": "check_result",
                "run": event.run,
                "observed_at": stamp(event.occurred_at),
                **({"content_hash": found} if (found := body_hash(event.data.get("output"))) else {}),
            },
        ),
        caused_by=(event.event_id,),
    )
