"""Programs that start another one which is named in their words: `npx`, `poetry run`, `coverage run`.

A launcher picks the environment of what it starts, so it stays part of the command; only the kind is looked for inside.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class Launcher:
    """A program that starts another: `words` are its own, `takes` its options with a value, `skips` the words before
    the command (`direnv exec DIR`: one), `again`: what follows is said to the program itself
    (`yarn workspace NAME test`)."""

    words: tuple[str, ...]
    takes: frozenset[str] = frozenset()
    skips: int = 0
    again: bool = False


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


INTERPRETERS = _set("node php ruby tsx ts-node")
"""Programs that run the script they are given."""

ALIASES: Mapping[str, str] = MappingProxyType(
    {
        "py.test": "pytest",
        "pytest-3": "pytest",
        "gmake": "make",
        "gradlew": "gradle",
        "mvnw": "mvn",
        "bazelisk": "bazel",
        "nodejs": "node",
        "pnpx": "npx",
        "cc": "gcc",
        "c++": "g++",
    }
)

_PACKAGE_TAKES = _set("-w --workspace -F --filter")
_UV_TAKES = _set(
    "--extra --with --group --python -p --project --package --env-file --index --index-url "
    "--with-requirements --with-editable"
)
_NPX_TAKES = _set("-p --package --workspace -w")

LAUNCHERS: tuple[Launcher, ...] = (
    Launcher(("poetry", "run")),
    Launcher(("uv", "run"), _UV_TAKES),
    Launcher(("uvx",), _UV_TAKES | _set("--from")),
    Launcher(("uv", "tool", "run"), _UV_TAKES | _set("--from")),
    Launcher(("pipx", "run"), _set("--spec --python")),
    Launcher(("pipenv", "run")),
    Launcher(("pdm", "run")),
    Launcher(("hatch", "run")),
    Launcher(("rye", "run")),
    Launcher(("pixi", "run"), _set("-e --environment")),
    Launcher(("conda", "run"), _set("-n --name -p --prefix")),
    Launcher(("npx",), _NPX_TAKES),
    Launcher(("bunx",), _NPX_TAKES),
    Launcher(("bun", "x")),
    Launcher(("bun", "run")),
    Launcher(("npm", "exec"), _NPX_TAKES),
    Launcher(("npm", "x"), _NPX_TAKES),
    Launcher(("pnpm", "exec"), _PACKAGE_TAKES),
    Launcher(("pnpm", "dlx"), _NPX_TAKES),
    Launcher(("pnpm",), _PACKAGE_TAKES),
    Launcher(("yarn", "exec")),
    Launcher(("yarn", "dlx"), _NPX_TAKES),
    Launcher(("yarn", "workspace"), skips=1, again=True),
    Launcher(("yarn", "run")),
    Launcher(("yarn",), _PACKAGE_TAKES),
    Launcher(("bundle", "exec")),
    Launcher(("mise", "exec")),
    Launcher(("direnv", "exec"), skips=1),
    Launcher(("coverage", "run"), _set("--source --omit --include --rcfile --data-file --context --concurrency")),
    Launcher(("nyc",)),
    Launcher(("c8",)),
    Launcher(("cross-env",)),
    Launcher(("dotenv",), _set("-e -f -c")),
    Launcher(("xvfb-run",), _set("-s -n -e -f -p -w --server-args --server-num")),
)
"""Longer forms of one program stand before shorter ones."""
