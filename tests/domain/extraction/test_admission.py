"""Admission: given what the journal holds, when an extractor answers, then these events and these counts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.approvals.ids import approval_id
from domain.contracts.errors import ExtractionRefused
from domain.extraction.admission import CAP, admit
from domain.extraction.candidate import Candidate, Citation
from domain.extraction.context import HintGiven, compact
from domain.extraction.events import Invalid
from domain.journal.event import Event
from domain.journal.rows import WorkingSet
from domain.knowledge.normalise import claim_identity, normalise_claim
from domain.knowledge.state import NODES
from domain.runs.events import body_hash
from tests.domain.extraction.journal import AT, DEADLINE, Journal, claim, command, happened, request_for

SAID = "`round(x, 2)` in `money.py` rounds half a cent down."
OUTPUT = "one\nmoney.py:15:    return round(x, 2)\nlast"
CLAIM = claim_identity("p", SAID)


def run(name: str, output: str = OUTPUT) -> list[Event]:
    """A run that looks at the code (1, 2), is told something (3) and says something (4)."""
    return [
        *command(name, 1, "grep -n round money.py", output),
        happened(name, 3, "turn.user", {"text": f"Amounts of {name} must be in `EUR_CENTS`."}),
        happened(name, 4, "turn.agent", {"text": f"Found: {SAID}"}),
    ]


def given_runs(*names: str, **outputs: str) -> Journal:
    journal = Journal()
    for name in names:
        journal.append(run(name, outputs.get(name, f"{OUTPUT} of {name}")))
    return journal


def completed(events: tuple[Event, ...]) -> Any:
    assert events[-1].type == "knowledge.extraction.completed"
    return events[-1].data


def kinds(events: tuple[Event, ...]) -> list[str]:
    return [event.type for event in events]


def found(name: str = "a", proposition: str = SAID) -> Candidate:
    return claim(proposition, f"{name}-2", provenance=f"{name}-4")


def test_a_new_claim_is_proposed_with_spans_and_asks_for_an_approval() -> None:
    journal = given_runs("a")
    proposed, asked, ended = journal.admit(request_for(journal, "a", found()))
    assert proposed.type == "knowledge.proposed" and proposed.data["knowledge"] == CLAIM
    assert (proposed.actor, proposed.data["producer"], proposed.data["producer_version"]) == (
        "system:temporality:extractor",
        "knowledge-extractor",
        "v1",
    )
    assert proposed.caused_by == ("a-2", "a-4") and proposed.data["provenance"] == "a-4"
    (cited,) = proposed.evidence
    output = f"{OUTPUT} of a"
    span = cited["span"]
    assert output[span["start"] : span["end"]] == cited["quote"] == "money.py:15:    return round(x, 2)"
    assert span["field"] == "output" and cited["type"] == "command_result" and cited["run"] == "a"
    assert cited["content_hash"] == body_hash(output)
    assert asked.type == "approval.requested" and asked.caused_by == (proposed.event_id,)
    assert asked.data["proposed_action"] == {
        "kind": "knowledge.confirm",
        "target": CLAIM,
        "arguments": {"proposition": SAID},
    }
    assert (asked.data["criticality"], asked.data["proposed_by_run"]) == ("routine", "a")
    assert asked.data["deadline"] == DEADLINE.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    assert ended.data["candidates"] == [CLAIM] and ended.data["approvals"] == [asked.data["approval"]]
    assert journal.node(CLAIM).state == "proposed"


def test_an_independent_run_confirms_and_a_third_one_uses() -> None:
    journal = given_runs("a", "b", "c")
    journal.admit(request_for(journal, "a", found("a")))
    again = journal.admit(request_for(journal, "b", found("b", SAID.lower().rstrip(".") + " ")))
    assert kinds(again) == ["knowledge.confirmed", "knowledge.extraction.completed"]
    assert (completed(again)["strengthened"], completed(again)["confirmed"]) == (1, 1)
    third = journal.admit(request_for(journal, "c", found("c")))
    assert kinds(third)[0] == "knowledge.used" and completed(third)["used"] == 1
    node = journal.node(CLAIM)
    assert (node.state, node.confirmations, node.uses) == ("confirmed", 1, 1)


def test_the_same_bytes_in_another_run_strengthen_once_and_never_confirm() -> None:
    journal = given_runs("a", "b", a=OUTPUT, b=OUTPUT)
    journal.admit(request_for(journal, "a", found("a")))
    again = journal.admit(request_for(journal, "b", found("b")))
    assert kinds(again)[0] == "knowledge.proposed" and completed(again)["strengthened"] == 1
    assert completed(again)["confirmed"] == 0 and journal.node(CLAIM).state == "proposed"
    third = journal.admit(request_for(journal, "b", found("b"), trajectory="a longer copy"))
    assert kinds(third) == ["knowledge.extraction.completed"] and completed(third)["duplicates_skipped"] == 1


@pytest.mark.parametrize("more", [{"trajectory": "a longer copy"}, {"extractor": "knowledge-extractor.v2"}, {"n": 2}])
def test_the_same_run_read_again_is_a_duplicate(more: dict[str, Any]) -> None:
    journal = given_runs("a")
    journal.admit(request_for(journal, "a", found()))
    again = journal.admit(request_for(journal, "a", found(), **more))
    assert kinds(again) == ["knowledge.extraction.completed"]
    assert completed(again)["duplicates_skipped"] == 1 and completed(again)["candidates_count"] == 1


def test_new_evidence_of_the_same_run_strengthens_and_asks_nobody() -> None:
    journal = given_runs("a")
    journal.admit(request_for(journal, "a", found()))
    journal.append(command("a", 5, "sed -n 1,20p money.py", "def f(x):\n    return round(x, 2)  # money.py"))
    more = claim(SAID, "a-2", "a-6", provenance="a-4")
    again = journal.admit(request_for(journal, "a", more, trajectory="longer"))
    assert kinds(again) == ["knowledge.proposed", "knowledge.extraction.completed"]
    assert (completed(again)["proposed"], completed(again)["strengthened"], completed(again)["confirmed"]) == (0, 1, 0)


def test_output_in_which_nothing_of_the_claim_occurs_makes_nothing_independent() -> None:
    journal = given_runs("a", "b", a=OUTPUT, b=OUTPUT)
    journal.append(command("b", 5, "date", "Sunday, and never the same twice"))
    journal.admit(request_for(journal, "a", found("a")))
    again = journal.admit(request_for(journal, "b", claim(SAID, "b-2", "b-6", provenance="b-4")))
    assert completed(again)["confirmed"] == 0 and journal.node(CLAIM).state == "proposed"


def test_an_observation_is_confirmed_by_another_execution_whatever_it_printed() -> None:
    journal = given_runs("a", "b", "c", a=OUTPUT, b=OUTPUT, c=OUTPUT)
    seen = "`money.py` holds `round(x, 2)`."
    journal.admit(request_for(journal, "a", claim(seen, "a-2", kind="observation")))
    again = journal.admit(request_for(journal, "b", claim(seen, "b-2", kind="observation")))
    assert kinds(again)[0] == "knowledge.confirmed" and again[0].data["basis"] == "execution-reverification.v1"
    longer = journal.admit(request_for(journal, "b", claim(seen, "b-2", kind="observation"), trajectory="longer"))
    assert completed(longer)["duplicates_skipped"] == 1, "a longer copy holds no new execution"
    third = journal.admit(request_for(journal, "c", claim(seen, "c-2", kind="observation")))
    assert kinds(third)[0] == "knowledge.used"


def invalid_of(journal: Journal, candidate: Candidate, **more: Any) -> Any:
    answer = journal.admit(request_for(journal, "a", candidate, **more))
    assert kinds(answer) == ["knowledge.extraction.completed"]
    (listed,) = completed(answer)["invalid"]
    assert completed(answer)["invalid_skipped"] == 1 and listed["proposition"]
    return listed


@pytest.mark.parametrize(
    ("candidate", "code", "says"),
    [
        (claim(SAID), "no_evidence", "cites no"),
        (claim(SAID, "a-4", provenance="a-4"), "no_evidence", "cites no"),
        (claim(SAID, "a-4"), "no_evidence", "cites no"),
        (claim(SAID, "a-1"), "no_evidence", "cites no"),
        (claim(SAID, "a-2", "nowhere"), "unknown_evidence", "nowhere"),
        (claim(SAID, "b-2"), "unknown_evidence", "b-2"),
        (claim("`floor(x)` in `money.py` rounds down.", "a-2"), "ungrounded", "floor(x)"),
        (claim("`money.py` rounds 17 times.", "a-2"), "ungrounded", "17"),
        (claim(" \u200b ", "a-2"), "invalid_candidate", "nothing"),
    ],
)
def test_what_is_not_admitted_is_listed_with_its_reason(candidate: Candidate, code: str, says: str) -> None:
    listed = invalid_of(given_runs("a", "b"), candidate)
    assert listed["reason_code"] == code and says in listed["reason"]


def test_a_quote_must_occur_and_is_where_the_span_points() -> None:
    journal = given_runs("a")
    cited = [Citation(event_id="a-2", quote="return round(x, 2)")]
    wrong = [Citation(event_id="a-2", quote="return floor(x)")]
    candidate = Candidate(kind="claim", proposition=SAID, evidence=cited)
    listed = invalid_of(journal, candidate.model_copy(update={"evidence": wrong}))
    assert listed["reason_code"] == "ungrounded" and "return floor(x)" in listed["reason"]
    proposed, *_ = journal.admit(request_for(journal, "a", candidate, n=2))
    assert proposed.evidence[0]["quote"] == "return round(x, 2)"
    assert proposed.evidence[0]["span"] == {"field": "output", "start": 20, "end": 38}


def test_a_users_statement_is_evidence_even_of_itself() -> None:
    journal = given_runs("a")
    stated = claim("Amounts of a must be in `EUR_CENTS`.", "a-3", provenance="a-3")
    proposed, *_ = journal.admit(request_for(journal, "a", stated))
    assert proposed.evidence[0]["type"] == "user_statement" and proposed.evidence[0]["span"]["field"] == "text"


def test_a_call_grounds_only_together_with_its_result() -> None:
    journal = Journal()
    journal.append(command("a", 1, "sed -n 15p money.py", "    return round(x, 2)"))
    journal.append(command("a", 3, "cat other.py", "nothing"))
    alone = claim(SAID, "a-4", "a-1", provenance="a-9")
    assert invalid_of(journal, alone)["reason_code"] == "ungrounded"
    proposed, *_ = journal.admit(request_for(journal, "a", claim(SAID, "a-1", "a-2"), n=2))
    assert [item["type"] for item in proposed.evidence] == ["tool_call", "command_result"]
    assert proposed.evidence[0]["span"]["field"] == "command"


def test_hints_are_never_extracted_nor_evidence() -> None:
    journal = given_runs("a")
    told = happened("a", 7, "turn.user", {"text": f"x <temporality-hints>{SAID}</temporality-hints> y"})
    journal.append([told, happened("a", 8, "turn.user", {"text": SAID, "hint": True})])
    assert invalid_of(journal, claim(SAID, "a-7"))["reason_code"] == "ungrounded"
    assert invalid_of(journal, claim(SAID, "a-2", "a-8"), n=2)["reason_code"] == "from_hint"
    hints = compact(journal.of_run("a")).hints
    assert invalid_of(journal, claim(SAID, "a-2"), n=3, hints=hints)["reason_code"] == "from_hint"
    named = (HintGiven(event_id="h", knowledge=CLAIM),)
    assert invalid_of(journal, claim(SAID, "a-2"), n=4, hints=named)["reason_code"] == "from_hint"


def test_the_cap_cuts_with_its_reason() -> None:
    journal = given_runs("a")
    many = [claim(f"`money.py` rounds, said {word}", "a-2") for word in "abcdefghi"]
    answer = journal.admit(request_for(journal, "a", *many))
    data = completed(answer)
    assert (data["candidates_count"], data["proposed"], data["invalid_skipped"]) == (9, CAP, 2)
    assert {item["reason_code"] for item in data["invalid"]} == {"over_cap"}


def test_two_candidates_of_one_identity_merge_their_evidence() -> None:
    journal = given_runs("a")
    journal.append(command("a", 5, "cat money.py", "money.py\nreturn round(x, 2)"))
    answer = journal.admit(
        request_for(journal, "a", claim(SAID, "a-2"), claim(SAID.replace("rounds", "Rounds"), "a-6"))
    )
    assert kinds(answer) == ["knowledge.proposed", "approval.requested", "knowledge.extraction.completed"]
    assert [item["ref"] for item in answer[0].evidence] == ["a-2", "a-6"]
    assert completed(answer)["duplicates_skipped"] == 1


def ended(journal: Journal, knowledge: str, kind: str = "knowledge.invalidated") -> None:
    data = {"knowledge": knowledge, "producer": "operator", "producer_version": "1", "reason_code": "rejected"}
    moved = Event("p", "ops", f"end {knowledge}", kind, AT, data, actor="human:x:y", caused_by=("z",))
    journal.append([moved])


def test_a_rejected_claim_returns_only_with_new_evidence_as_a_new_generation() -> None:
    journal = given_runs("a", "b", "c", a=OUTPUT, b=OUTPUT)
    journal.admit(request_for(journal, "a", found("a")))
    ended(journal, CLAIM)
    same = journal.admit(request_for(journal, "b", found("b")))
    assert kinds(same) == ["knowledge.extraction.completed"] and completed(same)["duplicates_skipped"] == 1
    fresh = journal.admit(request_for(journal, "c", found("c")))
    second = claim_identity("p", SAID, 1)
    assert fresh[0].data["knowledge"] == second and fresh[0].data["generation"] == 1
    assert fresh[0].data["earlier"] == CLAIM and "invalidated" in fresh[0].data["earlier_decision"]
    assert fresh[1].type == "approval.requested"
    ended(journal, second)
    both = journal.admit(request_for(journal, "c", found("c"), n=2))
    assert completed(both)["duplicates_skipped"] == 1, "neither generation may come back with what either had"


@pytest.mark.parametrize("kind", ["knowledge.corrected", "knowledge.superseded", "knowledge.disproved"])
def test_every_ended_node_stays_ended(kind: str) -> None:
    journal = given_runs("a", "b")
    journal.admit(request_for(journal, "a", found("a")))
    ended(journal, CLAIM, kind)
    before = journal.node(CLAIM)
    journal.admit(request_for(journal, "b", found("b")))
    assert journal.node(CLAIM) == before


def test_a_forgotten_claim_stays_hidden() -> None:
    journal = given_runs("a", "b")
    journal.admit(request_for(journal, "a", found("a")))
    data = {"knowledge": CLAIM, "producer": "operator", "producer_version": "1"}
    journal.append([Event("p", "ops", "f", "knowledge.forgotten", AT, data, actor="human:x:y", caused_by=("z",))])
    answer = journal.admit(request_for(journal, "b", found("b")))
    assert completed(answer)["duplicates_skipped"] == 1 and journal.node(CLAIM).forgotten


def test_one_id_never_holds_two_propositions() -> None:
    journal = given_runs("a", "b")
    journal.admit(request_for(journal, "a", found("a")))
    other = replace(journal.node(CLAIM), proposition="Something else.")
    journal.store[(NODES, (CLAIM,))] = other
    answer = journal.admit(request_for(journal, "b", found("b")))
    assert completed(answer)["invalid"][0]["reason_code"] == "identity_conflict"


@pytest.mark.parametrize(
    ("kind", "proposition"),
    [
        ("observation", "`pytest -q` passes with 6 tests."),
        ("observation", "Команда `pytest -q` успешно завершилась с кодом 0"),
        ("claim", "`pytest -q` passes."),
    ],
)
def test_what_the_kernel_observed_is_not_told_again(kind: str, proposition: str) -> None:
    journal = Journal()
    journal.append(command("a", 1, "pytest -q", "6 passed, exit code 0"))
    assert [event.data["kind"] for event in journal.events if event.type == "knowledge.proposed"] == ["observation"]
    answer = journal.admit(request_for(journal, "a", claim(proposition, "a-1", "a-2", kind=kind)))
    assert kinds(answer) == ["knowledge.extraction.completed"] and completed(answer)["duplicates_skipped"] == 1


def test_a_claim_about_a_check_that_says_more_is_a_claim() -> None:
    journal = Journal()
    journal.append(command("a", 1, "pytest -q", "6 passed in 4 s, `slow` deselected"))
    answer = journal.admit(
        request_for(journal, "a", claim("`pytest -q` passes only because `slow` is left out.", "a-1", "a-2"))
    )
    assert completed(answer)["proposed"] == 1


def test_an_attempt_is_answered_once_and_must_have_started() -> None:
    journal = given_runs("a")
    request = request_for(journal, "a", found())
    assert journal.admit(request)
    assert journal.admit(request) == ()
    never = replace(request, attempt=replace(request.attempt, n=9))
    with pytest.raises(ExtractionRefused, match="no started event"):
        journal.admit(never)


def test_invalid_output_of_a_model_changes_nothing_and_is_counted() -> None:
    journal = given_runs("a")
    broken = Invalid(reason_code="not_json", reason="the answer is not JSON", proposition="{")
    answer = journal.admit(request_for(journal, "a", invalid=(broken,)))
    assert kinds(answer) == ["knowledge.extraction.completed"]
    assert (completed(answer)["candidates_count"], completed(answer)["invalid_skipped"]) == (1, 1)


def test_admitting_is_a_pure_function_of_rows_and_request() -> None:
    journal = given_runs("a", "b")
    journal.admit(request_for(journal, "a", found("a")))
    request = request_for(journal, "b", found("b"), claim("`money.py` is about `round(x, 2)` only.", "b-2"))
    first = admit(WorkingSet(written=dict(journal.store), closed=True), request)
    second = admit(WorkingSet(written=dict(journal.store), closed=True), request)
    assert [event.document() for event in first] == [event.document() for event in second]
    assert len({event.key for event in first}) == len(first)


def test_approval_ids_have_the_envelopes_form() -> None:
    one, other = approval_id("e", "k"), approval_id("e", "l")
    assert one == approval_id("e", "k") != other
    assert one.startswith("node_") and len(one) == 31 and one[5] in "01234567"
    assert set(one[5:]) <= set("0123456789ABCDEFGHJKMNPQRSTVWXYZ")


TEXTS = st.sampled_from([SAID, SAID.upper(), "`money.py` is read.", "`nowhere.py` is read.", "`floor(x)`", "a", " "])
CITED = st.lists(st.sampled_from(["a-1", "a-2", "a-3", "a-4", "b-2", "none"]), max_size=3)


@given(candidates=st.lists(st.tuples(TEXTS, CITED), max_size=10), broken=st.integers(0, 2), before=st.booleans())
def test_what_comes_in_is_accounted_for(candidates: list[tuple[str, list[str]]], broken: int, before: bool) -> None:
    journal = given_runs("a", "b")
    if before:
        journal.admit(request_for(journal, "b", found("b")))
    lost = tuple(Invalid(reason_code="not_json", reason="r", proposition="p") for _ in range(broken))
    request = request_for(journal, "a", *(claim(text, *cited) for text, cited in candidates), invalid=lost)
    answer = journal.admit(request)
    data = completed(answer)
    parts = ("proposed", "strengthened", "challenged", "duplicates_skipped", "invalid_skipped")
    assert data["candidates_count"] == sum(data[part] for part in parts) == len(candidates) + broken
    assert data["strengthened"] >= data["confirmed"] + data["used"] and data["challenged"] == data["aged"] == 0
    assert len(data["candidates"]) == len(data["approvals"]) == data["proposed"]
    for event in answer:
        for item in event.evidence if event.type == "knowledge.proposed" else ():
            assert normalise_claim(event.data["proposition"]) and item["ref"] in {"a-1", "a-2", "a-3", "a-4"}
