"""Habit 11: style is a test. A listed exception has a reason and goes when nothing needs it any more."""

from collections.abc import Iterator

import pytest

from tests.architecture import tidy
from tests.architecture.tidy import Finding
from tests.architecture.tree import Source, sources, texts

EXCEPTIONS: dict[tuple[str, str], str] = {}
"""(rule, place) to the reason why the house is better for it."""

TESTS_COUNT = True
"""Whether a module that only tests import is alive: no longer, once worker.py joins every room."""


def findings() -> list[Finding]:
    found = [finding for rule in tidy.SOURCE_RULES for finding in rule(sources())]
    found += [finding for rule in tidy.TEXT_RULES for finding in rule(texts())]
    found += tidy.dead_modules(sources(), tests_count=TESTS_COUNT)
    return sorted(found)


def test_the_tree_is_tidy() -> None:
    broken = [f for f in findings() if (f.rule, f.place) not in EXCEPTIONS]
    assert not broken, "\n" + "\n".join(f"{f.rule}: {f.place}: {f.says}" for f in broken)


def test_every_exception_has_a_reason_and_is_needed() -> None:
    assert all(len(reason.split()) >= 3 for reason in EXCEPTIONS.values())
    assert not EXCEPTIONS.keys() - {(f.rule, f.place) for f in findings()}, "an exception that nothing needs: remove it"


def _planted() -> Iterator[tuple[str, str, str]]:
    """A rule, a path, and a text that breaks it."""
    yield "long file", "domain/x.py", "x = 1\n" * 401
    yield "long file", "tests/x.py", "x = 1\n" * 601
    yield "long function", "cli/x.py", "def f():\n" + "    x = 1\n" * 60
    yield "many parameters", "cli/x.py", "def f(a, b, c, d, *, e, f, g): ...\n"
    yield "blind except", "stack/x.py", "try:\n    f()\nexcept Exception:\n    raise\n"
    yield "blind except", "stack/x.py", "try:\n    f()\nexcept (ValueError, BaseException):\n    raise\n"
    yield "blind except", "stack/x.py", "try:\n    f()\nexcept:\n    raise\n"
    yield "module name", "domain/utils.py", ""
    yield "module name", "domain/common/x.py", ""
    yield "module name", "domain/fold_v2.py", ""
    yield "unfinished", "domain/x.py", "# TO" + "DO later\n"
    yield "machine place", "docs/x.md", "see /wo" + "rk/main\n"
    yield "machine place", "pip.conf", "https://py" + "pi.org/simple\n"
    yield "unused sql", "activities/postgres/sql/journal.sql", "-- append --\nselect 1;\n"
    yield "unused sql", "activities/postgres/sql/journal.sql", "-- name: append\nselect 1;\n"
    yield "unused sql", "activities/postgres/sql/lonely.sql", "select 1;\n"
    yield "unused prompt", "activities/models/prompts/extractor.v1.md", "Read.\n"


@pytest.mark.parametrize(("rule", "path", "text"), list(_planted()))
def test_each_rule_finds_what_it_is_for(rule: str, path: str, text: str) -> None:
    files = [Source(path, text)] if path.endswith(".py") else []
    found = [finding for check in tidy.SOURCE_RULES for finding in check(files)]
    found += [finding for check in tidy.TEXT_RULES for finding in check({path: text})]
    assert [finding.rule for finding in found] == [rule]


def test_what_keeps_to_the_limits_is_left_alone() -> None:
    fits = "def f(self, a, b, c, d, e, f):\n" + "    x = 1\n" * 59 + "x = 1\n" * 340
    whole = {"activities/x.py": fits + "# append extractor.v1\n", "a/sql/x.sql": "-- append --\nselect 1;\n"}
    whole |= {"a/prompts/extractor.v1.md": "Read.\n", "t.sh": "d=$(mktemp -d /tmp/$USER/x)\n"}
    files = [Source("activities/x.py", fits)]
    assert [f for check in tidy.SOURCE_RULES for f in check(files)] == []
    assert [f for check in tidy.TEXT_RULES for f in check(whole)] == []


def test_a_module_is_dead_when_nothing_imports_it() -> None:
    files = [
        Source("cli/__main__.py", "from cli.main import main\n"),
        Source("cli/main.py", "import cli.main\n"),
        Source("domain/lonely.py", ""),
        Source("tests/test_x.py", "from domain import tested\n"),
        Source("domain/tested.py", ""),
        Source("deploy/migrations/versions/0001_pre_x.py", ""),
    ]
    assert [f.place for f in tidy.dead_modules(files, tests_count=True)] == ["domain/lonely.py"]
    assert [f.place for f in tidy.dead_modules(files, tests_count=False)] == ["domain/lonely.py", "domain/tested.py"]
