"""`journal.record` and `journal.close_run`: what an observed run hands in becomes events, each answered for itself.

Producers may write only what happened; what is wrong with one event refuses that event and no other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from pydantic import ValidationError

from activities import runs
from activities.implements import implements
from activities.postgres.journal import Journal, Receipt
from activities.sealing import Sealer
from domain.contracts.ids import digest_id
from domain.contracts.observed_run import CompleteAnswer, EventAnswer, RecordAnswer
from domain.contracts.origin import ORIGIN_HASH, origin_hash
from domain.contracts.payloads import Artifact, is_object
from domain.extraction.versions import EXTRACTED, EXTRACTOR
from domain.journal.canonical import NotAdmitted, admit, text
from domain.journal.event import Event, EventModel, encodable, id_refusal, stamp
from domain.journal.rows import WorkingSet
from domain.ports.recording import CLOSE_RUN, RECORD_EVENTS, CloseRequest, RecordRequest, RunOpening
from domain.projections.batch import Prepared, prepare
from domain.projections.catalogue import CATALOGUE
from domain.runs.state import RUNS, Run

MAX_SHOWN = 120
"""Characters of what a producer sent that an answer repeats."""
_RESERVED = "temporality/"
_SCHEMA = "docs/contracts/Event.json"
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
        ready: dict[int, Prepared] = {}
        for index, event in enumerate(read):
            if isinstance(event, Event):
                prepared = await self._prepared(event)
                if isinstance(prepared, _Refused):
                    read[index] = prepared
                else:
                    ready[index] = prepared
        receipt = await self._append(request.opening, list(ready.values()))
        return _answer(read, list(ready), receipt)

    async def _prepared(self, event: Event) -> Prepared | _Refused:
        sealed = await self._sealer.seal(event)
        try:
            return prepare(sealed)
        except NotAdmitted as error:
            return _Refused(event.event_id, str(error))

    @implements(CLOSE_RUN)
    async def close_run(self, request: CloseRequest) -> CompleteAnswer:
        """Close the run where it stands; asked again, it answers with the ending that was recorded first."""
        opening, complete = request.opening, request.complete
        await self._append(opening, [])
        result = complete.result.model_dump() if isinstance(complete.result, Artifact) else complete.result
        told = await self._sealer.seal(
            Event(
                opening.project,
                runs.SOURCE,
                "-",
                "run.closed",
                request.at,
                {"reason": complete.reason, "result": result},
            )
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

    async def _append(self, opening: RunOpening, prepared: Sequence[Prepared]) -> Receipt:
        first = await self._sealer.seal(opened(opening))
        events = [item.event for item in prepared]

        def decide(rows: WorkingSet, late: bool) -> Sequence[Event]:
            known = rows.get(RUNS, Run, opening.run)
            return events if known is not None else (first, *events)

        receipt = await self._journal.transact(opening.project, decide, size=len(events) + 1, prepared=prepared)
        return replace(receipt, written=receipt.written[len(receipt.written) - len(events) :])

    def _read(self, request: RecordRequest, raw: Any) -> Event | _Refused:
        """The event that `raw` is, or why it is none that may be kept."""
        if not is_object(raw):
            found = "null" if raw is None else type(raw).__name__
            return _Refused(None, f"an event is a JSON object, not {found}; see {_SCHEMA}")
        shown = raw.get("event_id")
        event_id = text(shown[:MAX_SHOWN]) if isinstance(shown, str) else None
        if (torn := _torn_id(raw)) is not None:
            return _Refused(event_id, f"{torn}: it holds half a surrogate pair, which no id may; send it without")
        try:
            admitted = admit(raw)
            origin = admitted.pop(ORIGIN_HASH, None)
            model = EventModel.model_validate(_completed(admitted, request.opening, request.at))
            event = model.to_event(origin if _is_origin(origin) else self._origin_of(raw))
        except NotAdmitted as error:
            return _Refused(event_id, str(error))
        except ValidationError as error:
            return _Refused(event_id, _sentence(error))
        except OverflowError:
            return _Refused(
                event_id, "occurred_at: in UTC it lies outside the years 1 to 9999; send the time it happened"
            )
        reason = _place_refusal(event, request.opening) or id_refusal(event) or CATALOGUE.refusal(event, producer=True)
        return _Refused(event_id, reason) if reason else event

    def _origin_of(self, raw: dict[str, Any]) -> str:
        """The hash of what arrived; a hash that came with it and is none is no part of that."""
        return origin_hash(self._key, {key: value for key, value in raw.items() if key != ORIGIN_HASH})


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
    if is_object(context):
        defaults = {
            "project": opening.project,
            "run": opening.run,
            "task": opening.task,
            "workspace": opening.workspace,
        }
        context = {key: value for key, value in defaults.items() if value is not None} | context
    full = {"source": {"id": f"observed/{opening.run}"}, **told, "context": context}
    if "occurred_at" not in full:
        full |= {"occurred_at": stamp(at), "time_basis": "order_only"}
    return full


def _place_refusal(event: Event, opening: RunOpening) -> str | None:
    """Why the event does not belong into this batch: another project or run, a reserved source, the system's own types."""
    if event.project != opening.project or event.run != opening.run:
        project, run = event.project[:MAX_SHOWN], (event.run or "none")[:MAX_SHOWN]
        return f"it names project `{project}` and run `{run}`; this is run `{opening.run}` of `{opening.project}`"
    if event.source.startswith(_RESERVED):
        return f"the source `{event.source[:MAX_SHOWN]}` is reserved for the system; name your own"
    if event.type in ("run.opened", "run.closed"):
        return f"`{event.type}` is written by the system: start the run, and end it with `complete`"
    return None


def _torn_id(raw: dict[str, Any]) -> str | None:
    """Which id of the envelope UTF-8 cannot carry: in a text a half pair is replaced, but two ids must never become one."""
    source, context = raw.get("source"), raw.get("context")
    ids = {"event_id": raw.get("event_id")}
    if is_object(source):
        ids["source.id"] = source.get("id")
    if is_object(context):
        ids |= {f"context.{key}": value for key, value in context.items()}
    return next((name for name, value in ids.items() if isinstance(value, str) and not encodable(value)), None)


def _is_origin(value: Any) -> bool:
    return isinstance(value, str) and len(value) == 64 and _HEX.issuperset(value)


def _sentence(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_input=False)[0]
    where = ".".join(str(part) for part in first["loc"])[:MAX_SHOWN] or "event"
    return f"{where}: {first['msg']}; see {_SCHEMA}"


def _answer(read: Sequence[Event | _Refused], places: Sequence[int], receipt: Receipt) -> RecordAnswer:
    answers: dict[int, EventAnswer] = {}
    for index, item in zip(places, receipt.written, strict=True):
        reason = None
        if item.status == "conflict":
            reason = f"event {item.event.event_id} of this source is recorded as {item.seq} with other content; give it its own id"
        status = "refused" if item.status == "conflict" else item.status
        answers[index] = EventAnswer(
            index=index, event_id=item.event.event_id, status=status, seq=item.seq, reason=reason
        )
    for index, event in enumerate(read):
        if isinstance(event, _Refused):
            answers[index] = EventAnswer(index=index, event_id=event.event_id, status="refused", reason=event.reason)
    ordered = [answers[index] for index in range(len(read))]
    counts = {status: sum(a.status == status for a in ordered) for status in ("recorded", "duplicate", "refused")}
    return RecordAnswer(
        recorded=counts["recorded"], duplicates=counts["duplicate"], refused=counts["refused"], events=ordered
    )
