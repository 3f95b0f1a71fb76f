"""Claude Code records made by hand, one function for each kind."""

from __future__ import annotations

from typing import Any

SESSION = "5f0c2a1e-0000-4000-8000-000000000001"


def uid(number: int) -> str:
    return f"00000000-0000-4000-8000-{number:012d}"


def record(number: int, kind: str, message: Any, parent: int | None = None, **more: Any) -> dict[str, Any]:
    made = {
        "parentUuid": None if parent is None else uid(parent),
        "isSidechain": False,
        "cwd": "/repo",
        "sessionId": SESSION,
        "version": "2.0.0",
        "type": kind,
        "message": message,
        "uuid": uid(number),
        "timestamp": f"2026-03-01T10:{number // 60 % 60:02d}:{number % 60:02d}.000Z",
    }
    return {**made, **more}


def user(number: int, content: Any, parent: int | None = None, **more: Any) -> dict[str, Any]:
    return record(number, "user", {"role": "user", "content": content}, parent, **more)


def agent(
    number: int, *blocks: Any, parent: int | None = None, message: str | None = None, **more: Any
) -> dict[str, Any]:
    said = {
        "id": message or f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "model": "some-model",
        "content": list(blocks),
        "usage": {"input_tokens": 10, "output_tokens": 2},
    }
    return record(number, "assistant", said, parent, **more)


def text(said: str) -> dict[str, Any]:
    return {"type": "text", "text": said}


def call(name: str, call_id: str | None, **arguments: Any) -> dict[str, Any]:
    made: dict[str, Any] = {"type": "tool_use", "name": name, "input": arguments}
    return made if call_id is None else {**made, "id": call_id}


def result(
    number: int, call_id: str | None, content: Any, parent: int, *, told: Any = None, **block: Any
) -> dict[str, Any]:
    made = {"type": "tool_result", "content": content, **block}
    if call_id is not None:
        made["tool_use_id"] = call_id
    more = {} if told is None else {"toolUseResult": told}
    return user(number, [made], parent, **more)


def session() -> list[dict[str, Any]]:
    """A short session: a prompt, a failing and a passing test run, an answer."""
    return [
        user(1, "Make the tests pass."),
        agent(2, text("I run the tests."), call("Bash", "toolu_a", command="pytest -q"), parent=1),
        result(3, "toolu_a", "Exit code 1\n1 failed", 2, told="Error: Exit code 1\n1 failed", is_error=True),
        agent(4, call("Edit", "toolu_b", file_path="/repo/a.py", old_string="1", new_string="2"), parent=3),
        result(5, "toolu_b", "The file was updated.", 4),
        agent(6, call("Bash", "toolu_c", command="pytest -q"), parent=5),
        result(7, "toolu_c", "1 passed", 6, told={"stdout": "1 passed", "stderr": "", "interrupted": False}),
        agent(8, text("The tests pass."), parent=7),
    ]
