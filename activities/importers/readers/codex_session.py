"""One Codex rollout: its lines as facts, calls from response items only, what events know of their ends beside them.

Events repeat what the items say, so they are kept as changes of the context and add no turn and no call; an event of a
call's end hands its exit code on to the output that follows, and is told with the call's operation.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from activities.importers.calls import Calls
from activities.importers.exchange import Answered, end, start
from activities.importers.notes import unanswered
from activities.importers.parse import Line
from activities.importers.readers.codex_items import CALLS, OUTPUTS, asked, said
from activities.importers.readers.codex_outputs import Told, event_of, output_of
from activities.importers.shapes import counts, mapping, moment, word
from activities.importers.texts import holds_hint
from domain.runs.transcript import Fact, Item, RunEnded

ENVELOPES = frozenset(
    {"session_meta", "turn_context", "response_item", "event_msg", "compacted", "world_state",
     "inter_agent_communication_metadata"}
)  # fmt: skip
_QUIET_ITEMS = frozenset(
    {"web_search_call", "tool_search_call", "tool_search_output", "image_generation_call", "ghost_snapshot",
     "compaction", "compaction_summary"}
)  # fmt: skip
ITEMS = frozenset({"message", "reasoning", "agent_message", *CALLS, *OUTPUTS, *_QUIET_ITEMS})
_EVENTS = frozenset(
    {"agent_message", "agent_message_delta", "agent_reasoning", "agent_reasoning_raw_content", "background_event",
     "collab_agent_interaction_end", "collab_agent_spawn_end", "collab_close_end", "collab_resume_end",
     "collab_waiting_end", "context_compacted", "deprecation_notice", "dynamic_tool_call_request",
     "dynamic_tool_call_response", "entered_review_mode", "error", "exec_approval_request",
     "apply_patch_approval_request", "exec_command_begin", "exec_command_end", "exited_review_mode",
     "guardian_assessment", "image_generation_end", "item_completed", "item_started", "mcp_tool_call_begin",
     "mcp_tool_call_end", "patch_apply_begin", "patch_apply_end", "plan_update", "session_configured",
     "stream_error", "sub_agent_activity", "task_complete", "task_started", "thread_goal_updated",
     "thread_name_updated", "thread_rolled_back", "thread_settings_applied", "token_count", "turn_aborted", "turn_diff",
     "undo_completed", "undo_started", "user_message", "view_image_tool_call", "warning", "web_search_begin",
     "web_search_end"}
)  # fmt: skip
_ENDINGS = {
    "turn_aborted": RunEnded("abandoned", "the session ends where a turn was aborted"),
    "error": RunEnded("failed", "the session ends with an error"),
}
_MAX_ENDINGS = 4096


class Session:
    """The state of one rollout while its lines are read."""

    def __init__(self, model: str | None) -> None:
        self._calls = Calls()
        self._turns = 0
        self._model = model
        self._workspace: str | None = None
        self._ends: OrderedDict[str, Told] = OrderedDict()
        self._total: Any = None
        self._ending = RunEnded()

    def line(self, line: Line) -> Iterator[Item]:
        """The facts of one line, at least one."""
        value, repaired = line.value, line.repaired
        record = Fact("", {}, line.raw, workspace=self._workspace)
        if isinstance(value, Mapping):
            record = replace(record, at=moment(value.get("timestamp")))
            facts = self._facts(record, value)
        else:
            facts = iter([replace(record, type="source.unknown", data={"native_type": None, "record": value})])
        for fact in facts:
            yield replace(fact, anomaly=fact.anomaly or repaired)
            repaired = None

    def close(self) -> Iterator[Item]:
        """What the end of the copy shows, and the run's end."""
        yield from unanswered(self._calls)
        yield self._ending

    def _facts(self, record: Fact, value: Mapping[str, Any]) -> Iterator[Fact]:
        kind, payload = word(value.get("type")), value.get("payload")
        if kind in ENVELOPES and isinstance(payload, Mapping):
            record = replace(record, native_id=word(payload.get("id")) if kind == "response_item" else None)
            yield from self._enveloped(record, kind, payload, value)
        elif kind in ITEMS and "payload" not in value:
            yield from self._item(replace(record, native_id=word(value.get("id"))), value, value)
        elif "record_type" in value:
            yield _changed(record, f"record_type/{word(value.get('record_type'))}", value)
        elif kind is None and "id" in value and "payload" not in value:
            yield _changed(record, "session_meta", value)
        else:
            yield replace(record, type="source.unknown", data={"native_type": kind, "record": value})

    def _enveloped(
        self, record: Fact, kind: str | None, payload: Mapping[str, Any], value: Mapping[str, Any]
    ) -> Iterator[Fact]:
        if kind == "response_item":
            yield from self._item(record, payload, value)
        elif kind == "event_msg":
            yield from self._event(record, payload)
        elif kind == "compacted":
            data: dict[str, Any] = {"kind": kind, "text": word(payload.get("message")) or "", "record": payload}
            yield replace(record, type="context.compacted", data=data | _hinted(payload))
        else:
            if kind == "turn_context":
                self._model = word(payload.get("model")) or self._model
                self._workspace = word(payload.get("cwd")) or self._workspace
            yield _changed(record, kind or "", payload)

    def _item(self, record: Fact, payload: Mapping[str, Any], value: Mapping[str, Any]) -> Iterator[Fact]:
        kind = word(payload.get("type"))
        if kind in CALLS:
            call = asked(payload)
            where = mapping(call.arguments).get("workdir") or mapping(payload.get("action")).get("working_directory")
            yield from start(self._calls, replace(record, workspace=word(where) or record.workspace), call, "call")
        elif kind in OUTPUTS:
            yield from self._output(record, payload)
        elif kind in ("message", "reasoning", "agent_message"):
            facts = said(record, payload, self._turns + 1)
            self._turns += bool(facts and facts[0].opens)
            if facts and facts[0].type == "turn.user":
                self._ending = RunEnded()
            yield from facts
        elif kind in _QUIET_ITEMS:
            yield _changed(record, kind, payload)
        else:
            yield replace(record, type="source.unknown", data={"native_type": kind, "record": value})

    def _output(self, record: Fact, payload: Mapping[str, Any]) -> Iterator[Fact]:
        native, name = word(payload.get("call_id")), word(payload.get("name"))
        call = self._calls.end(native or f"{name}#")
        told = output_of(payload, command=call is not None and call.command)
        known = self._ends.pop(native, None) if native else None
        told = told.or_else(known) if known else told
        answer = Answered(native, told.text, told.failed, told.data(), name)
        yield from end(self._calls, record, call, answer, "result")

    def _event(self, record: Fact, payload: Mapping[str, Any]) -> Iterator[Fact]:
        kind = word(payload.get("type")) or "event"
        if kind not in _EVENTS:
            data = {"native_type": f"event_msg/{kind}", "record": payload}
            yield replace(record, type="source.unknown", data=data)
            return
        if kind == "token_count":
            yield self._usage(record, payload)
            return
        if kind in _ENDINGS:
            error = word(payload.get("message"))
            self._ending = replace(_ENDINGS[kind], reason=error[:500]) if error else _ENDINGS[kind]
        elif kind in ("task_started", "user_message"):
            self._ending = RunEnded()
        elif kind == "task_complete":
            error = word(mapping(payload.get("error")).get("message"))
            self._ending = RunEnded("failed", error[:500]) if error else RunEnded()
        ended = event_of(payload)
        if ended is None:
            yield _changed(record, kind, payload)
            return
        native, told = ended
        if self._calls.open(native):
            self._ends[native] = told
            if len(self._ends) > _MAX_ENDINGS:
                self._ends.popitem(last=False)
        known = native if self._calls.known(native) else None
        fact = _changed(record, kind, payload)
        yield replace(fact, data={**fact.data, "call_id": native}, operation=known)

    def _usage(self, record: Fact, payload: Mapping[str, Any]) -> Fact:
        """`model.completed` for each new total; the same total again only tells other limits."""
        info = mapping(payload.get("info"))
        total = info.get("total_token_usage")
        if not info or total == self._total:
            return _changed(record, "token_count", payload)
        self._total = total
        usage = counts(info.get("last_token_usage")) or counts(total)
        return replace(record, type="model.completed", data={"model": self._model, "usage": usage, "record": payload})


def _changed(record: Fact, kind: str, payload: Mapping[str, Any]) -> Fact:
    return replace(record, type="context.changed", data={"kind": kind, "record": payload} | _hinted(payload))


def _hinted(payload: Mapping[str, Any]) -> dict[str, Any]:
    return {"hint": True} if holds_hint(payload) else {}
