"""What a reader is shown of one thing: values only, joined from rows and events by ids.

Every citation leads to its event and, where it names one, to the characters it quotes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from domain.approvals.state import Approval
from domain.extraction.state import Extraction
from domain.retrieval.query import Authorization, Known
from domain.retrieval.spans import Excerpt
from domain.runs.state import Frame, Operation, Run, Task


@dataclass(frozen=True, slots=True)
class Citation:
    """A piece of evidence with the event it names. `excerpt` is None where the event is not in this journal."""

    id: str
    type: str
    event: str
    event_type: str | None
    seq: int | None
    source_uri: str
    run: str | None
    operation: str | None
    command: str | None
    observed_at: datetime
    content_hash: str | None
    artifact: str | None
    cited_by: str
    excerpt: Excerpt | None


@dataclass(frozen=True, slots=True)
class Transition:
    """An event that moved a node: what it did, by whom and why."""

    seq: int
    transition: str
    at: datetime
    event: str
    actor: str | None
    run: str | None
    reason: str | None


@dataclass(frozen=True, slots=True)
class Relation:
    """An explicit relation and the event that says so."""

    source: str
    relation: str
    target: str
    event: str


@dataclass(frozen=True, slots=True)
class KnowledgeView:
    """A node with everything it stands on and everything that became of it."""

    knowledge: Known
    evidence: tuple[Citation, ...]
    transitions: tuple[Transition, ...]
    relations: tuple[Relation, ...]
    approvals: tuple[Approval, ...]


@dataclass(frozen=True, slots=True)
class Waiting:
    """A candidate that waits for a decision. `overdue`: its deadline passed and nobody wrote that down yet."""

    approval: Approval
    knowledge: Known
    evidence: tuple[Citation, ...]
    overdue: bool


@dataclass(frozen=True, slots=True)
class Moved:
    """What an event did to a node, beside the node as it is now."""

    event: str
    transition: str
    knowledge: Known


@dataclass(frozen=True, slots=True)
class EventLine:
    """An event in a list: `says` is its first words."""

    seq: int
    event: str
    type: str
    at: datetime
    operation: str | None
    says: str


@dataclass(frozen=True, slots=True)
class EventView:
    """An event as it is stored, its place in the chain, and what it did to knowledge."""

    authorization: Authorization
    seq: int
    received_at: datetime
    origin_hash: str
    content_hash: str
    prev_hash: str
    hash: str
    document: Mapping[str, Any]
    moved: tuple[Moved, ...]


@dataclass(frozen=True, slots=True)
class RunView:
    """A run with its frames, the operations that failed or never ended, its extractions and the knowledge it moved."""

    authorization: Authorization
    run: Run
    frames: tuple[Frame, ...]
    operations: tuple[Operation, ...]
    extractions: tuple[Extraction, ...]
    moved: tuple[Moved, ...]


@dataclass(frozen=True, slots=True)
class FrameView:
    """A frame with its inner frames and its events in order."""

    authorization: Authorization
    frame: Frame
    inner: tuple[Frame, ...]
    events: tuple[EventLine, ...]


@dataclass(frozen=True, slots=True)
class TaskView:
    """A task with its runs."""

    authorization: Authorization
    task: Task
    runs: tuple[Run, ...]


@dataclass(frozen=True, slots=True)
class Counts:
    """What a project holds; forgotten knowledge is not counted by state."""

    authorization: Authorization
    events: int
    runs: int
    operations: int
    extractions: Mapping[str, int]
    knowledge: Mapping[str, int]
    approvals: Mapping[str, int]
