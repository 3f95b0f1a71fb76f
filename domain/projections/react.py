"""What the kernel itself says about what happened, in the same transaction: today the execution-observation heuristic."""

from __future__ import annotations

from domain.journal.event import Event
from domain.journal.rows import WorkingSet
from domain.knowledge import heuristic
from domain.knowledge.state import NODES, Node
from domain.runs.state import OPERATIONS, Operation


def react(rows: WorkingSet, event: Event) -> tuple[Event, ...]:
    """Events caused by `event`, which is already folded into `rows`. Raises `NotLoaded` for nodes it has to see first."""
    if event.type != "tool.completed" or event.run is None or event.operation_id is None:
        return ()
    operation = rows.get(OPERATIONS, Operation, event.run, event.operation_id)
    if operation is None:
        return ()
    caused: list[Event] = []
    for check in heuristic.executed(event, operation):
        node = rows.get(NODES, Node, heuristic.identity(event, check))
        observed = heuristic.observe(event, check, node)
        if observed is not None:
            caused.append(observed)
    return tuple(caused)
