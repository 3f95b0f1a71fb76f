"""Everything that can be said wrongly, or asked where nothing runs: one sentence and the right exit code."""

import json
from pathlib import Path

import pytest

from tests.cli.running import ACTOR, ROOT, Command


@pytest.fixture(scope="module")
def temporality(tmp_path_factory: pytest.TempPathFactory) -> Command:
    return Command(tmp_path_factory.mktemp("nothing-runs"))


NEEDS_A_STACK = [
    ("search", "words"),
    ("review",),
    ("show", "run", "x"),
    ("show", "knowledge", "x"),
    ("approve", "x", "--as", ACTOR),
    ("import", str(ROOT / "examples")),
    ("rebuild",),
    ("verify",),
    ("migrate",),
]

SAID_WRONGLY = [
    (("search",), "Missing"),
    (("frobnicate",), "No such command"),
    (("show", "cat", "x"), "cat"),
    (("search", "x", "--limit", "many"), "integer"),
    (("search", "x", "--state", "true"), "true"),
    (("import", "/nowhere/at/all"), "There is no file or folder"),
    (("verify", "--against", "/nowhere"), "cannot be read"),
    (("demo", "--examples", "/nowhere"), "holds no transcripts"),
    (("import", str(ROOT / "examples" / "formats"), "--run", "r"), "--run names the run of one file"),
]


@pytest.mark.parametrize("words", NEEDS_A_STACK, ids=" ".join)
def test_where_no_stack_runs_every_command_says_make_up(temporality: Command, words: tuple[str, ...]) -> None:
    ran = temporality(*words)
    assert ran.code == 4
    assert ran.out == "" and ran.err.count("\n") == 1 and "`make up`" in ran.err


@pytest.mark.parametrize(("words", "says"), SAID_WRONGLY, ids=str)
def test_wrong_words_are_usage_and_one_sentence(temporality: Command, words: tuple[str, ...], says: str) -> None:
    ran = temporality(*words)
    assert ran.code == 2
    assert ran.out == "" and ran.err.count("\n") == 1 and says in ran.err
    assert "Traceback" not in ran.err


@pytest.mark.parametrize("words", [("search", "x"), ("show", "cat", "x"), ("import", "/nowhere")], ids=" ".join)
def test_under_json_an_error_is_an_object(temporality: Command, words: tuple[str, ...]) -> None:
    ran = temporality(*words, "--json")
    told = json.loads(ran.err)["error"]
    assert told["exit_code"] == ran.code != 0
    assert told["kind"] and told["sentence"] and ran.out == ""


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("TEMPORALITY_ACTOR", "somebody"),
        ("DATABASE_URL", "mysql://x/y"),
        ("TEMPORALITY_UI_PORT", "x"),
        ("TEMPORAL_ADDRESS", "nonsense"),
        ("TEMPORALITY_KEY", "12"),
    ],
)
def test_a_wrong_setting_is_named(tmp_path: Path, variable: str, value: str) -> None:
    ran = Command(tmp_path, ((variable, value),))("search", "x")
    assert ran.code == 2 and variable in ran.err


def test_a_database_that_does_not_answer(tmp_path: Path) -> None:
    url = "postgresql://nobody@127.0.0.1:1/nothing"
    ran = Command(tmp_path, (("DATABASE_URL", url),))("search", "x")
    assert ran.code == 4 and ran.err.count("\n") == 1 and "Postgres does not answer" in ran.err


def test_status_down_and_doctor_where_nothing_runs(temporality: Command) -> None:
    assert temporality("status").code == 4
    told = temporality("status", "--json")
    assert told.code == 4 and told.object["running"] is False
    assert temporality("down").code == 0
    assert temporality("down", "--json").object == {"home": str(temporality.home), "stopped": False}
    checks = temporality("doctor", "--json")
    assert {"platform", "python", "postgres", "temporal"} <= {check["name"] for check in checks.objects}
    assert checks.code == int(not all(check["ok"] for check in checks.objects))


def test_a_process_leaves_with_the_code_and_the_sentence(temporality: Command) -> None:
    ran = temporality.process("search", "words")
    assert (ran.code, ran.out) == (4, "") and "`make up`" in ran.err
    assert temporality.process("--version").code == 0


def test_help_and_version(temporality: Command) -> None:
    told = temporality("--help")
    assert told.code == 0
    for name in ("demo", "up", "import", "show", "search", "review", "approve", "reject", "edit", "rebuild", "verify"):
        assert f"  {name} " in told.out
    assert temporality("--version").out.startswith("temporality ")
    bare = temporality()
    assert bare.code == 2 and "Usage" in bare.err
