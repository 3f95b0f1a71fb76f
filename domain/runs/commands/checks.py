"""What the kernel heuristic consumes: the checks that must have passed when a command exited 0.

A check's identity is its own argument words and where it ran, so `cd sub && make lint`, `make -C sub lint` and
`make lint` in the workspace `sub` are one check, and `a && b` holds two. Source: spec/1
(`kernel-heuristic/execution-observation.v1`).
"""

import re
import shlex
from dataclasses import dataclass

from domain.runs.commands.classify import classify
from domain.runs.commands.kinds import CheckKind
from domain.runs.commands.lexer import Word
from domain.runs.commands.shell import NotSimple, ParsedCommand, SimpleCommand, parse, parse_argv
from domain.runs.commands.wrappers import Assigned

_AMBIENT = frozenset({"HOME", "PWD", "PATH", "USER"})
"""Parameters that belong to the workspace's own surroundings, so that their unexpanded name is identity enough."""


@dataclass(frozen=True, slots=True)
class Check:
    """One verification or build.

    `argv`: its words; `workspace`: the directory it ran in, and behind it in brackets, sorted, what the line assigned
    (`api [CI=1 DB=sqlite]`); `canonical`: `argv` as one line, the same for every way of quoting it.
    """

    kind: CheckKind
    argv: tuple[str, ...]
    workspace: str
    canonical: str


def checks(command: str, workspace: str) -> tuple[Check, ...]:
    """The checks whose success exit code 0 of the whole line implies, in order, each once. Never raises.

    `command` is a shell line as typed; `workspace` the directory it started in, as the run declared it.
    """
    return _checks(parse(command, workspace))


def checks_argv(argv: tuple[str, ...], workspace: str) -> tuple[Check, ...]:
    """The same for a command started without a shell (`("bash", "-lc", LINE)` is read as a line). Never raises."""
    return _checks(parse_argv(argv, workspace))


def _checks(parsed: ParsedCommand | NotSimple) -> tuple[Check, ...]:
    if isinstance(parsed, NotSimple):
        return ()
    found = (_check(part) for part in parsed.parts)
    return tuple(dict.fromkeys(check for check in found if check is not None))


def _check(part: SimpleCommand) -> Check | None:
    unknown = any(word.opaque or word.variables - _AMBIENT for word in part.words)
    unknown = unknown or any(word.opaque or word.variables - _AMBIENT - {name} for name, word in part.environment)
    if unknown or part.reads_stdin:
        return None
    kind = classify(part.argv)
    if kind is None:
        return None
    canonical = " ".join(_written(word) for word in part.words)
    return Check(kind, part.argv, _place(part.directory, part.environment), canonical)


def _place(directory: str, environment: Assigned) -> str:
    if not environment:
        return directory
    return f"{directory} [{' '.join(f'{name}={_written(word)}' for name, word in environment)}]"


def _written(word: Word) -> str:
    """A word in one fixed spelling; what the shell expands keeps its own, or it would mean another thing."""
    if word.variables or word.pattern:
        return re.sub(r"\\\n", "", word.raw)
    return shlex.quote(word.text)
