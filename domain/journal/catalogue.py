"""The catalogue of event types: payload model, version, and who may write the type.

Producers (`record`, importers) may write only what happened; every other family is written by domain commands and refused at the door.
Unknown types of the guarded families are refused; unknown other types are kept and counted (DESIGN section 5).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from domain.journal.event import Event

PRODUCER_FAMILIES = frozenset(
    {"run", "frame", "task", "turn", "model", "tool", "mcp", "delegation", "context", "hint", "source"}
)
GUARDED_FAMILIES = frozenset(
    {
        "knowledge", "entity", "relation", "correction", "hypothesis", "prediction", "node", "section", "approval",
        "ingest", "proposal", "rollup", "graduation", "promotion", "access", "case", "audit", "flag", "budget",
        "migration", "operator_action",
    }
)  # fmt: skip

Upcaster = Callable[[Mapping[str, Any]], Mapping[str, Any]]


class Payload(BaseModel):
    """Data of a domain event: nothing beyond the declared fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Happened(BaseModel):
    """Data of a what-happened event: declared fields are typed, a producer's other fields are kept."""

    model_config = ConfigDict(frozen=True, extra="allow")


@dataclass(frozen=True, slots=True)
class EventType:
    """One registered type. `upcasters[v]` turns data of version v into version v + 1."""

    name: str
    payload: type[BaseModel]
    version: int = 1
    upcasters: Mapping[int, Upcaster] = field(default_factory=dict[int, Upcaster])

    @property
    def family(self) -> str:
        return self.name.partition(".")[0]


class Catalogue:
    """All registered types by name."""

    def __init__(self, types: Iterable[EventType]) -> None:
        self._types: dict[str, EventType] = {}
        for kind in types:
            if kind.name in self._types:
                raise ValueError(f"the event type {kind.name} is registered twice")
            self._types[kind.name] = kind

    def __iter__(self) -> Iterator[EventType]:
        return iter(self._types.values())

    def get(self, name: str) -> EventType | None:
        return self._types.get(name)

    def refusal(self, event: Event, *, producer: bool) -> str | None:
        """Why the event may not be written, as one sentence; None when it may."""
        family = event.type.partition(".")[0]
        kind = self._types.get(event.type)
        if producer and (family not in PRODUCER_FAMILIES):
            if family in GUARDED_FAMILIES:
                return f"`{event.type}` is written by domain commands only; a producer may write {', '.join(sorted(PRODUCER_FAMILIES))}"
            return None
        if kind is None:
            return (
                f"`{event.type}` is not a known type of the guarded family `{family}`"
                if family in GUARDED_FAMILIES
                else None
            )
        if event.type_version > kind.version:
            return f"`{event.type}` version {event.type_version} is newer than this installation knows ({kind.version}); upgrade it"
        try:
            kind.payload.model_validate(self._current(kind, event.type_version, event.data))
        except ValidationError as error:
            return f"the data of `{event.type}` is not valid: {_sentence(error)}"
        if (
            family == "knowledge"
            and not event.type.startswith("knowledge.extraction.")
            and not (event.actor and event.caused_by)
        ):
            return f"`{event.type}` must name its actor and the events that caused it"
        return None

    def current(self, event: Event) -> Event:
        """The event with its data as the current version of its type reads it; stored bytes never change."""
        kind = self._types.get(event.type)
        if kind is None or kind.version == event.type_version:
            return event
        return replace(event, data=self._current(kind, event.type_version, event.data))

    @staticmethod
    def _current(kind: EventType, version: int, data: Mapping[str, Any]) -> Mapping[str, Any]:
        for step in range(version, kind.version):
            data = kind.upcasters[step](data)
        return data


def _sentence(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_input=False)[0]
    where = ".".join(str(part) for part in first["loc"]) or "data"
    more = f" (and {error.error_count() - 1} more)" if error.error_count() > 1 else ""
    return f"{where}: {first['msg']}{more}"
