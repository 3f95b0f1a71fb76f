"""Take away what only surrounds a command: assignments, `time`, `sudo`, `timeout 60`, `make -C sub`.

What is taken away says how, as whom or where the command runs, not what it checks: assignments and directories
go to the workspace, the rest is dropped. A launcher that picks another program or environment
(`poetry run`, `npx`, `python -m`) stays, because it decides what is checked.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from domain.runs.commands.directories import resolve
from domain.runs.commands.lexer import Word

_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*\+?)=")

Assigned = tuple[tuple[str, Word], ...]


@dataclass(frozen=True, slots=True)
class _Wrapper:
    """`takes`: options with a value of their own; `arguments`: words before the command; `ends`: options with
    which no command follows, or with which it runs in a way its words do not show; `moves`: options that name the
    directory; `assigns`: assignments may stand before the command."""

    takes: frozenset[str] = frozenset()
    arguments: int = 0
    ends: frozenset[str] = frozenset()
    moves: frozenset[str] = frozenset()
    assigns: bool = False


_WRAPPERS: Mapping[str, _Wrapper] = {
    "time": _Wrapper(takes=frozenset({"-f", "-o", "--format", "--output"})),
    "nice": _Wrapper(takes=frozenset({"-n", "--adjustment"})),
    "ionice": _Wrapper(takes=frozenset({"-c", "-n", "--class", "--classdata"}), ends=frozenset({"-p", "-P", "-u"})),
    "timeout": _Wrapper(takes=frozenset({"-k", "-s", "--kill-after", "--signal"}), arguments=1),
    "gtimeout": _Wrapper(takes=frozenset({"-k", "-s", "--kill-after", "--signal"}), arguments=1),
    "nohup": _Wrapper(),
    "stdbuf": _Wrapper(takes=frozenset({"-i", "-o", "-e", "--input", "--output", "--error"})),
    "command": _Wrapper(ends=frozenset({"-v", "-V"})),
    "sudo": _Wrapper(
        takes=frozenset({"-u", "-g", "-p", "-C", "-h", "-T", "--user", "--group", "--host", "--prompt"}),
        ends=frozenset({"-l", "-v", "-e", "-b", "-i", "-s", "--list", "--validate", "--edit", "--background"}),
        moves=frozenset({"-D", "--chdir"}),
        assigns=True,
    ),
    "env": _Wrapper(
        ends=frozenset({"-i", "-", "-u", "-S", "--ignore-environment", "--unset", "--split-string"}),
        moves=frozenset({"-C", "--chdir"}),
        assigns=True,
    ),
}


@dataclass(frozen=True, slots=True)
class _Mover:
    """A tool with an option that names its directory: `options`, and how many words may stand before one.
    `attached`: the value may stick to a one-letter option (`-Csub`)."""

    options: frozenset[str]
    reach: int = 99
    attached: bool = False


_MOVERS: Mapping[str, _Mover] = {
    "make": _Mover(frozenset({"-C", "--directory"}), attached=True),
    "gmake": _Mover(frozenset({"-C", "--directory"}), attached=True),
    "ninja": _Mover(frozenset({"-C"}), attached=True),
    "npm": _Mover(frozenset({"-C", "--prefix"})),
    "pnpm": _Mover(frozenset({"-C", "--dir"}), reach=0),
    "yarn": _Mover(frozenset({"--cwd"}), reach=0),
    "bun": _Mover(frozenset({"--cwd"}), reach=1),
    "go": _Mover(frozenset({"-C"}), reach=1),
    "uv": _Mover(frozenset({"--directory"}), reach=1),
    "poetry": _Mover(frozenset({"-C", "--directory"}), reach=1),
    "task": _Mover(frozenset({"-d", "--dir"})),
}


@dataclass(frozen=True, slots=True)
class Unwrapped:
    """The bare command, the assignments found on the way and the directory it asked for, relative to where it ran."""

    words: tuple[Word, ...]
    assigned: Assigned = ()
    directory: str = ""

    @property
    def argv(self) -> tuple[str, ...]:
        """The words without quotes."""
        return tuple(word.text for word in self.words)


@dataclass(slots=True)
class _Found:
    assigned: list[tuple[str, Word]] = field(default_factory=list[tuple[str, Word]])
    directory: str = ""


def split_assignments(words: tuple[Word, ...]) -> tuple[Assigned, tuple[Word, ...]]:
    """The `NAME=value` words at the front, and what follows them."""
    assigned: list[tuple[str, Word]] = []
    for count, word in enumerate(words):
        name = _ASSIGNMENT.match(word.raw)
        if name is None:
            return tuple(assigned), words[count:]
        raw, text = word.raw[name.end() :], word.text[len(name[0]) :]
        assigned.append((name[1], Word(text, raw, word.opaque, word.variables, word.pattern, word.quoted)))
    return tuple(assigned), ()


def unwrap(words: tuple[Word, ...]) -> Unwrapped | None:
    """The command inside its wrappers; None where a wrapper runs none, or one that its words do not show."""
    found = _Found()
    while words:
        wrapper = _WRAPPERS.get(_program(words[0]))
        if wrapper is None:
            moved = _without_directory(words, found)
            return None if moved is None else Unwrapped(moved, tuple(found.assigned), found.directory)
        inner = _inside(wrapper, words[1:], found)
        if inner is None:
            return None
        words = inner
    return None


def _program(word: Word) -> str:
    return word.text.rsplit("/", 1)[-1]


def _inside(wrapper: _Wrapper, words: tuple[Word, ...], found: _Found) -> tuple[Word, ...] | None:
    at = 0
    while at < len(words) and words[at].text.startswith("-"):
        option, joined, value = words[at].text.partition("=")
        at += 1
        if option in wrapper.ends:
            return None
        if option == "--":
            break
        if option in wrapper.moves:
            target = Word(value, value) if joined else words[at] if at < len(words) else None
            at += 0 if joined else 1
            if target is None or not _moved(found, target):
                return None
        elif option in wrapper.takes and not joined:
            at += 1
    if wrapper.assigns:
        assigned, rest = split_assignments(words[at:])
        found.assigned.extend(assigned)
        return rest
    return words[at + wrapper.arguments :]


def _without_directory(words: tuple[Word, ...], found: _Found) -> tuple[Word, ...] | None:
    mover = _MOVERS.get(_program(words[0]))
    if mover is None:
        return words
    kept, passed, at = [words[0]], 0, 1
    while at < len(words) and words[at].text != "--" and passed <= mover.reach:
        word = words[at]
        option, joined, value = word.text.partition("=")
        at += 1
        if word.text in mover.options:
            if at >= len(words) or not _moved(found, words[at]):
                return None
            at += 1
        elif joined and option in mover.options:
            if not _moved(found, Word(value, value, word.opaque, word.variables)):
                return None
        elif mover.attached and word.text[:2] in mover.options:
            if not _moved(found, Word(word.text[2:], word.text[2:], word.opaque, word.variables)):
                return None
        else:
            kept.append(word)
            passed += not word.text.startswith("-")
    return (*kept, *words[at:])


def _moved(found: _Found, target: Word) -> bool:
    path = directory_named(target)
    if path is None:
        return False
    found.directory = resolve(found.directory, path)
    return True


def directory_named(word: Word) -> str | None:
    """The path a word stands for where its text tells it; `$HOME` is written `~` and `$PWD` is `.`."""
    path = word.text
    for name, meaning in (("HOME", "~"), ("PWD", ".")):
        for form in (f"${name}", f"${{{name}}}"):
            if name in word.variables and (path == form or path.startswith(f"{form}/")):
                return meaning + path[len(form) :]
    unknown = word.variables if not path.startswith("~") else word.variables - {"HOME"}
    return None if word.opaque or word.pattern or unknown or not path else path
