"""The rules provider on small runs: what is kept, what is dropped, on what evidence, and why."""

from __future__ import annotations

import pytest

from domain.extraction.context import ExtractionContext, compact
from domain.extraction.rules import MOST, Decision, KnownClaim, explain, propose
from domain.journal.event import Event
from tests.domain.extraction.journal import command, happened

SAID = "`load_csv` in `report.py` fails on Windows because it opens the file without `newline`."
SEEN = "report.py:4:def load_csv(path):\nopen(path)  # newline"


def run(*said: str, seen: str = SEEN, line: str = "grep -n load_csv report.py") -> ExtractionContext:
    """A run that looks at something (1, 2) and then says things (3, 4, ...)."""
    return compact([*command("a", 1, line, seen), *spoken(*said)])


def spoken(*said: str, kind: str = "turn.agent", first: int = 3) -> list[Event]:
    return [happened("a", number, kind, {"text": text}) for number, text in enumerate(said, first)]


def propositions(context: ExtractionContext, *existing: KnownClaim) -> list[str]:
    return [candidate.proposition for candidate in propose(context, existing)]


def dropped(context: ExtractionContext, sentence: str) -> Decision:
    (found,) = [decision for decision in explain(context) if decision.sentence == sentence and not decision.kept]
    return found


def test_a_grounded_cause_is_proposed_with_its_evidence_and_its_rule() -> None:
    (candidate,) = propose(run(SAID))
    assert candidate.proposition == SAID and candidate.kind == "claim" and candidate.rule == "incompatibility"
    assert [citation.event_id for citation in candidate.evidence] == ["a-2"] and candidate.provenance == "a-3"


def test_without_a_result_that_holds_every_name_there_is_no_claim() -> None:
    assert dropped(run(SAID, seen="report.py: def load_csv"), SAID).reason == "ungrounded"
    late = compact([*spoken(SAID, first=1), *command("a", 5, "grep -n load_csv report.py", SEEN)])
    assert dropped(late, SAID).reason == "ungrounded", "what nobody had seen yet is a guess"


def test_numbers_must_occur_too() -> None:
    said = "`load_csv` in `report.py` fails with 17 files because `newline` is missing."
    assert dropped(run(said), said).reason == "ungrounded"
    assert propositions(run(said, seen=f"{SEEN} 17")) == [said]


def test_what_was_asked_for_grounds_together_with_its_answer() -> None:
    context = run(SAID, seen="def load_csv(path):\nopen(path)  # newline", line="sed -n 1,9p report.py")
    (candidate,) = propose(context)
    assert [citation.event_id for citation in candidate.evidence] == ["a-1", "a-2"]


def test_what_the_agent_wrote_itself_grounds_nothing() -> None:
    assert propositions(run(SAID, line=f"echo '{SEEN}'")) == []
    told = compact(
        [
            happened("a", 1, "tool.started", {"tool": "Task", "arguments": {"prompt": "look"}}, operation_id="t"),
            happened("a", 2, "tool.completed", {"tool": "Task", "output": SEEN, "success": True}, operation_id="t"),
            *spoken(SAID),
        ]
    )
    assert propositions(told) == []


def test_a_guess_that_was_taken_back_is_dropped() -> None:
    context = run(SAID, "No, that was wrong: `load_csv` in `report.py` is fine with `newline`.")
    assert dropped(context, SAID).reason == "revised" and propose(context) == []


def test_a_conclusion_stands_over_the_same_words_on_the_way() -> None:
    context = compact(
        [
            *command("a", 1, "grep -n load_csv report.py", SEEN),
            *spoken(SAID),
            *command("a", 5, "date", "today"),
            *spoken(f"Root cause: {SAID}", first=8),
        ]
    )
    (candidate,) = propose(context)
    assert candidate.provenance == "a-8"
    assert dropped(context, SAID).reason == "said_already"


def test_a_weak_statement_on_the_way_is_not_enough() -> None:
    said = "`load_csv` in `report.py` never sets `newline`."
    on_the_way = compact(
        [
            *command("a", 1, "cat report.py", "def load_csv"),
            *command("a", 3, "cat x", "report.py newline"),
            happened("a", 5, "turn.thought", {"text": "`load_csv` always silently skips rows."}),
            *command("a", 6, "ls", "x"),
        ]
    )
    assert propose(on_the_way) == []
    assert propositions(run(said)) == [said], "the same kind of statement concludes a run"


def test_what_an_agent_only_thought_counts_too() -> None:
    context = compact([*command("a", 1, "grep -n load_csv report.py", SEEN), *spoken(SAID, kind="turn.thought")])
    assert propositions(context) == [SAID]


def test_a_guess_counts_once_it_was_seen_to_hold() -> None:
    guess = "`load_csv` in `report.py` does not set `newline`."
    shown = [*spoken(guess, first=1), *command("a", 3, "grep -n load_csv report.py", SEEN)]
    held = [*shown, happened("a", 6, "turn.agent", {"text": "The output confirms it, exactly as assumed."})]
    early = [shown[0], happened("a", 2, "turn.agent", {"text": "As expected, it is there."}), *shown[1:]]
    assert propositions(compact(held)) == [guess]
    assert propositions(compact(shown)) == [] == propositions(compact(early)), "nothing was seen before it was said"


def test_what_follows_is_said_with_what_it_follows_from() -> None:
    context = run("`load_csv` in `report.py` ignores `newline`. So every row of `path` is read twice.")
    (proposed,) = propositions(context)
    assert proposed == "`load_csv` in `report.py` ignores `newline`, so every row of `path` is read twice."


def test_what_nothing_grounds_is_cut_off_where_it_hangs_at_the_end() -> None:
    said = "`load_csv` in `report.py` ignores `newline`, so all 1999 rows of `ledger_old` are lost."
    assert propositions(run(said)) == ["`load_csv` in `report.py` ignores `newline`."]
    assert propositions(run("`load_csv` ignores `ledger_old` with 1999 rows.")) == []


def test_code_without_a_name_is_named_by_the_file_that_was_looked_at() -> None:
    said = "We are at `load_csv` in `report.py`. The current implementation ignores `newline` when it reads."
    (proposed,) = propositions(run(said))
    assert proposed == "The implementation in `report.py` (`load_csv`) ignores `newline` when it reads."
    assert propositions(run(said, seen="def load_csv(path): newline", line="ls")) == [], "the file was not shown"


def test_a_plain_word_takes_nothing_back() -> None:
    said = "The `text` and `path` of `load_csv` in `report.py` are ignored because of `newline`."
    seen = f"{SEEN} text"
    assert propositions(run(said, "The path to the text is wrong.", seen=seen)) == [said]
    assert propositions(run(said, "`load_csv` is wrong about `path` and `newline`.", seen=seen)) == []


def test_hints_are_not_extracted_and_ground_nothing() -> None:
    hinted = f"<temporality-hints>{SAID}</temporality-hints>"
    events = [happened("a", 0, "turn.user", {"text": hinted}), *command("a", 1, "grep -n load_csv report.py", SEEN)]
    repeated = compact([*events, *spoken(SAID)])
    assert dropped(repeated, SAID).reason == "from_hint"
    assert propositions(compact(events)) == []
    marked = compact([*events[1:], happened("a", 9, "turn.agent", {"text": SAID, "hint": True})])
    assert propose(marked) == []
    only = compact(
        [happened("a", 0, "turn.user", {"text": f"<temporality-hints>{SEEN}</temporality-hints>"}), *spoken(SAID)]
    )
    assert propose(only) == []


def test_users_are_believed_on_decisions_and_constraints_only() -> None:
    rule = "`ledger.money` must never import `ledger.report`."
    symptom = "`load_csv` in `report.py` breaks everything because of `newline`."
    events = [*command("a", 1, "ls", SEEN), *spoken(rule, symptom, kind="turn.user"), *spoken("OK.", first=9)]
    (candidate,) = propose(compact(events))
    assert candidate.proposition == rule and [item.event_id for item in candidate.evidence] == ["a-3"]
    assert dropped(compact(events), symptom).reason == "user_request"
    long = "word " * 500 + rule
    assert propose(compact(spoken(long, kind="turn.user"))) == []


def test_a_known_claim_lends_its_wording() -> None:
    known = KnownClaim("claim/v1/x", SAID.replace("it opens the file", "the file is opened"))
    same = KnownClaim("claim/v1/y", SAID.replace("it opens the file", "it opens a file"))
    assert propositions(run(SAID), known) == [SAID]
    assert propositions(run(SAID), known, same) == [same.proposition]


def test_the_strongest_come_first_and_not_too_many() -> None:
    names = [f"load_{letter}" for letter in "abcdefgh"]
    said = [f"`{name}` in `report.py` never returns `None`." for name in names]
    context = run("\n\n".join(said), seen=" ".join([*names, "report.py", "None"]))
    kept = propositions(context)
    assert kept == said[:MOST]
    assert dropped(context, said[-1]).reason == "over_most"
    strong = "Root cause: `load_h` in `report.py` fails with `None` because of `load_a`."
    assert propositions(run("\n\n".join([*said, strong]), seen=" ".join([*names, "report.py", "None"])))[0] in strong


@pytest.mark.parametrize(
    "said",
    [
        ("I'll read `report.py`.", "Done: `load_csv` in `report.py` uses `newline` now, and all tests pass."),
        ("Let me check `load_csv`.", "The file `report.py` is fine.", "Great, everything works because of `newline`!"),
        ("",),
        ("```\nload_csv fails because of newline in report.py\n```",),
    ],
)
def test_a_trivial_run_gives_nothing(said: tuple[str, ...]) -> None:
    assert propose(run(*said)) == []


def test_the_same_context_gives_the_same_decisions() -> None:
    context = run(SAID, "`load_csv` must not be called without `newline` in `report.py`.")
    again = ExtractionContext.model_validate_json(context.model_dump_json())
    assert explain(context) == explain(again)
