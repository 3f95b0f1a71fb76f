"""What may be asked of knowledge and what comes back: scope first, then state, then the words that chose each item.

Every answer says who was let in to which project and why; default reads hide what ended and what was forgotten (spec/1,
Retrieval).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from domain.contracts.errors import MalformedMessage, NotPermitted
from domain.contracts.ids import INSTALLATION, encode_id
from domain.knowledge.state import TERMINAL, Node

LIVE: tuple[str, ...] = ("proposed", "confirmed", "challenged")
"""The states a read shows unless it asks for others."""
STATES: tuple[str, ...] = (*LIVE, *sorted(TERMINAL))
MAX_LIMIT = 200
MAX_TEXT = 8_000
LOCAL = "system:temporality:local"
"""Who asks where nobody is named: whoever holds the application's role of this installation."""


@dataclass(frozen=True, slots=True)
class Authorization:
    """The decision that let a read in: `principal` may read `project`, and nothing else was opened for it."""

    principal: str
    project: str
    decision: str
    basis: str


def authorize(principal: str, project: str) -> Authorization:
    """The decision for one project, whose id is given back encoded.

    Raises `NotPermitted` for the reserved scope, `MalformedId` for a name that is none. A caller who holds the
    application's role is granted the one project it names; row-level security then shows only its rows (law 16).
    """
    if project == INSTALLATION:
        raise NotPermitted(f"`{INSTALLATION}` is the installation's own scope; name a project")
    return Authorization(
        principal, encode_id(project, "project"), "granted", "holds the application's role and named the project"
    )


@dataclass(frozen=True, slots=True)
class Query:
    """A bounded question. `states` may name ended ones; forgotten knowledge is never found, whatever is asked for."""

    project: str
    text: str
    states: tuple[str, ...] = LIVE
    kinds: tuple[str, ...] = ("claim", "observation")
    limit: int = 10
    principal: str = LOCAL

    def __post_init__(self) -> None:
        if not 1 <= self.limit <= MAX_LIMIT:
            raise MalformedMessage(f"the limit is {self.limit}; ask for 1 to {MAX_LIMIT} items")
        if len(self.text) > MAX_TEXT:
            raise MalformedMessage(f"the text has {len(self.text)} characters; {MAX_TEXT} at most, so ask for less")
        if wrong := set(self.states) - set(STATES):
            raise MalformedMessage(f"`{min(wrong)}` is no state; the states are {', '.join(STATES)}")


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where a node comes from and what it stands on: counts of runs, confirmations and uses, never a score."""

    origin_run: str | None
    runs: tuple[str, ...]
    producer: str
    producer_version: str
    written_in: str | None
    confirmations: int
    uses: int
    challenges: int
    evidence: int


@dataclass(frozen=True, slots=True)
class Known:
    """A node as every read shows it. `reason` says why it was challenged or ended."""

    project: str
    id: str
    proposition: str
    kind: str
    state: str
    valid_from: datetime
    valid_to: datetime | None
    updated_at: datetime
    workspace: str | None
    generation: int
    provenance: Provenance
    reason_code: str | None
    reason: str | None
    replaced_by: str | None
    earlier: str | None
    forgotten: bool
    authorization: Authorization


@dataclass(frozen=True, slots=True)
class Matched:
    """A word that chose an item: its weight in this project (thousandths of a bit) and its part of the item's score."""

    term: str
    weight: int
    occurrences: int
    score: int


@dataclass(frozen=True, slots=True)
class Item:
    """One item of an answer: the node, its place in the order, and every word that chose it."""

    rank: int
    score: int
    terms: tuple[Matched, ...]
    knowledge: Known


@dataclass(frozen=True, slots=True)
class Answer:
    """min(limit, matching) items. `searched` nodes passed scope and state, `matching` of them hold one of the words.

    `common` words occur in almost everything here and chose nothing (unless there was no other); `unknown` ones occur
    nowhere.
    """

    authorization: Authorization
    text: str
    states: tuple[str, ...]
    searched: int
    matching: int
    items: tuple[Item, ...]
    common: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    note: str | None = None


def known(node: Node, evidence: int, authorization: Authorization) -> Known:
    """The node as a read shows it to whom `authorization` let in."""
    provenance = Provenance(
        origin_run=node.origin_run, runs=node.runs, producer=node.producer, producer_version=node.producer_version,
        written_in=node.provenance, confirmations=node.confirmations, uses=node.uses, challenges=node.challenges,
        evidence=evidence,
    )  # fmt: skip
    return Known(
        project=node.project_id, id=node.knowledge_id, proposition=node.proposition, kind=node.kind, state=node.state,
        valid_from=node.valid_from, valid_to=node.valid_to, updated_at=node.updated_at, workspace=node.workspace,
        generation=node.generation, provenance=provenance, reason_code=node.reason_code, reason=node.reason,
        replaced_by=node.replaced_by, earlier=node.earlier, forgotten=node.forgotten, authorization=authorization,
    )  # fmt: skip


def plain(text: str) -> str:
    """`text` as a projection can hold it: U+FFFD for U+0000, `?` for a lone surrogate."""
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode("utf-8")


def distinct(words: Iterable[str], most: int = 64) -> tuple[str, ...]:
    """The words of a question, each once, in the order they stand; beyond `most` they are left out."""
    return tuple(dict.fromkeys(words))[:most]
