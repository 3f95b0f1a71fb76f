"""Say what one command verifies, from its argument words.

The words decide, never a search in the text: `echo test`, `cat test.log` and the builtin `test -f x` are no checks,
and a tool asked for its help or told to rewrite, list or watch is none either.
"""

import re
from collections.abc import Iterator
from itertools import dropwhile

from domain.runs.commands.kinds import CheckKind, kind_of_name
from domain.runs.commands.launchers import ALIASES, INTERPRETERS, LAUNCHERS, Launcher
from domain.runs.commands.lexer import Word
from domain.runs.commands.tools import FORMATTERS, MODULES, REFUSED_ANYWHERE, TOOLS, Tool
from domain.runs.commands.wrappers import unwrap

_DEEPEST = 8
_PYTHON = re.compile(r"(?:python|pypy)[0-9.]*|py")
_SHELLS = frozenset({"bash", "sh", "zsh", "dash", "ksh"})
_PYTHON_TAKES = frozenset({"-W", "-X", "--check-hash-based-pycs"})
_SUFFIXES = (".exe", ".cmd", ".bat")
_SHELL_SCRIPT = re.compile(
    r"(?:.*/)?((?:run[-_]?)?(?:all[-_]?)?(tests?|lint|checks?|build|typecheck|verify))(?:\.(?:sh|bash|zsh))?"
)
_OTHER_SCRIPT = re.compile(r"(?:.*/)?(run[-_]?tests|run[-_]?lint|lint|build|typecheck)\.(?:py|js|mjs|cjs|ts|rb|php)")
_TOOL_SCRIPTS = frozenset({"setup.py", "manage.py", "artisan"})
_IN_BIN = re.compile(r"(?:^|/)\.?bin/")
_NEVER = frozenset({"false", "0", "no", "never"})


def classify(argv: tuple[str, ...]) -> CheckKind | None:
    """The kind of check a command is, None where its success verifies nothing. Source: spec/1, spec/2 section 13.

    `argv` is one command without a shell around it: program and arguments, quotes removed.
    """
    unwrapped = unwrap(tuple(Word(text, text) for text in argv))
    return _kind(unwrapped.argv, 0) if unwrapped else None


def _kind(argv: tuple[str, ...], depth: int) -> CheckKind | None:
    if not argv or depth > _DEEPEST or any(_is_present(flag, argv[1:]) for flag in REFUSED_ANYWHERE):
        return None
    program = _program(argv[0])
    if _PYTHON.fullmatch(program):
        return _python(argv[1:], depth)
    if program in _SHELLS:
        return _shell(argv[1:])
    if (inner := _launched(program, argv)) is not None and (kind := _inner_kind(inner, depth)) is not None:
        return kind
    tool = TOOLS.get(program)
    if tool is not None and (kind := _of_tool(program, tool, argv[1:])) is not None:
        return kind
    if program in INTERPRETERS:
        return _script(tuple(dropwhile(lambda word: word.startswith("-"), argv[1:])), depth)
    is_script = "/" in argv[0] and not argv[0].startswith(("/bin/", "/usr/"))
    script = _SHELL_SCRIPT.fullmatch(argv[0]) if is_script else None
    return kind_of_name(script[1]) if script else None


def _program(word: str) -> str:
    name = word.rsplit("/", 1)[-1]
    for suffix in _SUFFIXES:
        name = name.removesuffix(suffix)
    name = name.partition("@")[0] or name
    return ALIASES.get(name, name)


def _launched(program: str, argv: tuple[str, ...]) -> tuple[str, ...] | None:
    """The command that `npx`, `poetry run` and their like start, with their own options taken away."""
    for launcher in LAUNCHERS:
        own = len(launcher.words)
        if (program, *argv[1:own]) == launcher.words:
            inner = _after_options(argv[own:], launcher)
            return (program, *inner) if launcher.again else inner
    return None


def _after_options(argv: tuple[str, ...], launcher: Launcher) -> tuple[str, ...]:
    at = 0
    while at < len(argv) and argv[at].startswith("-") and argv[at] not in ("-m", "--module"):
        if argv[at] == "--":
            at += 1
            break
        at += 2 if argv[at] in launcher.takes else 1
    while at < len(argv) and re.match(r"[A-Za-z_]\w*=", argv[at]):
        at += 1
    return argv[at + launcher.skips :]


def _inner_kind(inner: tuple[str, ...], depth: int) -> CheckKind | None:
    if inner and inner[0] in ("-m", "--module"):
        return _python(("-m", *inner[1:]), depth)
    return _kind(inner, depth + 1)


def _python(arguments: tuple[str, ...], depth: int) -> CheckKind | None:
    at = 0
    while at < len(arguments) and arguments[at].startswith("-"):
        option = arguments[at]
        if option == "-m" and at + 1 < len(arguments):
            module = arguments[at + 1]
            return MODULES.get(module) or _kind((module, *arguments[at + 2 :]), depth + 1)
        if option in ("-c", "-V", "-VV", "-"):
            return None
        at += 2 if option in _PYTHON_TAKES else 1
    return _script(arguments[at:], depth)


def _script(argv: tuple[str, ...], depth: int) -> CheckKind | None:
    if not argv:
        return None
    if _program(argv[0]) in _TOOL_SCRIPTS or _IN_BIN.search(argv[0]):
        return _kind((_program(argv[0]), *argv[1:]), depth + 1)
    script = _OTHER_SCRIPT.fullmatch(argv[0])
    return kind_of_name(script[1]) if script else None


def _shell(arguments: tuple[str, ...]) -> CheckKind | None:
    if arguments[:1] == ("-n",) and len(arguments) > 1:
        return CheckKind.CHECK
    words = [word for word in arguments if not word.startswith("-")]
    if not words or any(word.startswith("-") and "c" in word for word in arguments):
        return None
    script = _SHELL_SCRIPT.fullmatch(words[0])
    return kind_of_name(script[1]) if script else None


def _of_tool(program: str, tool: Tool, arguments: tuple[str, ...]) -> CheckKind | None:
    if any(_is_present(flag, arguments) for flag in tool.refuses) or (tool.clusters and _joined(tool, arguments)):
        return None
    if tool.needs and not any(_is_present(flag, arguments) for flag in tool.needs):
        return None
    words = tuple(_words(tool, arguments))
    only_checks_with = FORMATTERS.get(f"{program} {words[0]}") if words else None
    if only_checks_with is not None:
        return CheckKind.LINT if any(_is_present(flag, arguments) for flag in only_checks_with) else None
    kind = _named_by_option(tool, arguments) or _named(tool, words)
    if kind is None:
        return None
    for flag, other in tool.becomes.items():
        kind = other if _is_present(flag, arguments) else kind
    return kind


def _named(tool: Tool, words: tuple[str, ...]) -> CheckKind | None:
    if len(words) > 1 and (kind := tool.subcommands.get(f"{words[0]} {words[1]}")):
        return kind
    if words and words[0] in tool.names_after:
        return kind_of_name(words[1]) if len(words) > 1 else None
    if words and tool.names:
        kinds = (tool.subcommands.get(word) or kind_of_name(word) for word in words[: tool.names])
        return next((kind for kind in kinds if kind), None)
    return (tool.subcommands.get(words[0]) if words else None) or tool.alone


def _named_by_option(tool: Tool, arguments: tuple[str, ...]) -> CheckKind | None:
    for option, value in zip(arguments, (*arguments, "")[1:], strict=True):
        name, joined, attached = option.partition("=")
        if name in tool.named_by:
            return kind_of_name((attached if joined else value).partition(",")[0])
    return None


def _words(tool: Tool, arguments: tuple[str, ...]) -> Iterator[str]:
    """The words that are neither options nor their values, up to `--`."""
    is_value = False
    for word in arguments:
        if word == "--":
            return
        if is_value or word.startswith(("-", "+")):
            is_value = not is_value and word in tool.takes
        else:
            yield word


def _is_present(flag: str, arguments: tuple[str, ...]) -> bool:
    for place, word in enumerate(arguments):
        name, joined, value = word.partition("=")
        if word == flag or (name == flag and joined and value.lower() not in _NEVER):
            return True
        if "=" in flag and place + 1 < len(arguments) and f"{word}={arguments[place + 1]}" == flag:
            return True
    return False


def _joined(tool: Tool, arguments: tuple[str, ...]) -> bool:
    letters = {flag[1] for flag in tool.refuses if len(flag) == 2}
    return any(re.fullmatch("-[A-Za-z]{2,}", word) and letters & set(word[1:]) for word in arguments)
