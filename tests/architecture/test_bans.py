"""Gate 2 finds what it is for, and what no linter knows: builtins, sets in workflows, globals that could change."""

import ast
import json
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from tests.architecture.tree import Source, sources
from tests.conftest import ROOT

IMPURE_BUILTINS = frozenset({"open", "input", "print", "exec", "eval", "__import__", "breakpoint", "id", "hash"})
MAKERS = frozenset({"list", "dict", "set", "defaultdict", "Counter", "deque", "bytearray"})
MUTABLE = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp)


def _ruff(path: str, text: str) -> list[str]:
    command = [
        str(Path(sys.executable).parent / "ruff"),
        "check",
        "--output-format",
        "json",
        "--stdin-filename",
        path,
        "-",
    ]
    ended = subprocess.run(command, cwd=ROOT, input=text, capture_output=True, text=True, check=False)
    return [found["message"] for found in json.loads(ended.stdout) if found["code"] == "TID251"]


@pytest.mark.parametrize(
    ("path", "text", "remedy"),
    [
        ("domain/runs/x.py", "from datetime import datetime\n\nx = datetime.now(None)\n", "pass `at` in"),
        ("domain/runs/x.py", "import uuid\n\nx = uuid.uuid4()\n", "pass the id in"),
        ("domain/runs/x.py", "from os import environ\n\nx = environ\n", "pass the value in"),
        ("workflows/x.py", "from datetime import datetime\n\nx = datetime.now(None)\n", "use workflow.now()"),
        ("workflows/x.py", "import asyncio\n\nx = asyncio.wait([])\n", "use workflow.wait"),
        ("workflows/x.py", "from temporalio import workflow\n\nx = workflow.execute_activity('a')\n", "await call(REF"),
        ("activities/x.py", "import os\n\nx = os.environ['A']\n", "settings.py is the only reader"),
    ],
)
def test_a_ban_says_what_to_do_instead(path: str, text: str, remedy: str) -> None:
    (message,) = _ruff(path, text)
    assert remedy in message


def _impure_builtins(source: Source) -> Iterator[str]:
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in IMPURE_BUILTINS:
            yield f"{source.path}:{node.lineno}: {node.func.id}() differs between processes or reaches outside"


def _iterated_sets(source: Source) -> Iterator[str]:
    for node in ast.walk(source.tree):
        over = node.iter if isinstance(node, ast.For | ast.AsyncFor | ast.comprehension) else None
        named = isinstance(over, ast.Call) and isinstance(over.func, ast.Name) and over.func.id in ("set", "frozenset")
        if over is not None and (named or isinstance(over, ast.Set | ast.SetComp)):
            yield f"{source.path}:{over.lineno}: a set's order differs between processes: sort it, or use dict.fromkeys"


def _mutable_globals(source: Source) -> Iterator[str]:
    for node in source.tree.body:
        value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
        names = [t.id for t in ast.walk(node) if isinstance(t, ast.Name) and isinstance(t.ctx, ast.Store)]
        said = ast.unparse(node.annotation) if isinstance(node, ast.AnnAssign) else ""
        made = isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id in MAKERS
        if (
            (made or isinstance(value, MUTABLE))
            and "Mapping[" not in said
            and "Sequence[" not in said
            and names != ["__all__"]
        ):
            yield (
                f"{source.path}:{node.lineno}: {', '.join(names)} could change and all workflows of a worker share it:"
                " use a tuple, a frozenset, or annotate it as Final[Mapping[...]]"
            )


def _in(sources: Iterable[Source], *rooms: str) -> list[Source]:
    return [source for source in sources if source.path.startswith(rooms)]


def test_domain_calls_no_builtin_that_reaches_outside() -> None:
    assert [said for source in _in(sources(), "domain/", "workflows/") for said in _impure_builtins(source)] == []


def test_workflows_iterate_over_no_set() -> None:
    assert [said for source in _in(sources(), "workflows/") for said in _iterated_sets(source)] == []


def test_globals_of_domain_and_workflows_cannot_change() -> None:
    assert [said for source in _in(sources(), "domain/", "workflows/") for said in _mutable_globals(source)] == []


def test_these_three_find_what_they_are_for() -> None:
    text = "X = {}\nY: Final = set()\nZ: list[int] = [1]\nfor a in set(b):\n    open(a)\nc = [x for x in {1, 2}]\n"
    source = Source("workflows/x.py", text)
    assert len(list(_impure_builtins(source))) == 1
    assert len(list(_iterated_sets(source))) == 2
    assert len(list(_mutable_globals(source))) == 4
    fine = Source("workflows/x.py", "X: Final[Mapping[str, int]] = {}\nY = (1,)\nfor a in sorted(set(b)):\n    pass\n")
    assert [*_impure_builtins(fine), *_iterated_sets(fine), *_mutable_globals(fine)] == []
