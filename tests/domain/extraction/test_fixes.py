"""A fix is a claim once the run showed that it works, and a plan before that."""

from __future__ import annotations

import pytest

from domain.extraction.context import ExtractionContext, compact
from domain.extraction.fixes import fix
from domain.extraction.rules import explain, propose
from tests.domain.extraction.journal import command, happened

CODE = "stamps.py\n12: def to_ticks(delta):\n13:     return int(math.floor(delta / unit))"
CHANGED = "The code has been changed to use `floor`, which should fix the off-by-one ticks."
SAID = "Changing `stamps.py` (`to_ticks`) to use `floor` fixes the off-by-one ticks."


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (CHANGED, "Changing `stamps.py` to use `floor` fixes the off-by-one ticks."),
        (
            "`load_all` has been updated to close its file, which will prevent the leak of handles.",
            "Changing `load_all` to close its file prevents the leak of handles.",
        ),
        (
            "To fix the flaky `test_order`, we need to sort the keys in `dump_all`.",
            "Fixing the flaky `test_order` requires one to sort the keys in `dump_all`.",
        ),
        (
            "Fixed the deadlock in `flush` by releasing `_lock` first.",
            "The deadlock in `flush` is fixed by releasing `_lock` first.",
        ),
        (
            "Fixed `Router` class to reset `state` so that a second visit starts empty.",
            "`Router` class has to reset `state` so that a second visit starts empty.",
        ),
    ],
)
def test_what_a_fix_says_afterwards(text: str, told: str) -> None:
    found = fix(text, "`stamps.py`")
    assert found is not None and found.text == told


@pytest.mark.parametrize(
    "text",
    [
        "To fix this, we need to sort the keys in `dump_all`.",
        "To fix the error, we need to sort the keys in `dump_all`.",
        "The code has been changed to use `floor`.",
        "Fixed the tests in `test_order.py`.",
        "`load_all` closes its file, which should be enough.",
    ],
)
def test_what_tells_of_no_fix(text: str) -> None:
    assert fix(text, "`stamps.py`") is None


def test_the_code_without_a_known_file_is_no_fix() -> None:
    assert fix(CHANGED, "") is None


def run(*after: str, code: int = 0, shown: str = CODE) -> ExtractionContext:
    """Look at a file, change it, try it, say what came of it."""
    events = [
        happened("a", 1, "turn.agent", {"text": "The ticks are made in `stamps.py` by `to_ticks`."}),
        *command("a", 2, "sed -i s/round/floor/ stamps.py && cat stamps.py", shown),
        happened("a", 4, "turn.agent", {"text": CHANGED}),
        *command("a", 5, "python try.py", "41", code),
    ]
    said = [happened("a", number, "turn.agent", {"text": text}) for number, text in enumerate(after, 7)]
    return compact([*events, *said])


def test_a_fix_that_was_tried_is_proposed_with_the_result_that_shows_it() -> None:
    (candidate,) = propose(run("The ticks are fixed: the output is 41."))
    assert candidate.proposition == SAID and candidate.rule == "verified_fix"
    assert {"a-3", "a-6"} <= {citation.event_id for citation in candidate.evidence}


@pytest.mark.parametrize(
    "context",
    [
        run(),
        run("Let me look at the output."),
        run("It is still wrong."),
        run("That did not work, `floor` is not the reason."),
        run("The ticks are fixed.", code=1),
        run("The ticks are fixed.", shown="nothing"),
    ],
    ids=["nothing said", "nothing told", "still wrong", "did not work", "the try failed", "the change is not seen"],
)
def test_a_fix_that_nothing_shows_is_a_plan(context: ExtractionContext) -> None:
    assert propose(context) == []
    assert any(decision.sentence == CHANGED for decision in explain(context))


@pytest.mark.parametrize(("code", "kept"), [(0, True), (1, False)])
def test_a_summary_counts_where_the_last_check_passed(code: int, kept: bool) -> None:
    said = "Fixed the deadlock in `flush_all` by releasing `_lock` first."
    context = compact(
        [
            *command("a", 1, "cat pool.py", "def flush_all(self): self._lock.release()"),
            *command("a", 3, "pytest -q", "ran", code),
            happened("a", 5, "turn.agent", {"text": f"Summary:\n- {said}\n- Wrote a test."}),
        ]
    )
    proposed = [candidate.proposition for candidate in propose(context)]
    assert proposed == (["The deadlock in `flush_all` is fixed by releasing `_lock` first."] if kept else [])


@pytest.mark.parametrize(("code", "kept"), [(0, True), (1, False)])
def test_a_check_that_passes_after_the_change_shows_it_too(code: int, kept: bool) -> None:
    context = compact(
        [
            *command("a", 1, "cat dump.py", "def dump_all(rows): ...  # test_order"),
            happened(
                "a", 3, "turn.agent", {"text": "To fix the flaky `test_order`, we need to sort rows in `dump_all`."}
            ),
            *command("a", 4, "sed -i s/rows/sorted/ dump.py", ""),
            *command("a", 6, "pytest -q", "ran", code),
        ]
    )
    proposed = [candidate.proposition for candidate in propose(context)]
    assert proposed == (["Fixing the flaky `test_order` requires one to sort rows in `dump_all`."] if kept else [])
