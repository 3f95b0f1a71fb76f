"""The `temporality` command: how it starts, and how whatever goes wrong becomes a sentence and an exit code.

It ends without the interpreter's shutdown: a short process that used Temporal's SDK aborts there now and then.
"""

import os
import sys
from typing import NoReturn

import typer

from cli.commands import app
from cli.outcome import DONE, Ended, Problem, StackUnreachable, Usage, complain, problem_of
from domain.contracts.errors import TemporalityError
from stack.errors import StackError


def main() -> NoReturn:
    """Run the command and leave with its exit code (cli/outcome.py)."""
    code = run_words(sys.argv[1:])
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def run_words(words: list[str]) -> int:
    """Run one command in this process and give its exit code; whatever went wrong has been said."""
    as_json = "--json" in words
    try:
        ended = app(words, standalone_mode=False)
    except Ended as end:
        return end.code
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else DONE
    except (typer.Abort, KeyboardInterrupt):
        complain(Problem(130, "Interrupted", "interrupted"), as_json)
        return 130
    except BrokenPipeError:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - whoever read our output has gone
        return DONE
    except (typer.TyperException, TemporalityError, StackError, StackUnreachable, Usage) as error:
        problem = problem_of(error)
        complain(problem, as_json)
        return problem.code
    return ended if isinstance(ended, int) else DONE
