"""The commands each workflow can give Temporal, in source order: what a replayed history is compared with.

A fingerprint changes when commands are added, removed, renamed or reordered, and stays when only their arguments,
durations or the code between them change, exactly as replay does.
"""

import argparse
import ast
import difflib
import inspect
import json
import sys
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import FunctionType
from typing import Any

from temporalio.workflow import _Definition

from domain.ports.registry import is_ref
from workflows.calls import call
from workflows.registry import WORKFLOWS

BASELINE = Path(__file__).with_name("fingerprints.json")

COMMANDS = {
    "call": "activity",
    "execute_activity": "activity",
    "start_activity": "activity",
    "execute_local_activity": "local activity",
    "start_local_activity": "local activity",
    "execute_child_workflow": "child",
    "start_child_workflow": "child",
    "sleep": "timer",
    "timeout": "timer",
    "continue_as_new": "continue as new",
    "patched": "patch",
    "deprecate_patch": "patch",
    "upsert_search_attributes": "search attributes",
    "upsert_memo": "memo",
    "signal": "signal",
    "get_external_workflow_handle": "external workflow",
    "signal_with_start_workflow": "signal with start",
}
ARGUED = ("activity", "local activity", "child", "patch", "signal", "external workflow", "signal with start")
"""Commands whose first argument says which: replay compares it too."""
BLOCKS = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.Try, ast.With, ast.AsyncWith, ast.Match, ast.ExceptHandler)

TEACH = """\
The commands of workflow {name} changed:

{diff}

Runs that are open now replay their history against the new code and stop with a nondeterminism error. Keep the old
path:

    if workflow.patched("{name}: what changed"):
        ...  # the new commands
    else:
        ...  # the old commands, word for word

Do not call workflow.patched in a loop: its answer is remembered. Record a history of the old path before the change,
in tests/replay/histories. When both paths stand, or nobody ever ran the old one, write the baseline and commit it:

    .venv/bin/python -m tests.replay.fingerprint --write
"""


def fingerprint(workflow: type[Any]) -> list[str]:
    """The workflow's commands as indented lines: handlers and helpers by name, then the blocks and commands in each.

    Functions and methods that can be reached from the workflow within its own package are part of it.
    """
    lines: list[str] = []
    for name, function in sorted(_reachable(workflow).items()):
        if body := list(_commands(_tree(function), function.__globals__, 1)):
            lines += [name, *body]
    return lines


def _reachable(workflow: type[Any]) -> dict[str, FunctionType]:
    """Every method of the class and its parents, and what they and each other mention of the same package."""
    package = workflow.__module__.rpartition(".")[0]
    found: dict[str, FunctionType] = {}
    waiting: list[tuple[str, object]] = [("", kind) for kind in workflow.__mro__ if _is_ours(kind, package)]
    while waiting:
        name, value = waiting.pop()
        value = getattr(value, "__func__", value)
        if isinstance(value, type) and _is_ours(value, package):
            prefix = "" if issubclass(workflow, value) else f"{value.__name__}."
            waiting += [(prefix + member, part) for member, part in vars(value).items() if not isinstance(part, type)]
        elif isinstance(value, FunctionType) and _is_ours(value, package) and found.get(name) is not value:
            found.setdefault(name, value)
            mentioned = {node.id for node in ast.walk(_tree(value)) if isinstance(node, ast.Name)}
            waiting += [
                (other, value.__globals__[other]) for other in mentioned & value.__globals__.keys() - found.keys()
            ]
    return found


def _is_ours(value: type[Any] | FunctionType, package: str) -> bool:
    if isinstance(value, FunctionType) and inspect.unwrap(value).__code__.co_filename.startswith("<"):
        return False  # what a dataclass generated has no source and gives no command
    return value.__module__.startswith(f"{package}.") and value.__module__ != call.__module__


def _tree(function: FunctionType) -> ast.AST:
    return ast.parse(textwrap.dedent(inspect.getsource(function)))


def _commands(node: ast.AST, names: Mapping[str, object], depth: int) -> Iterator[str]:
    """Lines for `node`, its children first: an argument's commands come before the call that takes them."""
    indent = "  " * depth
    if isinstance(node, BLOCKS):
        inner = [line for child in ast.iter_child_nodes(node) for line in _commands(child, names, depth + 1)]
        if inner:
            yield f"{indent}{type(node).__name__.lower()}"
            yield from inner
        return
    for child in ast.iter_child_nodes(node):
        yield from _commands(child, names, depth)
    if isinstance(node, ast.Call) and (command := _command(node, names)):
        yield indent + command


def _command(node: ast.Call, names: Mapping[str, object]) -> str | None:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if name == "wait_condition":
        timed = any(keyword.arg == "timeout" for keyword in node.keywords)
        return "timer of a condition" if timed else None
    kind = COMMANDS.get(name)
    if kind in ARGUED:
        return f"{kind} {_what(node, names)}"
    return kind


def _what(node: ast.Call, names: Mapping[str, object]) -> str:
    """The first argument by what it stands for in a history: a reference by its activity's name."""
    if not node.args:
        return ""
    value = names.get(getattr(node.args[0], "id", ""))
    return value.name if is_ref(value) else ast.unparse(node.args[0])


def fingerprints(workflows: Iterable[type[Any]] = WORKFLOWS) -> dict[str, list[str]]:
    """The fingerprint of each workflow, by the name under which it is registered."""
    return {_Definition.must_from_class(w).name or w.__name__: fingerprint(w) for w in workflows}


def compare(baseline: Mapping[str, list[str]], current: Mapping[str, list[str]]) -> list[str]:
    """A text for each workflow whose commands are not those of the baseline; empty where all are."""
    return [
        TEACH.format(name=name, diff="\n".join(difflib.unified_diff(old, new, "baseline", "now", n=2, lineterm="")))
        for name in sorted(baseline.keys() | current.keys())
        if (old := baseline.get(name, [])) != (new := current.get(name, []))
    ]


def main() -> int:
    """Compare with the committed baseline, or write it with --write."""
    parser = argparse.ArgumentParser(prog="python -m tests.replay.fingerprint", description=main.__doc__)
    parser.add_argument("--write", action="store_true", help="make what is now the baseline")
    if parser.parse_args().write:
        BASELINE.write_text(json.dumps(fingerprints(), indent=1, sort_keys=True, ensure_ascii=False) + "\n")
        return 0
    texts = compare(json.loads(BASELINE.read_text()), fingerprints())
    print("\n".join(texts) or "all workflows give the commands of the baseline", file=sys.stderr)
    return int(bool(texts))


if __name__ == "__main__":
    sys.exit(main())
