"""The event envelope `temporality.event/1`: what happened, said once and never changed.

`Event` is the value folds work on; `EventModel` is the same shape at the door, where it is validated and published as
JSON Schema. Only the canonical document is hashed; what the journal adds (seq, times of receipt, hashes) stays outside it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

SCHEMA = "temporality.event/1"
TimeBasis = Literal["source", "assumed_utc", "order_only"]
Json = Any


@dataclass(frozen=True, slots=True)
class Event:
    """One immutable fact. Identity is (project, source, event_id); `occurred_at` is aware and in UTC.

    `origin_hash` (hex) is what the producer said before normalising and redacting; it is kept by the journal beside the
    document, so that a newer importer or a newer redaction rule is never a conflict.
    """

    project: str
    source: str
    event_id: str
    type: str
    occurred_at: datetime
    data: Mapping[str, Json]
    time_basis: TimeBasis = "source"
    type_version: int = 1
    integration: str = "temporality"
    version: str = "1"
    run: str | None = None
    task: str | None = None
    frame: str | None = None
    parent_frame: str | None = None
    sequence: int | None = None
    workspace: str | None = None
    # written `type:issuer:id`
    actor: str | None = None
    parent_event_id: str | None = None
    operation_id: str | None = None
    evidence: tuple[Mapping[str, Json], ...] = ()
    caused_by: tuple[str, ...] = ()
    origin_hash: str = field(default="", compare=False)

    @property
    def key(self) -> tuple[str, str]:
        """Identity within the project."""
        return (self.source, self.event_id)

    def document(self) -> dict[str, Json]:
        """The canonical document as plain JSON values; absent fields are left out."""
        context: dict[str, Json] = {"project": self.project}
        for name in _CONTEXT:
            value = getattr(self, name)
            if value is not None:
                context[name] = value
        if self.actor is not None:
            context["actor"] = {"id": self.actor, "type": self.actor.partition(":")[0]}
        document: dict[str, Json] = {
            "schema": SCHEMA,
            "event_id": self.event_id,
            "occurred_at": stamp(self.occurred_at),
            "time_basis": self.time_basis,
            "source": {"id": self.source, "integration": self.integration, "version": self.version},
            "context": context,
            "type": self.type,
            "data": self.data,
        }
        if self.type_version != 1:
            document["type_version"] = self.type_version
        if self.evidence:
            document["evidence"] = list(self.evidence)
        if self.caused_by:
            document["caused_by"] = list(self.caused_by)
        return document

    @staticmethod
    def from_document(document: Mapping[str, Json], origin_hash: str = "") -> Event:
        """The event of a stored document; trusts it, because only valid documents are stored."""
        context, source = document["context"], document["source"]
        actor = context.get("actor")
        return Event(
            project=context["project"],
            source=source["id"],
            event_id=document["event_id"],
            type=document["type"],
            occurred_at=datetime.fromisoformat(document["occurred_at"]),
            data=document["data"],
            time_basis=document["time_basis"],
            type_version=document.get("type_version", 1),
            integration=source["integration"],
            version=source["version"],
            actor=actor["id"] if actor else None,
            evidence=tuple(document.get("evidence", ())),
            caused_by=tuple(document.get("caused_by", ())),
            origin_hash=origin_hash,
            # named one by one: a rebuild reads every event there is
            run=context.get("run"),
            task=context.get("task"),
            frame=context.get("frame"),
            parent_frame=context.get("parent_frame"),
            sequence=context.get("sequence"),
            workspace=context.get("workspace"),
            parent_event_id=context.get("parent_event_id"),
            operation_id=context.get("operation_id"),
        )


_CONTEXT = ("run", "task", "frame", "parent_frame", "sequence", "workspace", "parent_event_id", "operation_id")


def stamp(at: datetime) -> str:
    """RFC 3339 in UTC with six digits of a second: one spelling for one instant."""
    if at.tzinfo is None:
        raise ValueError("a time without zone cannot be stamped; give it a zone first")
    return f"{at.astimezone(UTC).isoformat(timespec='microseconds')[:-6]}Z"


MAX_ID_BYTES = 1_024
"""Of an id, as UTF-8: the database's indexes hold no longer one."""


def id_refusal(event: Event) -> str | None:
    """Why one of the event's ids can be no id: it is too long, or holds what no column keeps (U+0000, half a surrogate pair)."""
    for name, value in (
        ("source.id", event.source), ("event_id", event.event_id), ("context.run", event.run), ("context.task", event.task),
        ("context.frame", event.frame), ("context.operation_id", event.operation_id),
    ):  # fmt: skip
        if value is None or (value.isascii() and len(value) <= MAX_ID_BYTES and "\x00" not in value):
            continue
        size = len(value.encode("utf-8", "replace"))
        if size > MAX_ID_BYTES:
            return f"{name}: it takes {size} bytes and {MAX_ID_BYTES} are allowed; send a shorter one, e.g. its hash"
        if "\x00" in value:
            return f"{name}: it holds U+0000, which no id may; send it without"
        if not encodable(value):
            return f"{name}: it holds half a surrogate pair, which no id may; send it without"
    return None


def encodable(value: str) -> bool:
    """Whether UTF-8 can carry the text: it holds no lone surrogate."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class SourceModel(_Strict):
    """Who wrote the event down: a source id (for imports: format and run), the integration and its version."""

    id: str = Field(min_length=1, max_length=512)
    integration: str = Field(default="sdk", max_length=128)
    version: str = Field(default="1", max_length=64)


class ActorModel(_Strict):
    """Who acted: an issuer-scoped opaque id `type:issuer:id`, and its type again for readers."""

    id: str = Field(pattern=r"^(human|agent|system|service):[^:\s]+:\S+$", max_length=256)
    type: Literal["human", "agent", "system", "service"]


class ContextModel(_Strict):
    """Where it happened. `project` is filled in from the run the event is recorded to."""

    project: str
    run: str | None = None
    task: str | None = Field(default=None, max_length=512)
    frame: str | None = Field(default=None, max_length=512)
    parent_frame: str | None = Field(default=None, max_length=512)
    sequence: int | None = Field(default=None, ge=0, le=2**53)
    workspace: str | None = Field(default=None, max_length=4096)
    actor: ActorModel | None = None
    parent_event_id: str | None = Field(default=None, max_length=512)
    operation_id: str | None = Field(default=None, max_length=512)


class SpanModel(_Strict):
    """Characters [start, end) of the text at `field` of the cited event's data (e.g. `output`, `text`)."""

    field: str
    start: int = Field(ge=0)
    end: int = Field(ge=0)


class EvidenceModel(_Strict):
    """A citation: the cited event's id, what kind of evidence it is, where in it, and the hash of the cited content."""

    ref: str
    type: str
    span: SpanModel | None = None
    content_hash: str | None = None
    quote: str | None = None
    run: str | None = None
    artifact: str | None = None
    observed_at: str | None = None


class EventModel(_Strict):
    """`temporality.event/1` as it is validated at the door and published as JSON Schema (DESIGN section 5)."""

    schema_: Literal["temporality.event/1"] = Field(default=SCHEMA, alias="schema")
    event_id: str = Field(min_length=1, max_length=512)
    occurred_at: AwareDatetime
    time_basis: TimeBasis = "source"
    source: SourceModel
    context: ContextModel
    type: str = Field(pattern=r"^[a-z0-9_]+(\.[a-z0-9_]+)*$", max_length=128)
    type_version: int = Field(default=1, ge=1)
    data: dict[str, Json] = Field(default_factory=dict)
    evidence: tuple[EvidenceModel, ...] = ()
    caused_by: tuple[str, ...] = ()

    def to_event(self, origin_hash: str = "") -> Event:
        """The same as the value folds work on."""
        context = self.context
        return Event(
            project=context.project,
            source=self.source.id,
            event_id=self.event_id,
            type=self.type,
            occurred_at=self.occurred_at.astimezone(UTC),
            data=self.data,
            time_basis=self.time_basis,
            type_version=self.type_version,
            integration=self.source.integration,
            version=self.source.version,
            actor=context.actor.id if context.actor else None,
            evidence=tuple(item.model_dump(exclude_none=True) for item in self.evidence),
            caused_by=self.caused_by,
            origin_hash=origin_hash,
            **{name: getattr(context, name) for name in _CONTEXT},
        )
