"""Events like those of real sessions: turns of a few hundred bytes, tool calls with outputs, one command in five a check."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from domain.journal.event import Event

START = datetime(2026, 3, 1, 9, tzinfo=UTC)
_WORDS = (
    "The ledger rounds each line before it sums them, so the total differs by a cent from the invoice; the fix is to sum first and "
    "round once, and the test that showed it is in tests/test_totals.py. "
)
_COMMANDS = (
    "ls -la src",
    "pytest -q tests/test_totals.py",
    "cat src/ledger.py",
    "git diff --stat",
    "sed -n 1,80p src/ledger.py",
)


def session(project: str, run: str, count: int, start: int = 0) -> Iterator[Event]:
    """`count` events of `run`, numbered from `start`: a turn, a call and its result in turn, thirty to a frame."""
    for number in range(start, start + count):
        yield _event(project, run, number)


def _event(project: str, run: str, number: int) -> Event:
    step, part = divmod(number, 3)
    command = _COMMANDS[step % len(_COMMANDS)]
    kind, data = (
        ("turn.agent", {"text": _WORDS * 2 + str(number), "native_id": f"{run}-{number}"}),
        (
            "tool.started",
            {"tool": "bash", "command": command, "arguments": {"command": command}, "native_id": f"call-{step}"},
        ),
        (
            "tool.completed",
            {"tool": "bash", "exit_code": 0, "output": _WORDS * 3 + str(number), "duration_ms": number % 900},
        ),
    )[part]
    return Event(
        project=project,
        source=f"bench/{run}",
        event_id=f"{run}-{number:08}",
        type=kind,
        occurred_at=START + timedelta(seconds=number),
        data=data,
        integration="bench",
        run=run,
        frame=f"{run}-frame-{number // 30}",
        sequence=number,
        workspace="/repo",
        actor="agent:bench:a1" if part < 2 else None,
        operation_id=f"op-{step}" if part else None,
    )
