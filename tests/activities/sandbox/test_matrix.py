"""Every attempt to get out comes to what the documentation says, and the table in it is what came of the attempts."""

from collections.abc import Iterator

import pytest

from tests.activities.sandbox.attempt import Attempt, conduct
from tests.activities.sandbox.stage import Stage, stage
from tests.activities.sandbox.table import ATTEMPTS, PAGE, in_page, key, rendered

CAME_OF_IT: dict[str, str] = {}


@pytest.fixture(scope="module")
def on(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    with stage(tmp_path_factory.mktemp("host")) as host:
        yield host


async def _once(attempt: Attempt, on: Stage) -> str:
    if key(attempt) not in CAME_OF_IT:
        CAME_OF_IT[key(attempt)] = await conduct(attempt, on)
    return CAME_OF_IT[key(attempt)]


@pytest.mark.parametrize("attempt", ATTEMPTS, ids=key)
async def test_an_attempt_comes_to_what_is_expected(attempt: Attempt, on: Stage) -> None:
    assert await _once(attempt, on) == attempt.expected


async def test_the_table_in_the_documentation_is_what_came_of_them(on: Stage) -> None:
    came_of_it = {key(attempt): await _once(attempt, on) for attempt in ATTEMPTS}
    assert in_page(PAGE.read_text(encoding="utf-8")) == rendered(came_of_it), (
        "run `python -m tests.activities.sandbox.table`"
    )


def test_attempts_are_many_and_each_is_told_apart() -> None:
    assert len({key(attempt) for attempt in ATTEMPTS}) == len(ATTEMPTS) >= 40


async def test_a_broken_wall_is_seen(on: Stage) -> None:
    reached = Attempt("files", "read what is in the workspace", "not there", 'print(tried(read, "own"))')
    assert await conduct(reached, on) == "it worked: b'mine'"
    told = Attempt("credentials", "say the secret", "", "import subprocess\nprint(read('leaked').decode())")
    (on.workspace.root / "leaked").write_text(on.secret)
    try:
        assert await conduct(told, on) == "it read the secret"
    finally:
        (on.workspace.root / "leaked").unlink()
