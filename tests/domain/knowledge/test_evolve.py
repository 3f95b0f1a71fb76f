"""The state of a node is a fold of its events: terminal states never resurrect, whatever comes after (law 8)."""

from datetime import timedelta
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from domain.journal.event import Event
from domain.knowledge.evolve import evidence_of, evolve
from domain.knowledge.state import TERMINAL, Node
from tests.support.events import NOON, knows, proposed

WORDS: dict[str, dict[str, Any]] = {
    "confirmed": {"basis": "operator"},
    "used": {"basis": "execution-reuse.v1"},
    "challenged": {"reason_code": "doubt", "reason": "why"},
    "corrected": {"reason_code": "edited", "replaced_by": "k2"},
    "superseded": {"reason_code": "superseded", "replaced_by": "k3"},
    "invalidated": {"reason_code": "rejected"},
    "disproved": {"reason_code": "disproved"},
    "forgotten": {},
    "restored": {},
    "linked": {"relation": "supports", "to": "other"},
    "at_risk": {"dependency": "other"},
    "at_risk_cleared": {"dependency": "other"},
}
ENDINGS = {
    "corrected": "corrected",
    "superseded": "superseded",
    "invalidated": "invalidated",
    "disproved": "invalidated",
}


def moved(kind: str, key: int = 0) -> Event:
    return knows("p", kind, "k", str(key), data=WORDS[kind], occurred_at=NOON + timedelta(minutes=key))


def after(*events: Event) -> Node:
    node: Node | None = None
    for at, event in enumerate(events, 1):
        node = evolve(node, event, at)
    assert node is not None
    return node


moves = st.lists(st.sampled_from(sorted(WORDS)), max_size=12)


@given(moves, st.sampled_from(sorted(ENDINGS)), moves)
def test_terminal_states_never_resurrect(before: list[str], ending: str, later: list[str]) -> None:
    events = [proposed("p", "k"), *(moved(kind, key) for key, kind in enumerate([*before, ending], 1))]
    ended = after(*events)
    assert ended.state in TERMINAL
    again = after(*events, *(moved(kind, 100 + key) for key, kind in enumerate(later)), proposed("p", "k", "again"))
    kept = ("state", "valid_to", "reason_code", "reason", "replaced_by", "confirmations", "challenges", "proposition")
    assert [getattr(again, name) for name in kept] == [getattr(ended, name) for name in kept]


@given(moves)
def test_the_state_is_the_last_move_that_counts(kinds: list[str]) -> None:
    node = after(proposed("p", "k"), *(moved(kind, key) for key, kind in enumerate(kinds, 1)))
    expected = "proposed"
    for kind in kinds:
        if expected in TERMINAL:
            break
        expected = ENDINGS.get(kind, kind if kind in ("confirmed", "challenged") else expected)
    assert node.state == expected
    assert node.uses == kinds.count("used")
    assert node.version == len(kinds) + 1
    assert node.forgotten == (
        next((kind for kind in reversed(kinds) if kind in ("forgotten", "restored")), "") == "forgotten"
    )
    assert (node.valid_to is not None) == (node.state in TERMINAL)


@given(moves)
def test_nothing_moves_what_was_never_proposed(kinds: list[str]) -> None:
    node: Node | None = None
    for at, kind in enumerate(kinds, 1):
        node = evolve(node, moved(kind, at), at)
    assert node is None


def cited(*hashes: str, run: str = "r1") -> tuple[dict[str, str], ...]:
    return tuple({"ref": f"e-{name}", "type": "tool_result", "content_hash": name, "run": run} for name in hashes)


def test_what_is_cited_grows_by_proposing_and_confirming_and_its_runs_by_using_too() -> None:
    node = after(
        proposed("p", "k", evidence=cited("b", "a")),
        proposed("p", "k", "2", evidence=cited("c", run="r2")),
        knows("p", "used", "k", "3", data=WORDS["used"], evidence=cited("d", run="r3")),
        knows("p", "confirmed", "k", "4", data=WORDS["confirmed"], evidence=cited("e", run="r4")),
    )
    assert (node.cited, node.runs) == (("a", "b", "c", "e"), ("r1", "r2", "r3", "r4"))


def test_a_confirmed_challenge_leaves_no_reason_behind() -> None:
    assert after(proposed("p", "k"), moved("challenged", 1)).reason == "why"
    assert after(proposed("p", "k"), moved("challenged", 1), moved("confirmed", 2)).reason is None


def test_an_interval_never_ends_before_it_began() -> None:
    early = knows("p", "invalidated", "k", "1", data=WORDS["invalidated"], occurred_at=NOON - timedelta(days=9))
    node = after(proposed("p", "k"), early)
    assert node.valid_to == node.valid_from


def test_the_same_place_cited_again_is_the_same_evidence() -> None:
    span = {"field": "output", "start": 3, "end": 9}
    item = {"ref": "e", "type": "tool_result", "span": span, "content_hash": "a", "run": "r1"}
    first = evidence_of(proposed("p", "k", evidence=(item,)), 1)
    again = evidence_of(knows("p", "confirmed", "k", "2", data=WORDS["confirmed"], evidence=(item,)), 2)
    elsewhere = evidence_of(proposed("p", "k", evidence=({**item, "span": {**span, "start": 4}},)), 3)
    assert first[0].evidence_id == again[0].evidence_id != elsewhere[0].evidence_id
    assert (first[0].span_start, first[0].event_ref, first[0].source_uri) == (3, "e", "temporality://p/event/e")
