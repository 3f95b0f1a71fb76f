"""Events as producers and the kernel would say them, short enough to read in a test."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from domain.journal.event import Event

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def happened(project: str, event_id: str, kind: str = "turn.user", **fields: Any) -> Event:
    """Something that happened in run `r1`; `data` and the envelope's fields by name."""
    told: dict[str, Any] = {"run": "r1", "source": "test", "occurred_at": NOON, "data": {"text": event_id}, **fields}
    return Event(project=project, event_id=event_id, type=kind, **told)


def ran(project: str, operation: str, command: str = "make test", **ending: Any) -> tuple[Event, Event]:
    """A command that started and ended: with exit code 0 unless `ending` says otherwise. `run` moves it to another run."""
    run = ending.pop("run", "r1")
    at = ending.pop("at", NOON)
    data = {"tool": "bash", "exit_code": 0, "output": "ok", **ending}
    kind = "tool.failed" if data["exit_code"] else "tool.completed"
    common: dict[str, Any] = {"run": run, "operation_id": operation, "workspace": "/repo"}
    return (
        happened(
            project,
            f"{run}-{operation}-started",
            "tool.started",
            data={"tool": "bash", "command": command},
            occurred_at=at,
            **common,
        ),
        happened(project, f"{run}-{operation}-ended", kind, data=data, occurred_at=at + timedelta(seconds=1), **common),
    )


def knows(project: str, kind: str, knowledge: str, key: str, **fields: Any) -> Event:
    """A knowledge event as a domain command writes it; `data` adds to what every one of them names."""
    told: Mapping[str, Any] = fields.pop("data", {})
    return Event(
        project=project,
        source="temporality/test",
        event_id=f"{kind}-{key}",
        type=f"knowledge.{kind}",
        data={"knowledge": knowledge, "producer": "test", "producer_version": "v1", **told},
        **{"run": "r1", "occurred_at": NOON, "actor": "system:test:kernel", "caused_by": ("cause",), **fields},
    )


def proposed(project: str, knowledge: str, key: str = "1", **fields: Any) -> Event:
    """A claim is proposed."""
    told = {"kind": "claim", "proposition": "The flaky test needs a fixed port.", **fields.pop("data", {})}
    return knows(project, "proposed", knowledge, key, data=told, **fields)
