"""How a command ends: one exit code and, where something is wrong, one sentence on standard error.

Codes: 0 done, 1 what was checked is not in order, 2 usage, 3 refused (in part, or a decision without effect), 4 the stack is not
reachable, 5 not found or not permitted.
"""

import sys
from dataclasses import dataclass
from typing import Final

import click

from cli.output import json_text

DONE: Final = 0
NOT_IN_ORDER: Final = 1
USAGE: Final = 2
REFUSED: Final = 3
UNREACHABLE: Final = 4
NOT_FOUND: Final = 5

_BY_NAME: Final = {
    "StackNotRunning": UNREACHABLE,
    "StackUnreachable": UNREACHABLE,
    "JournalUnavailable": UNREACHABLE,
    "ArtifactsUnavailable": UNREACHABLE,
    "NoAnswer": UNREACHABLE,
    "NotFound": NOT_FOUND,
    "NotPermitted": NOT_FOUND,
    "MalformedId": USAGE,
    "MalformedMessage": USAGE,
    "SettingInvalid": USAGE,
    "UnusableSetting": USAGE,
    "UnusableKey": USAGE,
    "UsageError": USAGE,
    "UnsupportedPlatform": UNREACHABLE,
    "PortInUse": UNREACHABLE,
    "PayloadTooLarge": REFUSED,
}


class Ended(Exception):
    """The command ends here with `code`; everything has been said."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


class StackUnreachable(Exception):
    """A server that the settings name does not answer."""


@dataclass(frozen=True, slots=True)
class Problem:
    """What went wrong: the exit code, the kind of error for programs, the sentence for people."""

    code: int
    kind: str
    sentence: str


def problem_of(error: Exception) -> Problem:
    """The problem an expected error stands for."""
    if isinstance(error, click.UsageError):
        where = f" Say `{error.ctx.command_path} --help` for the words it takes." if error.ctx else ""
        return Problem(USAGE, "UsageError", error.format_message().rstrip(".") + "." + where)
    kind = type(error).__name__
    return Problem(_BY_NAME.get(kind, NOT_IN_ORDER), kind, str(error) or kind)


def complain(problem: Problem, as_json: bool) -> None:
    """The sentence on standard error; under --json an object with the same."""
    if as_json:
        told = {"error": {"kind": problem.kind, "sentence": problem.sentence, "exit_code": problem.code}}
        sys.stderr.write(json_text(told) + "\n")
    else:
        sys.stderr.write(problem.sentence.rstrip() + "\n")
