"""The rules of style that can be counted, each a function from files to the places that break it.

The text of a finding names the place and says what to do.
"""

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from tests.architecture.tree import Source

LINES, TEST_LINES = 400, 600
FUNCTION_LINES = 60
PARAMETERS = 6
FORBIDDEN_NAMES = frozenset({"utils", "util", "common", "helpers", "helper", "base", "manager", "types", "misc"})
ENTRY_POINTS = ("worker.py", "conftest.py")
UNFINISHED = re.compile(r"\b(" + "|".join(("TO" + "DO", "FIX" + "ME", "XX" + "X", "HA" + "CK")) + r")\b")
MACHINE = re.compile(
    "|".join((r"/(work|farm|root|tmp)" + "/", "python" + "hosted", r"registry\." + "npmjs", r"pypi\." + "org"))
)
ORDINARY_TEMPORARY = re.compile(r"/tmp/\$|tmpfs|mktemp|bwrap")
SQL_BLOCK = re.compile(r"^-- (?:name: )?([a-z][a-z0-9_]*)(?: --)?$", re.MULTILINE)


@dataclass(frozen=True, order=True)
class Finding:
    """One place that breaks a rule; `place` is a path, or path:name, and is what an exception names."""

    rule: str
    place: str
    says: str


def long_files(sources: Iterable[Source]) -> Iterator[Finding]:
    """A file of the application holds at most 400 lines, one of the tests 600."""
    for source in sources:
        limit = TEST_LINES if source.is_test else LINES
        if (lines := source.text.count("\n")) > limit:
            yield Finding("long file", source.path, f"{lines} lines: divide it, {limit} is the most")


def long_functions(sources: Iterable[Source]) -> Iterator[Finding]:
    """A function of the application spans at most 60 lines."""
    for source in sources:
        for function in source.functions():
            lines = (function.end_lineno or function.lineno) - function.lineno + 1
            if not source.is_test and lines > FUNCTION_LINES:
                says = f"{lines} lines: divide it, {FUNCTION_LINES} is the most"
                yield Finding("long function", f"{source.path}:{function.name}", says)


def many_parameters(sources: Iterable[Source]) -> Iterator[Finding]:
    """A function of the application takes at most 6 parameters, self aside."""
    for source in sources:
        for function in source.functions():
            given = function.args
            names = [a.arg for a in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
            count = len([name for name in names if name not in ("self", "cls")])
            if not source.is_test and count > PARAMETERS:
                says = f"{count} parameters: take a request value, {PARAMETERS} is the most"
                yield Finding("many parameters", f"{source.path}:{function.name}", says)


def blind_excepts(sources: Iterable[Source]) -> Iterator[Finding]:
    """Only worker.py catches whatever comes."""
    for source in sources:
        for node in ast.walk(source.tree):
            if isinstance(node, ast.ExceptHandler) and source.path != "worker.py" and _is_blind(node.type):
                says = f"line {node.lineno} catches everything: name what can be done something about"
                yield Finding("blind except", source.path, says)


def _is_blind(caught: ast.expr | None) -> bool:
    if isinstance(caught, ast.Tuple):
        return any(_is_blind(part) for part in caught.elts)
    return caught is None or (isinstance(caught, ast.Name) and caught.id in ("Exception", "BaseException"))


def unfinished(texts: Mapping[str, str]) -> Iterator[Finding]:
    """Nothing is committed that says it is not finished."""
    for path, text in texts.items():
        if path.endswith((".py", ".sql", ".sh", ".toml", "Makefile")) and (found := UNFINISHED.search(text)):
            yield Finding("unfinished", path, f"says {found.group()}: finish it, or file it where work is kept")


def machine_places(texts: Mapping[str, str]) -> Iterator[Finding]:
    """No path of one machine and no registry's host is committed."""
    for path, text in texts.items():
        for number, line in enumerate(text.splitlines(), 1):
            found = MACHINE.search(line)
            if found and not path.endswith(".lock") and not ORDINARY_TEMPORARY.search(line):
                yield Finding("machine place", path, f"line {number} names {found.group()}")
                break


def forbidden_names(sources: Iterable[Source]) -> Iterator[Finding]:
    """A module is named after what it holds; a second version replaces the first."""
    for source in sources:
        names = PurePosixPath(source.path).with_suffix("").parts
        if bad := FORBIDDEN_NAMES.intersection(names):
            yield Finding("module name", source.path, f"{min(bad)} says nothing: name it after what it holds")
        if re.search(r"_v\d+$", names[-1]):
            yield Finding("module name", source.path, "a version in a module's name: change the module itself")


def dead_modules(sources: Iterable[Source], *, tests_count: bool) -> Iterator[Finding]:
    """Every module is imported by another, or is where a process starts."""
    known = list(sources)
    alive = {name for source in known if tests_count or not source.is_test for name in imported_by(source)}
    for source in known:
        path = PurePosixPath(source.path)
        starts = path.name in ("__init__.py", "__main__.py", *ENTRY_POINTS) or source.path.startswith("deploy/")
        is_test = path.name.startswith("test_") or _has_main(source)
        if not starts and not is_test and source.module not in alive:
            yield Finding("dead module", source.path, "nothing imports it: remove it, or join it to what needs it")


def _has_main(source: Source) -> bool:
    return source.is_test and 'if __name__ == "__main__":' in source.text


def imported_by(source: Source) -> set[str]:
    """Dotted names that `source` may import: of `from a import b`, both a and a.b."""
    names: set[str] = set()
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return names - {source.module}


def unused_sql(texts: Mapping[str, str]) -> Iterator[Finding]:
    """Every named block of SQL is named by the application's code, and so is a file without blocks."""
    code = "\n".join(text for path, text in texts.items() if path.endswith(".py") and not path.startswith("tests/"))
    for path, text in texts.items():
        if path.endswith(".sql"):
            stem = PurePosixPath(path).stem
            for name in SQL_BLOCK.findall(text) or [stem]:
                if not re.search(rf"\b{re.escape(name)}\b", code):
                    yield Finding("unused sql", f"{path}:{name}", "no code names it: remove it")


def unused_prompts(texts: Mapping[str, str]) -> Iterator[Finding]:
    """Every prompt file is named by the code or by a routing table."""
    users = [text for path, text in texts.items() if path.endswith((".py", ".json")) and not path.startswith("tests/")]
    for path in texts:
        place = PurePosixPath(path)
        if place.parent.name == "prompts" and place.suffix == ".md" and not any(place.stem in text for text in users):
            yield Finding("unused prompt", path, "nothing names it: remove it")


SOURCE_RULES: tuple[Callable[[Iterable[Source]], Iterator[Finding]], ...] = (
    long_files,
    long_functions,
    many_parameters,
    blind_excepts,
    forbidden_names,
)
TEXT_RULES: tuple[Callable[[Mapping[str, str]], Iterator[Finding]], ...] = (
    unfinished,
    machine_places,
    unused_sql,
    unused_prompts,
)
