"""What a command verifies, and what the free names of targets and scripts say about it.

A name such as `lint:js` or `unit-test` was chosen by people; only whole words of it count, so `latest` is no test.
"""

import re
from collections.abc import Mapping
from enum import StrEnum


class CheckKind(StrEnum):
    """What exit code 0 of a command says: tests passed, style is clean, a check held, it was vetted, it builds,
    its types agree."""

    TEST = "test"
    LINT = "lint"
    CHECK = "check"
    VET = "vet"
    BUILD = "build"
    TYPECHECK = "typecheck"


_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+")

_MEANINGS: Mapping[CheckKind, str] = {
    CheckKind.TEST: "test tests spec specs unittest unittests unit e2e coverage pytest jest vitest runtests",
    CheckKind.LINT: "lint linter lints eslint ruff flake8 pylint clippy checkstyle rubocop stylelint golangci",
    CheckKind.CHECK: "check checks verify validate",
    CheckKind.VET: "vet",
    CheckKind.BUILD: "build builds compile assemble all bundle",
    CheckKind.TYPECHECK: "typecheck types tsc mypy pyright typing",
}
_KIND_OF_WORD: Mapping[str, CheckKind] = {word: kind for kind, words in _MEANINGS.items() for word in words.split()}

_SPOILING = frozenset(
    "fix autofix watch dev serve server start stop clean cleanup update updates install uninstall deploy publish push"
    " write setup teardown data fixture fixtures generate gen prepare ui open list help deps staged"
    " classes environment info env docs snapshot snapshots report changelog version up down shell image login".split()
)


def kind_of_name(name: str) -> CheckKind | None:
    """The kind a make target, a package script or a task is named after; None where a word says that it does more
    or other than verify (`lint:fix`, `test-watch`, `build-deps`)."""
    words = [word.lower() for word in _WORDS.findall(name)]
    if not words or "=" in name or _SPOILING & set(words):
        return None
    if (words[0] == "check" and words[-1] in ("type", "types")) or words[:2] == ["type", "check"]:
        return CheckKind.TYPECHECK
    return _KIND_OF_WORD.get(words[0]) or _KIND_OF_WORD.get(words[-1])
