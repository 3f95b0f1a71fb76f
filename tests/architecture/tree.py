"""The project's files as the style tests see them: what git tracks or would track, read and parsed once."""

import ast
import functools
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.conftest import ROOT

TOP = ("domain", "workflows", "activities", "client", "stack", "cli", "console", "bench", "deploy", "tests")
"""The folders whose Python files are modules of this project, beside worker.py and settings.py."""


@dataclass(frozen=True, eq=False)
class Source:
    """One Python file: its path from the root, its text, and (parsed on first use) its tree."""

    path: str
    text: str

    @functools.cached_property
    def tree(self) -> ast.Module:
        """The syntax tree."""
        return ast.parse(self.text, self.path)

    @property
    def is_test(self) -> bool:
        """Whether the file is a test or serves tests only."""
        return self.path.startswith("tests/")

    @property
    def module(self) -> str:
        """The dotted name under which it is imported from the root."""
        return self.path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")

    def functions(self) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
        """Every function and method, nested ones too."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield node


@functools.cache
def tracked() -> tuple[str, ...]:
    """Paths of all files that are committed or about to be, none that is ignored or gone."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return tuple(sorted(path for path in set(listed.split("\0")) if path and (ROOT / path).is_file()))


@functools.cache
def texts() -> dict[str, str]:
    """The text of every tracked file that is text."""
    found: dict[str, str] = {}
    for path in tracked():
        raw = (ROOT / path).read_bytes()
        if b"\0" not in raw[:8000]:
            found[path] = raw.decode("utf-8", "replace")
    return found


@functools.cache
def sources() -> tuple[Source, ...]:
    """Every Python file of the project."""
    return tuple(Source(path, text) for path, text in texts().items() if path.endswith(".py"))


def first_party_modules() -> tuple[str, ...]:
    """Dotted names of the application's modules that may be imported without starting anything."""
    rooms = ("domain", "workflows", "activities", "client", "stack", "cli")
    return tuple(
        source.module
        for source in sources()
        if Path(source.path).parts[0] in rooms and not source.path.endswith("__main__.py")
    )
