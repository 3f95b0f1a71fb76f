"""How a command ends: one exit code and, where something is wrong, one sentence on standard error.

Codes: 0 done, 1 what was checked is not in order, 2 usage, 3 refused (in part, or a decision without effect), 4 the stack is not
reachable, 5 not found or not permitted.
"""

import sys
from dataclasses import dataclass
from typing import Final

import typer

from cli.output import clean, json_text

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
    "Usage": USAGE,
    "UnsupportedPlatform": UNREACHABLE,
    "PortInUse": UNREACHABLE,
    "PayloadTooLarge": REFUSED,
}


class Ended(Exception):
    """The command ends here with `code`; everything has been said."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


class Usage(Exception):
    """The command was not said as it is meant; the message is the sentence."""


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
    if isinstance(error, typer.TyperException):
        return _of_typer(error)
    kind = type(error).__name__
    return Problem(_BY_NAME.get(kind, NOT_IN_ORDER), kind, str(error) or kind)


def _of_typer(error: typer.TyperException) -> Problem:
    """What the parser of words says, with where to find the right ones."""
    raw = error.format_message() if hasattr(error, "format_message") else str(error)  # pyright: ignore[reportAttributeAccessIssue]
    if raw.startswith("Usage:"):
        return Problem(USAGE, "Usage", raw)
    said = " ".join(raw.split())
    context = getattr(error, "ctx", None)
    where = f" Say `{context.command_path} --help` for the words it takes." if context is not None else ""
    return Problem(USAGE, "Usage", f"{said.rstrip('.')}.{where}")


def complain(problem: Problem, as_json: bool) -> None:
    """The sentence on standard error; under --json an object with the same."""
    if as_json:
        error = {"kind": problem.kind, "sentence": problem.sentence, "exit_code": problem.code}
        sys.stderr.write(json_text({"error": error}) + "\n")
    else:
        help_text = problem.sentence.startswith("Usage:")
        told = problem.sentence.rstrip() if help_text else clean(" ".join(problem.sentence.split()))
        sys.stderr.write(told + "\n")
