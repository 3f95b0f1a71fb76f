"""A sidecar: recognised by content, paired by name, taken in the order of the chats, and never guessed."""

from __future__ import annotations

import io
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from activities.importers.recognise import SIDECAR, NotATranscript, recognise
from activities.importers.sidecar import Sidecar, is_sidecar, read_sidecar, sidecar_of, with_outcomes
from domain.extraction.reading import read
from domain.runs.transcript import Item, Limits, Refused, RunEnded
from tests.activities.importers.reading import imported, reader_of
from tests.activities.importers.test_examples import example
from tests.activities.importers.test_properties import json_values
from tests.activities.importers.test_sameness import said

HISTORY = example("aider.md")
TOLD: dict[str, Any] = orjson.loads(example("aider.json"))


def sidecar(told: Any = TOLD, file: str = "aider.json") -> Sidecar:
    found = read_sidecar(file, io.BytesIO(orjson.dumps(told)), Limits())
    assert isinstance(found, Sidecar), found
    return found


def endings(told: Any) -> list[tuple[str | None, str | None]]:
    items: list[Item] = list(with_outcomes(reader_of(HISTORY).read(io.BytesIO(HISTORY), Limits()), sidecar(told)))
    return [(item.outcome, item.reason) for item in items if isinstance(item, RunEnded)]


def test_the_outcome_of_each_chat_is_its_runs() -> None:
    alone, outcome = imported(HISTORY, "aider.md"), imported(HISTORY, "aider.md", sidecar=sidecar())
    first, second = outcome.closings
    assert (first.outcome, first.reason) == ("completed", "the task was resolved")
    assert second.outcome == "failed" and second.reason is not None
    assert second.reason == "not good in the end: the linter; Only 4 reflections allowed, stopping."
    assert first.result == TOLD["model_patch"]
    # the history says the same with and without it; the notes alone are new
    assert [document for document in said(outcome) if document in said(alone)] == said(alone)
    new = set(outcome.ids) - set(alone.ids)
    assert new == {event.key for event in outcome.notes("outcome")} and len(new) == 2
    assert outcome.notes("outcome")[0].data["record"]["of_all_results"]["resolved"] is True


def test_importing_with_the_sidecar_again_adds_nothing_and_its_name_does_not_matter() -> None:
    once = imported(HISTORY, "aider.md", sidecar=sidecar())
    renamed = imported(HISTORY, "aider.md", sidecar=sidecar(file="other.json"))
    assert once.ids == renamed.ids
    assert [event.origin_hash for event in once.events] == [event.origin_hash for event in renamed.events]


def test_a_sidecar_that_says_more_is_another_note() -> None:
    later = {**TOLD, "resolved": False}
    assert endings(later)[0] == ("failed", "the task was not resolved")
    notes = [imported(HISTORY, "aider.md", sidecar=sidecar(told)).notes("outcome") for told in (TOLD, later)]
    assert notes[0][0].event_id != notes[1][0].event_id and notes[0][1].event_id == notes[1][1].event_id


def test_results_that_are_not_the_chosen_one_are_judged_by_their_own_words() -> None:
    one, two = TOLD["all_results"]
    for judged, expected in (
        ({"edit_outcome": True, "lint_outcome": True, "test_outcome": True}, "completed"),
        ({"edit_outcome": True, "lint_outcome": True, "test_outcome": False}, "failed"),
        ({"edit_outcome": True, "lint_outcome": True, "test_outcome": None}, "budget_exhausted"),
        ({"edit_outcome": "yes", "lint_outcome": True, "test_outcome": True}, "budget_exhausted"),
    ):
        assert endings({**TOLD, "all_results": [one, {**two, **judged}]})[1][0] == expected


def test_a_sidecar_without_results_of_its_own_is_about_the_first_chat() -> None:
    told = {key: value for key, value in TOLD.items() if key != "all_results"}
    assert endings(told) == [
        ("completed", "the task was resolved"),
        ("budget_exhausted", "Only 4 reflections allowed, stopping."),
    ]


def test_a_result_of_another_model_is_not_taken() -> None:
    one, two = TOLD["all_results"]
    outcome = imported(HISTORY, "aider.md", sidecar=sidecar({**TOLD, "all_results": [two, one]}))
    assert [closing.outcome for closing in outcome.closings] == ["completed", "budget_exhausted"]
    assert [item.where for item in outcome.refused] == ["sidecar aider.json, result 0", "sidecar aider.json, result 1"]
    assert "about the model example-large and the chat is with example-small" in outcome.refused[0].reason
    assert not outcome.notes("outcome")


def test_more_results_than_chats_are_said() -> None:
    more = {**TOLD, "all_results": [*TOLD["all_results"], TOLD["all_results"][0]]}
    outcome = imported(HISTORY, "aider.md", sidecar=sidecar(more))
    assert [item.reason for item in outcome.refused] == [
        "it tells 3 results and the history holds 2 chats; the last 1 are not read"
    ]


def test_labels_of_a_sidecar_reach_no_extraction() -> None:
    one = {**TOLD["all_results"][0], "gold_files": ["LABEL.py"]}
    told = {**TOLD, "gold_files": ["LABEL.py"], "all_results": [one, TOLD["all_results"][1]]}
    outcome = imported(HISTORY, "aider.md", sidecar=sidecar(told))
    assert b"LABEL" in orjson.dumps([event.document() for event in outcome.notes("outcome")])
    seen = [body.text for reading in read(outcome.events) for body in reading.bodies]
    assert seen and not any("LABEL" in text for text in seen)


@pytest.mark.parametrize("told", [[], 7, {}, {"instance_id": "x"}])
def test_what_tells_no_outcome_is_refused_with_a_sentence(told: Any) -> None:
    found = read_sidecar("a\n.json", io.BytesIO(orjson.dumps(told)), Limits())
    assert isinstance(found, Refused) and "tells no outcome" in found.reason and found.where == "sidecar a?.json"


def test_a_cut_or_large_sidecar_is_refused_with_a_sentence() -> None:
    body = example("aider.json")
    cut = read_sidecar("a.json", io.BytesIO(body[:100]), Limits())
    assert isinstance(cut, Refused) and "not complete JSON" in cut.reason
    large = read_sidecar("a.json", io.BytesIO(body), Limits(max_document_bytes=50))
    assert isinstance(large, Refused) and "TEMPORALITY_MAX_DOCUMENT_BYTES" in large.reason


def test_sidecars_are_recognised_by_content_and_paired_by_name() -> None:
    body = example("aider.json")
    found = recognise(body)
    assert is_sidecar(body) and isinstance(found, NotATranscript) and found == NotATranscript(SIDECAR)
    long = {**TOLD, "model_name_or_path": "m", "model_patch": "x" * 100_000}
    head = orjson.dumps({key: long[key] for key in ("instance_id", "model_name_or_path", "model_patch")})[: 64 * 1024]
    assert is_sidecar(head)
    assert not is_sidecar(HISTORY) and not is_sidecar(b"{}") and not is_sidecar(orjson.dumps({"instance_id": "x"}))
    names = ["in/b.json", "in/a.md", "out/a.json", "in/a.json", "a.json"]
    assert sidecar_of("in/a.md", names) == "in/a.json" and sidecar_of("a.md", names) == "a.json"
    assert sidecar_of("in/c.md", names) is None and sidecar_of("in/a.json", names) is None
    assert sidecar_of("in/.aider.chat.history.md", ["in/.aider.chat.history.json"]) == "in/.aider.chat.history.json"


@given(st.dictionaries(st.sampled_from([*sorted(TOLD), "odd"]), json_values, max_size=8))
def test_a_sidecar_of_any_values_never_raises(changed: dict[str, Any]) -> None:
    try:
        body = orjson.dumps({**TOLD, **changed})
    except TypeError:
        return
    is_sidecar(body)
    found = read_sidecar("a.json", io.BytesIO(body), Limits())
    if isinstance(found, Sidecar):
        imported(HISTORY, "aider.md", sidecar=found)
