"""An activity that is not what its reference says is refused twice: by the type checker and when it is imported."""

import asyncio
import json
import subprocess
import sys
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from temporalio.activity import _Definition
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment

from activities.implements import implements, tell_progress
from domain.contracts import errors
from domain.contracts.errors import TemporalityError
from domain.ports.activity_ref import ActivityRef
from tests.conftest import ROOT


@dataclass(frozen=True)
class Append:
    text: str


@dataclass(frozen=True)
class Appended:
    seq: int


APPEND = ActivityRef("journal.append", takes=Append, gives=Appended)
FORGET = ActivityRef("journal.forget", takes=Append, gives=type(None))


class Journal:
    def __init__(self, pool: list[str]) -> None:
        self.pool = pool

    @implements(APPEND)
    async def append(self, arg: Append) -> Appended:
        self.pool.append(arg.text)
        return Appended(len(self.pool))

    @implements(FORGET)
    async def forget(self, arg: Append) -> None:
        self.pool.remove(arg.text)


async def test_a_bound_method_is_the_activity_with_its_pool() -> None:
    journal = Journal(["first"])
    definition = _Definition.must_from_callable(journal.append)
    assert (definition.name, definition.arg_types, definition.ret_type) == ("journal.append", [Append], Appended)
    assert await journal.append(Append("second")) == Appended(2)
    await journal.forget(Append("first"))
    assert journal.pool == ["second"]


async def test_an_error_leaves_with_its_name_its_sentence_and_no_cause(monkeypatch: pytest.MonkeyPatch) -> None:
    class Busy(TemporalityError):
        """The store is busy."""

    monkeypatch.setattr(errors, "RETRYABLE", {**errors.RETRYABLE, Busy: True})

    class Store:
        @implements(APPEND)
        async def append(self, arg: Append) -> Appended:
            try:
                raise ValueError("row with a secret in it")
            except ValueError as error:
                raise Busy(f"try {arg.text} again") from error

    with pytest.raises(ApplicationError) as failed:
        await Store().append(Append("it"))
    assert failed.value.type == "Busy"
    assert failed.value.message == "The store is busy: try it again"
    assert not failed.value.non_retryable
    assert failed.value.__cause__ is None


async def test_a_running_activity_gives_signs_of_life_and_tells_how_far_it_is() -> None:
    class Slow:
        @implements(APPEND)
        async def append(self, arg: Append) -> Appended:
            tell_progress(arg.text)
            await asyncio.sleep(0.3)
            return Appended(1)

    beats: list[tuple[Any, ...]] = []
    environment = ActivityEnvironment()
    environment.info = replace(ActivityEnvironment.default_info(), heartbeat_timeout=timedelta(seconds=0.4))
    environment.on_heartbeat = lambda *details: beats.append(details)
    assert await environment.run(Slow().append, Append("half")) == Appended(1)
    assert len(beats) >= 3 and set(beats) == {("half",)}
    ended = len(beats)
    await asyncio.sleep(0.15)
    assert len(beats) == ended


async def test_without_a_heartbeat_policy_and_outside_an_activity_nobody_is_told() -> None:
    class Plain:
        @implements(APPEND)
        async def append(self, arg: Append) -> Appended:
            await asyncio.sleep(0)
            return Appended(2)

    beats: list[tuple[Any, ...]] = []
    environment = ActivityEnvironment()
    environment.on_heartbeat = lambda *details: beats.append(details)
    environment.info = replace(ActivityEnvironment.default_info(), heartbeat_timeout=None)
    assert await environment.run(Plain().append, Append("")) == Appended(2)
    tell_progress("nobody hears it")
    assert beats == []


def test_hints_are_compared_at_import() -> None:
    decorate: Any = implements(APPEND)

    def plain(self: object, arg: Append) -> Appended:
        return Appended(0)

    async def wrong_argument(self: object, arg: Appended) -> Appended:
        return arg

    async def wrong_answer(self: object, arg: Append) -> Append:
        return arg

    async def one_more(self: object, arg: Append, flag: bool) -> Appended:
        return Appended(int(flag))

    async def no_hint(self, arg):  # pyright: ignore[reportMissingParameterType]
        return Appended(0)

    for method, said in [
        (plain, "must be async def"),
        (wrong_argument, "arg must be Append"),
        (wrong_answer, "return must be Appended"),
        (one_more, r"must take \(self, arg\), not \(self, arg, flag\)"),
        (no_hint, "found nothing"),
    ]:
        with pytest.raises(TypeError, match=said):
            decorate(method)


SNIPPET = """
from dataclasses import dataclass
from activities.implements import implements
from domain.ports.activity_ref import ActivityRef
from workflows.calls import call

@dataclass(frozen=True)
class Ask:
    text: str

@dataclass(frozen=True)
class Answer:
    seq: int

REF = ActivityRef("journal.append", takes=Ask, gives=Answer)

class Good:
    @implements(REF)
    async def right(self, arg: Ask) -> Answer:
        return Answer(len(arg.text))

async def good(activity: Good) -> int:
    return (await call(REF, Ask("x"))).seq + (await activity.right(Ask("y"))).seq

class Bad:
    @implements(REF)  # wrong argument
    async def one(self, arg: Answer) -> Answer:
        return arg

    @implements(REF)  # wrong answer
    async def two(self, arg: Ask) -> Ask:
        return arg

    @implements(REF)  # not async
    def three(self, arg: Ask) -> Answer:
        return Answer(1)

async def bad() -> None:
    await call(REF, Answer(1))  # wrong argument of a call
    print((await call(REF, Ask("x"))).sequence)  # unknown field of an answer
"""


def test_the_type_checker_refuses_each_mistake_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "snippet.py").write_text(SNIPPET)
    config = {"include": ["snippet.py"], "extraPaths": [str(ROOT)], "typeCheckingMode": "strict"}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(config))
    checker = Path(sys.executable).parent / "basedpyright"
    command = [str(checker), "--outputjson", "--pythonpath", sys.executable, "-p", str(tmp_path)]
    said = json.loads(subprocess.run(command, capture_output=True, text=True, check=False).stdout)
    lines = SNIPPET.splitlines()
    wrong = {e["range"]["start"]["line"] for e in said["generalDiagnostics"] if e["severity"] == "error"}
    marked = {n for n, line in enumerate(lines) if "  # " in line}
    assert {lines[n] for n in wrong} == {lines[n] for n in marked}
