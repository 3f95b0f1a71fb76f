"""Which commands of a shell line must have succeeded when the line as a whole exits 0.

`a && b` exits 0 only when both did, so both count. What `||`, a pipe without pipefail, `&`, `!` or a later
command behind `;` can hide does not count, whatever it printed. A line is refused rather than guessed.
"""

from dataclasses import dataclass, replace

from domain.runs.commands.directories import resolve
from domain.runs.commands.grammar import LONGEST_LINE, Command, Group, Item, Pipeline, Refused, read
from domain.runs.commands.lexer import Redirect, ShellSyntaxError, Word
from domain.runs.commands.wrappers import Assigned, directory_named, split_assignments, unwrap

_DEEPEST = 6
_ABRUPT = frozenset({"exit", "return", "trap", "eval", "exec", "alias", "break", "continue", "logout"})
_SHELLS = frozenset({"bash", "sh", "zsh", "dash", "ksh"})


@dataclass(frozen=True, slots=True)
class SimpleCommand:
    """One command with the place it runs in.

    `words`: the command as read, wrappers removed; `directory`: where it runs; `environment`: what the line assigned
    for it, sorted by name; `reads_stdin`: its input comes from a pipe, a file or a here-document, so its words do
    not say what it worked on.
    """

    words: tuple[Word, ...]
    directory: str
    environment: Assigned = ()
    reads_stdin: bool = False

    @property
    def argv(self) -> tuple[str, ...]:
        """The words without quotes."""
        return tuple(word.text for word in self.words)


@dataclass(frozen=True, slots=True)
class ParsedCommand:
    """`parts`: the commands whose success exit code 0 of the line implies; `hidden`: why others do not count."""

    parts: tuple[SimpleCommand, ...]
    hidden: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NotSimple:
    """The exit code of the line says nothing about any command in it; `reason` is a clause for people."""

    reason: str


@dataclass(frozen=True, slots=True)
class _State:
    """What earlier commands did to later ones; `certain` is false once the directory depends on a result."""

    directory: str
    environment: Assigned = ()
    pipefail: bool = False
    errexit: bool = False
    certain: bool = True
    depth: int = 0


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What exit code 0 of a piece of the line implies, and the state it leaves."""

    parts: tuple[SimpleCommand, ...]
    state: _State
    hidden: tuple[str, ...] = ()


def parse(command: str, workspace: str) -> ParsedCommand | NotSimple:
    """Read a shell line that starts in `workspace`. Never raises.

    Where nothing in the line is vouched for by its exit code, the answer is NotSimple with the first reason.
    """
    try:
        return _answer(_list(read(command), _State(workspace), outermost=True))
    except (ShellSyntaxError, Refused) as refusal:
        return NotSimple(str(refusal))


def parse_argv(argv: tuple[str, ...], workspace: str) -> ParsedCommand | NotSimple:
    """Read a command that was started without a shell; `bash -c LINE` inside it is read as a line. Never raises."""
    if sum(map(len, argv)) > LONGEST_LINE:
        return NotSimple(f"the command is longer than {LONGEST_LINE:,} characters")
    words = tuple(Word(text, text, quoted=True) for text in argv)
    try:
        return _answer(_command(Command(words, ()), _State(workspace)))
    except (ShellSyntaxError, Refused) as refusal:
        return NotSimple(str(refusal))


def _answer(outcome: _Outcome) -> ParsedCommand | NotSimple:
    if outcome.parts:
        return ParsedCommand(outcome.parts, outcome.hidden)
    return NotSimple(outcome.hidden[0] if outcome.hidden else "there is no command in it")


def _list(items: tuple[Item, ...], state: _State, outermost: bool) -> _Outcome:
    parts: tuple[SimpleCommand, ...] = ()
    hidden: tuple[str, ...] = ()
    for place, item in enumerate(items):
        is_last = place == len(items) - 1
        done = _chain(item, state)
        hidden += done.hidden
        stops_on_failure = outermost and state.errexit and not item.others and not item.first.negated
        if item.in_background:
            hidden += ("`&` leaves a command running whose exit code the line does not have",)
        elif is_last or stops_on_failure:
            parts, state = parts + done.parts, done.state
        else:
            if done.parts:
                hidden += ("`;` or a newline is followed by another command, whose exit code the line has",)
            state = _after_possible_failure(state, done.state, alone=_is_one_command(item))
    return _Outcome(parts, state, hidden)


def _is_one_command(item: Item) -> bool:
    return not item.others and len(item.first.members) == 1 and isinstance(item.first.members[0], Command)


def _chain(item: Item, start: _State) -> _Outcome:
    """`a && b || c`, read from the left as a shell does."""
    done = _pipeline(item.first, start)
    for symbol, pipeline in item.others:
        following = _pipeline(pipeline, done.state)
        hidden = done.hidden + following.hidden
        if symbol == "&&":
            done = _Outcome(done.parts + following.parts, following.state, hidden)
            continue
        still = start.directory == done.state.directory == following.state.directory
        state = _after_possible_failure(start, following.state, alone=False)
        hidden += ("`||` hides the exit code of what stands before it",)
        done = _Outcome((), replace(state, certain=state.certain and still), hidden)
    return done


def _after_possible_failure(before: _State, after: _State, alone: bool) -> _State:
    """The state once it is unknown whether a command succeeded; an assignment standing alone cannot fail."""
    certain = after.certain and before.directory == after.directory
    if alone:
        return replace(after, certain=certain)
    return replace(
        after,
        certain=certain and before.environment == after.environment,
        pipefail=before.pipefail and after.pipefail,
        errexit=before.errexit and after.errexit,
    )


def _pipeline(pipeline: Pipeline, state: _State) -> _Outcome:
    members = [_member(member, state) for member in pipeline.members]
    hidden = tuple(reason for member in members for reason in member.hidden)
    if pipeline.negated:
        after = _after_possible_failure(state, members[0].state, alone=False) if len(members) == 1 else state
        return _Outcome((), after, (*hidden, "`!` turns the exit code round"))
    if len(members) == 1:
        return members[0]
    if state.pipefail:
        return _Outcome(members[0].parts, state, hidden)
    return _Outcome((), state, (*hidden, "a pipe without pipefail has the exit code of its last command"))


def _member(member: Command | Group, state: _State) -> _Outcome:
    if isinstance(member, Command):
        return _command(member, state)
    inner = _list(member.items, state, outermost=False)
    fed = _feeds(member.redirects)
    parts = tuple(replace(part, reads_stdin=part.reads_stdin or fed) for part in inner.parts)
    return _Outcome(parts, state if member.own_shell else inner.state, inner.hidden)


def _feeds(redirects: tuple[Redirect, ...]) -> bool:
    return any(one.symbol.startswith("<") and one.target.text != "/dev/null" for one in redirects)


def _command(command: Command, state: _State) -> _Outcome:
    assigned, rest = split_assignments(command.words)
    if not rest:
        return _Outcome((), replace(state, environment=_with(state.environment, assigned)))
    unwrapped = unwrap(rest)
    if unwrapped is None:
        return _Outcome((), state, (f"what {rest[0].text} starts cannot be told from its words",))
    words = unwrapped.words
    name = words[0].text
    if name in _ABRUPT:
        raise Refused(f"{name} can end the line with an exit code of its own")
    if (changed := _builtin(name, words[1:], state)) is not None:
        return _Outcome((), changed)
    if not state.certain:
        return _Outcome((), state, ("where it runs depends on whether an earlier command succeeded",))
    place = replace(
        state,
        directory=resolve(state.directory, unwrapped.directory),
        environment=_with(state.environment, (*assigned, *unwrapped.assigned)),
    )
    fed = _feeds(command.redirects)
    if name.rsplit("/", 1)[-1] in _SHELLS and (script := _shell_script(words[1:], place)) is not None:
        inner = _list(read(script[0]), script[1], outermost=True)
        parts = tuple(replace(part, reads_stdin=part.reads_stdin or fed) for part in inner.parts)
        return _Outcome(parts, state, inner.hidden)
    return _Outcome((SimpleCommand(words, place.directory, place.environment, fed),), state)


def _builtin(name: str, arguments: tuple[Word, ...], state: _State) -> _State | None:
    """The state after a command that changes the shell itself, None for any other."""
    if name in ("cd", "pushd", "popd"):
        return _entered(name, arguments, state)
    if name == "set":
        return _with_options(arguments, state)
    if name in ("export", "declare", "typeset"):
        exported, _ = split_assignments(tuple(word for word in arguments if not word.raw.startswith("-")))
        return replace(state, environment=_with(state.environment, exported))
    return None


def _entered(name: str, arguments: tuple[Word, ...], state: _State) -> _State:
    targets = [word for word in arguments if word.text not in ("-L", "-P", "-e", "--")]
    if name == "cd" and not targets:
        return replace(state, directory="~", certain=True)
    path = directory_named(targets[0]) if len(targets) == 1 and name != "popd" else None
    if path is None or path.startswith(("-", "+")):
        return replace(state, certain=False)
    absolute = path.startswith(("/", "~"))
    return replace(state, directory=resolve(state.directory, path), certain=state.certain or absolute)


def _with_options(arguments: tuple[Word, ...], state: _State) -> _State:
    for place, word in enumerate(arguments):
        text = word.text
        if text[:1] not in ("-", "+") or text.startswith("--"):
            continue
        turned_on = text[0] == "-"
        if "e" in text[1:]:
            state = replace(state, errexit=turned_on)
        if text.endswith("o") and place + 1 < len(arguments):
            named = arguments[place + 1].text
            state = replace(state, pipefail=turned_on) if named == "pipefail" else state
            state = replace(state, errexit=turned_on) if named == "errexit" else state
    return state


def _shell_script(arguments: tuple[Word, ...], place: _State) -> tuple[str, _State] | None:
    """The line given to `bash -c`, with the state it starts in; None where the shell is given a file."""
    if place.depth >= _DEEPEST:
        raise Refused("the line is nested too deeply")
    for count, word in enumerate(arguments):
        if word.text.startswith("-") and not word.text.startswith("--") and "c" in word.text:
            scripts = [one for one in arguments[count + 1 :] if not one.text.startswith(("-", "+"))]
            if not scripts or scripts[0].opaque or scripts[0].variables:
                raise Refused("the line given to a shell with -c is only known when it runs")
            fresh = replace(place, pipefail=False, errexit=False, depth=place.depth + 1)
            before = arguments[: arguments.index(scripts[0])]
            return scripts[0].text, _with_options(before, fresh)
        is_value = count > 0 and arguments[count - 1].text.endswith(("o", "O"))
        if not word.text.startswith(("-", "+")) and not is_value:
            return None
    return None


def _with(environment: Assigned, added: Assigned) -> Assigned:
    return tuple(sorted({**dict(environment), **dict(added)}.items(), key=lambda pair: pair[0]))
