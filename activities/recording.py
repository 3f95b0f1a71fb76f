"""`journal.record` and `journal.close_run`: what an observed run hands in becomes events, each answered for itself.

Producers may write only what happened; what is wrong with one event refuses that event and no other.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson
from pydantic import ValidationError

from activities import runs
from activities.implements import implements
from activities.postgres.journal import Journal, Receipt
from activities.sealing import Sealer
from domain.contracts.ids import digest_id
from domain.contracts.observed_run import CompleteAnswer, EventAnswer, RecordAnswer
from domain.extraction.versions import EXTRACTED, EXTRACTOR
from domain.journal.canonical import NotAdmitted
from domain.journal.event import Event, EventModel, stamp
from domain.journal.rows import WorkingSet
from domain.ports.recording import CLOSE_RUN, RECORD_EVENTS, CloseRequest, RecordRequest, RunOpening
from domain.projections.batch import prepare
from domain.projections.catalogue import CATALOGUE
from domain.runs.state import RUNS, Run

_RESERVED = "temporality/"
_HEX = frozenset("0123456789abcdef")


@dataclass(frozen=True, slots=True)
class _Refused:
    event_id: str | None
    reason: str


class Recording:
    """The activities of observed runs. `origin_key` is the installation's key for hashes of what producers said."""

    def __init__(self, journal: Journal, sealer: Sealer, origin_key: bytes) -> None:
        self._journal = journal
        self._sealer = sealer
        self._key = origin_key

    @implements(RECORD_EVENTS)
    async def record(self, request: RecordRequest) -> RecordAnswer:
        """Append the batch; the answer is given only when it is durable, and says for each event what became of it."""
        read = [self._read(request, raw) for raw in request.events]
        sealed = {index: await self._sealer.seal(event) for index, event in enumerate(read) if isinstance(event, Event)}
        for index, event in list(sealed.items()):
            try:
                prepare(event)
            except (NotAdmitted, ValueError) as error:
                read[index] = _Refused(event.event_id, str(error))
                del sealed[index]
        receipt = await self._append(request.opening, list(sealed.values()))
        return _answer(read, list(sealed), receipt)

    @implements(CLOSE_RUN)
    async def close_run(self, request: CloseRequest) -> CompleteAnswer:
        """Close the run where it stands; asked again, it answers with the ending that was recorded first."""
        opening, complete = request.opening, request.complete
        await self._append(opening, [])
        result = complete.result if isinstance(complete.result, str | None) else complete.result.model_dump()
        told = await self._sealer.seal(
            Event(opening.project, runs.SOURCE, "-", "run.closed", request.at, {"reason": complete.reason, "result": result})
        )
        closed = await runs.close(
            self._journal,
            runs.Closing(
                opening.project, opening.run, request.at, complete.outcome, told.data["reason"], told.data["result"]
            ),
        )
        return CompleteAnswer.model_validate(
            {
                "run": opening.run,
                "outcome": closed.outcome,
                "trajectory": closed.trajectory,
                "extractor": EXTRACTOR if closed.outcome in EXTRACTED else None,
            }
        )

    async def _append(self, opening: RunOpening, events: Sequence[Event]) -> Receipt:
        def decide(rows: WorkingSet, late: bool) -> Sequence[Event]:
            known = rows.get(RUNS, Run, opening.run)
            return events if known is not None else (opened(opening), *events)

        receipt = await self._journal.transact(opening.project, decide, size=len(events) + 1)
        written = tuple(item for item in receipt.written if item.event.event_id != opened_id(opening))
        return Receipt(written, receipt.caused, receipt.head)

    def _read(self, request: RecordRequest, raw: Any) -> Event | _Refused:
        if not isinstance(raw, dict):
            found = "null" if raw is None else type(raw).__name__
            return _Refused(None, f"an event is a JSON object, not {found}; see docs/contracts/EventModel.json")
        told: dict[str, Any] = dict(raw)  # pyright: ignore[reportUnknownArgumentType]
        origin = told.pop("origin_hash", None)
        shown = told.get("event_id")
        event_id = shown if isinstance(shown, str) else None
        try:
            model = EventModel.model_validate(_completed(told, request.opening, request.at))
        except ValidationError as error:
            return _Refused(event_id, _sentence(error))
        event = model.to_event(origin if _is_origin(origin) else self._origin_of(told))
        reason = _place_refusal(event, request.opening) or CATALOGUE.refusal(event, producer=True)
        return _Refused(event_id, reason) if reason else event

    def _origin_of(self, told: dict[str, Any]) -> str:
        body = orjson.dumps(told, default=str, option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS)
        return hmac.new(self._key, body, hashlib.sha256).hexdigest()




def opened_id(opening: RunOpening) -> str:
    return digest_id("run.opened", opening.run)


def opened(opening: RunOpening) -> Event:
    """`run.opened` of an observed run: once, with its first batch."""
    told = {"title": opening.title, "agent": opening.agent, "format": "observed"}
    return Event(
        project=opening.project,
        source=f"observed/{opening.run}",
        event_id=opened_id(opening),
        type="run.opened",
        occurred_at=opening.at,
        data={key: value for key, value in told.items() if value is not None},
        integration="sdk",
        run=opening.run,
        task=opening.task,
        workspace=opening.workspace,
    )


def _completed(told: dict[str, Any], opening: RunOpening, at: datetime) -> dict[str, Any]:
    """The envelope with what may be left out filled in: schema, source, project, run, task, workspace, time."""
    context = told.get("context", {})
    if isinstance(context, dict):
        defaults = {"project": opening.project, "run": opening.run, "task": opening.task, "workspace": opening.workspace}
        given: dict[str, Any] = dict(context)  # pyright: ignore[reportUnknownArgumentType]
        context = {key: value for key, value in defaults.items() if value is not None} | given
    full = {"source": {"id": f"observed/{opening.run}"}, **told, "context": context}
    if "occurred_at" not in full:
        full |= {"occurred_at": stamp(at), "time_basis": "order_only"}
    return full


def _place_refusal(event: Event, opening: RunOpening) -> str | None:
    """Why the event does not belong into this batch: another project or run, a reserved source, a character no id may hold."""
    if event.project != opening.project or event.run != opening.run:
        return f"it names project `{event.project}` and run `{event.run}`; this is run `{opening.run}` of `{opening.project}`"
    if event.source.startswith(_RESERVED):
        return f"the source `{event.source[:80]}` is reserved for the system; name your own"
    if event.type in ("run.opened", "run.closed"):
        return f"`{event.type}` is written by the system: start the run, and end it with `complete`"
    named = (event.event_id, event.source, event.task, event.frame, event.parent_frame, event.operation_id, event.workspace)
    if any(value and "\x00" in value for value in named):
        return "an id in it holds U+0000, which no id may; send it without"
    return None


def _is_origin(value: Any) -> bool:
    return isinstance(value, str) and len(value) == 64 and _HEX.issuperset(value)


def _sentence(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_input=False)[0]
    where = ".".join(str(part) for part in first["loc"]) or "event"
    return f"{where}: {first['msg']}; see docs/contracts/EventModel.json"


def _answer(read: Sequence[Event | _Refused], places: Sequence[int], receipt: Receipt) -> RecordAnswer:
    answers: dict[int, EventAnswer] = {}
    for index, item in zip(places, receipt.written, strict=True):
        reason = None
        if item.status == "conflict":
            reason = f"event {item.event.event_id} of this source is recorded as {item.seq} with other content; give it its own id"
        status = "refused" if item.status == "conflict" else item.status
        answers[index] = EventAnswer(index=index, event_id=item.event.event_id, status=status, seq=item.seq, reason=reason)
    for index, event in enumerate(read):
        if isinstance(event, _Refused):
            answers[index] = EventAnswer(index=index, event_id=event.event_id, status="refused", reason=event.reason)
    ordered = [answers[index] for index in range(len(read))]
    counts = {status: sum(a.status == status for a in ordered) for status in ("recorded", "duplicate", "refused")}
    return RecordAnswer(
        recorded=counts["recorded"], duplicates=counts["duplicate"], refused=counts["refused"], events=ordered
    )
