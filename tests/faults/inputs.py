"""The work that is interrupted: transcripts to import, runs to record, and what is decided about what they taught.

Everything is made from names alone, so that an undisturbed home and a killed one are given exactly the same.
"""

import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

EXAMPLES: Final = Path(__file__).resolve().parents[2] / "examples"
WHEN: Final = datetime(2026, 4, 6, 9, 0, tzinfo=UTC)
BATCH_EVENTS: Final = 4
FEW: Final = 12
TALK_PADDING: Final = 320
"""Messages of small talk in a long transcript: its events are appended in several transactions of 250."""


@dataclass(frozen=True, slots=True)
class File:
    """A transcript to import. `import_id` names this very import."""

    name: str
    body: bytes
    import_id: str


@dataclass(frozen=True, slots=True)
class Observed:
    """A run handed in batch by batch."""

    run: str
    batches: tuple[tuple[dict[str, Any], ...], ...]
    outcome: str = "completed"


Step = File | Observed


@dataclass(frozen=True, slots=True)
class Lane:
    """One project's work, step after step: what a run taught depends on what was known before it."""

    project: str
    steps: tuple[Step, ...]


def small() -> list[Lane]:
    """Enough to pass every phase of every kind of work a few times, in a few seconds; many lanes are mended at once."""
    metals = {"bronze": "copper", "brass": "lead", "pewter": "zinc", "steel": "tin", "chrome": "silver"}
    lanes = [Lane(talk, (*_talks(talk), _observed(metal, 1))) for talk, metal in metals.items()]
    return [Lane("ledger", (*_ledger()[:2], _observed("iron", 1))), *lanes]


def whole() -> list[Lane]:
    """Every format, a long file, a longer copy, the same file twice, and runs observed beside them."""
    formats = [_file(path, path.name) for path in sorted((EXAMPLES / "formats").iterdir())]
    return [
        _lane("ledger", _ledger(), "iron", "nickel"),
        _lane("formats", formats, "zinc", "tin"),
        _lane("long", _long(), "silver", "gold"),
        _lane("talks", _talks("bronze", "brass", "pewter", "steel"), "copper", "lead"),
    ]


def _lane(project: str, files: list[File], *metals: str) -> Lane:
    """Files and observed runs in turn, each metal twice: the second run says the same with evidence of its own."""
    observed = [_observed(metal, number) for metal in metals for number in (1, 2)]
    steps: list[Step] = []
    for place in range(max(len(files), len(observed))):
        steps += [*files[place : place + 1], *observed[place : place + 1]]
    return Lane(project, tuple(steps))


def _ledger() -> list[File]:
    """The first half of a session, all of it, the two others, and the last once more under another name."""
    one, two, three = (EXAMPLES / f"ledger-{name}.jsonl" for name in ("rounding-1", "march-2", "page-size-3"))
    lines = one.read_bytes().splitlines(keepends=True)
    return [
        File("ledger-rounding-1.jsonl", b"".join(lines[: len(lines) // 2]), "half"),
        _file(one, "whole"),
        _file(two, "march"),
        _file(three, "page-size"),
        File("ledger-page-size-copy.jsonl", three.read_bytes(), "copy"),
    ]


def _file(path: Path, import_id: str) -> File:
    return File(path.name, path.read_bytes(), import_id)


def _talks(*metals: str) -> list[File]:
    return [_talk(metal, FEW) for metal in metals]


def _long() -> list[File]:
    """Two transcripts of several batches; the first is imported twice, and the second time adds nothing."""
    first, second = (_talk(metal, TALK_PADDING) for metal in ("cobalt", "chrome"))
    return [first, File(first.name, first.body, "cobalt-again"), second]


def _talk(name: str, padding: int) -> File:
    """A chat log that finds out why a report is slow, after `padding` messages about nothing."""
    idle = [
        {"role": ("user", "assistant")[place % 2], "content": f"Line {place} of {name} was read."}
        for place in range(padding)
    ]
    call = {
        "id": "call_1",
        "type": "function",
        "function": {"name": "bash", "arguments": json.dumps({"command": _look(name)})},
    }
    messages = [
        {"role": "user", "content": f"Why is the {name} report slow?"},
        *idle,
        {"role": "assistant", "content": "I'll look.", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_1", "name": "bash", "content": _seen(name)},
        {"role": "assistant", "content": _conclusion(name)},
    ]
    return File(f"{name}.json", json.dumps({"messages": messages}).encode(), name)


def _observed(metal: str, number: int) -> Observed:
    """A run of ten events: somebody asks, a file is read, a check passes, and the cause is named."""
    run = f"{metal}-{number}"
    path = f"tests/test_{metal}.py"
    said = [
        ("turn.user", {"text": f"Why is the {metal} report slow?"}, None),
        ("tool.started", {"tool": "bash", "command": _look(metal)}, "look"),
        ("tool.completed", {"tool": "bash", "exit_code": 0, "output": f"{_seen(metal)}\n# read by {run}"}, "look"),
        ("turn.thought", {"text": "I'll run the tests before I say anything."}, None),
        ("tool.started", {"tool": "bash", "command": f"python -m pytest -q {path}"}, "test"),
        ("tool.completed", {"tool": "bash", "exit_code": 0, "output": f"{number} passed in 0.01s"}, "test"),
        ("turn.user", {"text": "And what is the cause?"}, None),
        ("turn.agent", {"text": _conclusion(metal)}, None),
        (
            "turn.user",
            {"text": f"The {metal} report must never be split, because the auditors compare `{metal}_totals`."},
            None,
        ),
        ("turn.agent", {"text": "Understood."}, None),
    ]
    events = [
        {
            "event_id": f"{run}-{place}",
            "occurred_at": (WHEN + timedelta(hours=number, seconds=place)).isoformat(),
            "type": kind,
            "context": {"workspace": f"/srv/{metal}", **({"operation_id": f"{run}-{operation}"} if operation else {})},
            "data": data,
        }
        for place, (kind, data, operation) in enumerate(said)
    ]
    batches = tuple(tuple(events[start : start + BATCH_EVENTS]) for start in range(0, len(events), BATCH_EVENTS))
    return Observed(run, batches)


def _look(name: str) -> str:
    return f"grep -n batch reports/{name}.py"


def _seen(name: str) -> str:
    return f"12:{name}_batch = 500\n40:for row in {name}_rows:  # {name}_batch rows at once"


def _conclusion(name: str) -> str:
    return f"The {name} report is slow because `{name}_batch` in `reports/{name}.py` defaults to 500."
