"""Who may write which event: one of each family producers may not write is refused, and no payload holds a truth score."""

from typing import Any

import pytest
from pydantic import BaseModel

from domain.journal.catalogue import GUARDED_FAMILIES, PRODUCER_FAMILIES, Catalogue, EventType, Payload
from domain.journal.event import Event
from domain.projections.catalogue import CATALOGUE
from tests.support.events import happened, knows, proposed

GUARDED = {
    "knowledge.proposed", "knowledge.extraction.completed", "entity.created", "relation.asserted", "correction.made", "hypothesis.made",
    "prediction.made", "node.created", "section.written", "approval.requested", "ingest.import_started", "proposal.made",
    "rollup.done", "graduation.gated", "promotion.made", "access.principal_named", "case.opened", "audit.planned", "flag.raised",
    "budget.spent", "migration.begun", "operator_action",
}  # fmt: skip


def test_one_of_each_guarded_family_is_here() -> None:
    assert {kind.partition(".")[0] for kind in GUARDED} == GUARDED_FAMILIES
    assert not GUARDED_FAMILIES & PRODUCER_FAMILIES


@pytest.mark.parametrize("kind", sorted(GUARDED))
def test_a_producer_may_not_write_it(kind: str) -> None:
    refusal = CATALOGUE.refusal(happened("p", "a", kind, data={}), producer=True)
    assert refusal is not None
    assert f"`{kind}` is written by domain commands only" in refusal


@pytest.mark.parametrize("family", sorted(GUARDED_FAMILIES))
def test_an_unknown_type_of_a_guarded_family_is_refused_to_everybody(family: str) -> None:
    refusal = CATALOGUE.refusal(happened("p", "a", f"{family}.never_heard_of"), producer=False)
    assert refusal == f"`{family}.never_heard_of` is not a known type of the guarded family `{family}`"


def test_an_unknown_type_of_another_family_is_kept() -> None:
    assert CATALOGUE.refusal(happened("p", "a", "weather.changed", data={"to": "rain"}), producer=True) is None


@pytest.mark.parametrize(
    ("event", "says"),
    [
        (happened("p", "a", "tool.started", data={}), "the data of `tool.started` is not valid: tool: Field required"),
        (
            happened("p", "a", "tool.completed", data={"exit_code": "nine"}),
            "exit_code: Input should be a valid integer",
        ),
        (
            happened("p", "a", "hint.outcome", data={"knowledge": "k", "outcome": "great"}),
            "outcome: Input should be 'helpful'",
        ),
        (
            happened("p", "a", "turn.user", type_version=9),
            "version 9 is newer than this installation knows (1); upgrade it",
        ),
        (proposed("p", "k", data={"truth": 1}), "truth: Extra inputs are not permitted"),
        (
            knows("p", "confirmed", "k", "1", data={"basis": "operator"}, caused_by=()),
            "must name its actor and the events that caused it",
        ),
        (knows("p", "confirmed", "k", "1", data={"basis": "operator"}, actor=None), "must name its actor"),
        (
            knows("p", "confirmed", "k", "1", data={"basis": "operator", "producer": None}),
            "producer: Input should be a valid string",
        ),
    ],
)
def test_what_is_wrong_is_said(event: Event, says: str) -> None:
    assert says in (CATALOGUE.refusal(event, producer=not event.type.startswith("knowledge.")) or "")


SCORES = ("confidence", "score", "probability", "likelihood", "certainty", "truth", "belief")
INFORMATION = {("knowledge.proposed", "confidence")}
"""Extractor output as information; no fold reads it (DESIGN section 8)."""


def fields_of(model: type[BaseModel]) -> set[str]:
    names = set(model.model_fields)
    for field in model.model_fields.values():
        for part in (field.annotation, *getattr(field.annotation, "__args__", ())):
            if isinstance(part, type) and issubclass(part, BaseModel):
                names |= fields_of(part)
    return names


def test_no_payload_scores_truth() -> None:
    scored = {
        (kind.name, name)
        for kind in CATALOGUE
        for name in fields_of(kind.payload)
        if any(word in name for word in SCORES)
    }
    assert scored == INFORMATION


def test_no_declared_field_is_a_float() -> None:
    floats = [
        (kind.name, name)
        for kind in CATALOGUE
        for name, field in kind.payload.model_fields.items()
        if field.annotation is float
    ]
    assert floats == []


def test_upcasters_run_in_order_and_leave_the_event_alone() -> None:
    class Third(Payload):
        c: int

    steps: dict[int, Any] = {1: lambda data: {"b": data["a"] + 1}, 2: lambda data: {"c": data["b"] * 10}}
    catalogue = Catalogue([EventType("x.y", Third, 3, steps)])
    first = happened("p", "a", "x.y", data={"a": 1})
    second = happened("p", "a", "x.y", data={"b": 5}, type_version=2)
    assert catalogue.current(first).data == {"c": 20}
    assert catalogue.current(second).data == {"c": 50}
    assert first.data == {"a": 1}
    assert catalogue.refusal(first, producer=False) is None


def test_a_type_is_registered_once() -> None:
    with pytest.raises(ValueError, match="registered twice"):
        Catalogue([EventType("x.y", Payload), EventType("x.y", Payload)])
