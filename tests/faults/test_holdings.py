"""The comparison itself: an event lost, doubled, changed or moved, and a row that counts otherwise, are each told."""

from dataclasses import replace
from typing import Any

import pytest

from tests.faults.aliases import Aliases
from tests.faults.holdings import Holdings, Told, differences

RUN = "iron-1"


def told(seq: int, event_id: str, source: str = "observed/iron-1", text: str = "") -> Told:
    return Told(seq, source, event_id, "turn.user", RUN, {"data": {"text": text}}, f"hash of {event_id} {text}")


def home(*events: Told, uses: int = 1) -> Holdings:
    return Holdings(events, {"knowledge_nodes": {("claim/1",): {"state": "confirmed", "uses": uses}}}, Aliases(()))


CALM = home(told(1, "a"), told(2, "b"), told(3, "c"))


def test_the_same_at_other_places_is_the_same() -> None:
    assert differences(CALM, home(told(1, "a"), told(4, "b"), told(9, "c"))) == []


@pytest.mark.parametrize(
    ("killed", "sentence"),
    [
        (home(told(1, "a"), told(2, "b")), "lost: turn.user c"),
        (home(*CALM.events, told(4, "d")), "too much: turn.user d"),
        (home(*CALM.events, told(4, "c")), "two events of one project and source have the same id"),
        (home(told(1, "a"), told(2, "c"), told(3, "b")), "another order of what happened in iron-1"),
        (home(told(1, "a"), told(2, "b"), told(3, "c", text="x")), "another content hash: turn.user c"),
        (home(*CALM.events, uses=2), "knowledge_nodes ('claim/1',): uses is 2, undisturbed 1"),
    ],
)
def test_what_a_kill_could_do_is_told(killed: Holdings, sentence: str) -> None:
    assert sentence in differences(CALM, killed)


def test_a_row_lost_or_too_much_is_told() -> None:
    none = replace(CALM, tables={"knowledge_nodes": {}})
    assert differences(CALM, none) == ["knowledge_nodes: the row ('claim/1',) is missing"]
    assert differences(none, CALM) == ["knowledge_nodes: the row ('claim/1',) is too much"]


def document(kind: str, event_id: str, source: str = "temporality/extraction", **data: Any) -> dict[str, Any]:
    return {"type": kind, "event_id": event_id, "source": {"id": source}, "context": {"run": RUN}, "data": data}


def closed_and_extracted(trajectory: str, extraction: str, events: list[str]) -> list[dict[str, Any]]:
    named = {"trajectory": trajectory, "extraction": extraction}
    return [
        document("run.closed", events[0], "temporality/run", trajectory=trajectory),
        document("knowledge.extraction.started", events[1], **named),
        document("knowledge.used", events[2], knowledge="claim/1"),
        document("knowledge.used", events[3], knowledge="claim/1"),
    ]


def test_ids_that_hang_on_a_clock_have_the_same_names_on_two_days() -> None:
    days = [Aliases(closed_and_extracted(day * 64, day * 32, [f"{day}{n}" * 16 for n in range(4)])) for day in "ab"]
    said = [
        names.of(f"{day * 64} {day * 32} {f'{day}2' * 16} {f'{day}3' * 16}")
        for names, day in zip(days, "ab", strict=True)
    ]
    assert said[0] == said[1]
    assert said[0].count("trajectory of iron-1 #1") == 2 and "#2" in said[0]
    assert days[0].of("c" * 64) == "c" * 64


def test_what_a_producer_named_keeps_its_name() -> None:
    assert Aliases([document("turn.user", "e" * 32, "observed/iron-1")]).of("e" * 32) == "e" * 32
