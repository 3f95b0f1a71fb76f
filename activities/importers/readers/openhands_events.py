"""OpenHands V0 events: actions as turns and calls, observations as results, paired by cause, in old rows by order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from activities.importers.calls import Call, Calls, Family
from activities.importers.notes import lonely_result, note, reused_call, unanswered
from activities.importers.shapes import counts, mapping, moment, word
from activities.importers.texts import flagged, holds_hint, pieces, title_of, without_hints
from domain.runs.transcript import Fact, Opening

_SPOKEN = frozenset({"message", "finish", "think", "system", "reject"})
_QUIET_ACTIONS = frozenset(
    {
        "change_agent_state",
        "condensation",
        "condensation_request",
        "pause",
        "resume",
        "start_recording",
        "stop_recording",
    }
)
_CALLS = frozenset(
    {"run", "run_ipython", "read", "write", "edit", "browse", "browse_interactive", "recall", "delegate",
     "call_tool_mcp", "mcp", "task_tracking", "send_pr", "push"}
)  # fmt: skip
_QUIET_OBSERVATIONS = frozenset({"null", "agent_state_changed", "condense", "agent_condensation", "think", "system"})
_ERRORS = frozenset({"error", "user_rejected"})
_OUTCOMES = {"finished": "completed", "error": "failed", "rejected": "failed", "stopped": "abandoned"}
_ABOUT = frozenset(
    {
        "id",
        "timestamp",
        "source",
        "message",
        "action",
        "observation",
        "cause",
        "tool_call_metadata",
        "llm_metrics",
        "timeout",
    }
)


class Events:
    """The events of one run, in order."""

    def __init__(self) -> None:
        self._calls = Calls()
        self._turns = 0
        self._workspace: str | None = None
        self._answers: set[str] = set()
        self._state: str | None = None
        self._finished = False

    def facts(self, item: Any, raw: bytes) -> Iterator[Fact]:
        """The facts of one event, at least one."""
        if not isinstance(item, Mapping):
            yield Fact("source.unknown", {"native_type": None, "record": item}, raw)
            return
        event = _Event(item, raw)
        if event.action is not None:
            yield from self._model(event)
        if event.action in _SPOKEN:
            yield from self._said(event)
        elif event.action in _CALLS:
            yield from self._called(event)
        elif event.action in _QUIET_ACTIONS or event.observation in _QUIET_OBSERVATIONS:
            yield from self._changed(event)
        elif event.observation is not None:
            yield from self._observed(event)
        else:
            kind = event.action or event.value.get("kind")
            yield event.fact(
                "source.unknown", {"native_type": kind if isinstance(kind, str) else None, "record": event.value}
            )

    def close(self) -> Iterator[Fact]:
        """What the end of the copy shows."""
        yield from unanswered(self._calls)

    def outcome(self) -> tuple[str | None, str | None]:
        """The run's outcome and reason as its events tell them."""
        if self._finished:
            return "completed", "the agent finished"
        outcome = _OUTCOMES.get(self._state or "")
        return outcome, f"the agent's last state is {self._state}" if outcome else None

    def _model(self, event: _Event) -> Iterator[Fact]:
        """`model.completed` for the first action of each model response."""
        response = event.metadata.get("model_response")
        if not isinstance(response, Mapping):
            return
        told = response
        name, usage = told.get("id"), told.get("usage")
        key = name if isinstance(name, str) else None
        if key is not None and key in self._answers:
            return
        if key is not None:
            self._answers.add(key)
        counted = counts(usage)
        yield event.fact(
            "model.completed", {"model": word(told.get("model")), "usage": counted, "message_id": key}, "model"
        )

    def _said(self, event: _Event) -> Iterator[Fact]:
        action = event.action
        text = event.first_text("content", "thought", "final_thought", "message") or event.text("message")
        turn = {"think": "turn.thought", "system": "turn.system"}.get(action or "", "turn.agent")
        source = event.value.get("source", "agent" if self._turns else "user")
        if action == "message" and source in ("user", "environment"):
            turn = "turn.user" if source == "user" else "turn.system"
        if action in ("finish", "reject"):
            self._finished = action == "finish"
            self._state = "rejected" if action == "reject" else self._state
        opening = None
        if turn == "turn.user":
            self._turns += 1
            opening = Opening(f"turn-{self._turns}", "turn", title_of(text))
        extra: dict[str, Any] = {"kind": action} if action != "message" else {}
        outputs = event.arg("outputs")
        if outputs:
            extra["record"] = outputs
        for said in pieces(text, turn, "text", flagged=flagged(event.value, event.args)):
            yield event.fact(said.type, {**said.data, **extra}, said.part, opens=opening)
            opening = None

    def _called(self, event: _Event) -> Iterator[Fact]:
        thought = event.arg("thought")
        if isinstance(thought, str) and thought.strip():
            for said in pieces(thought, "turn.agent", "thought"):
                yield event.fact(said.type, said.data, said.part)
        name = event.metadata.get("function_name")
        tool = name if isinstance(name, str) and name else event.action or "unknown"
        native = event.call_id
        operation, again = self._calls.operation(native) if native else (self._calls.number(), False)
        family: Family = (
            "delegation"
            if event.action == "delegate"
            else "mcp.call"
            if event.action in ("call_tool_mcp", "mcp")
            else "tool"
        )
        arguments = {key: value for key, value in event.args.items() if key not in _ABOUT and key != "thought"}
        data: dict[str, Any] = {"tool": tool, "arguments": arguments, "call_id": native, "kind": event.action}
        command = event.arg("command")
        if event.action == "run" and isinstance(command, str):
            data["command"] = command
            if event.arg("is_input") is True:
                data["input_to_running"] = True
        if family == "delegation":
            data["agent"] = event.arg("agent") if isinstance(event.arg("agent"), str) else None
        if holds_hint(arguments):
            data["hint"] = True
        self._calls.start(Call(operation, event.own or f"{event.action}#", tool, family, "command" in data))
        fact = event.fact(f"{family}.started", data, "call", operation, workspace=self._workspace)
        yield fact
        if again:
            yield note(fact, reused_call(native), "call/note")

    def _observed(self, event: _Event) -> Iterator[Fact]:
        call = self._calls.end(event.cause or f"{event.observation}#")
        if call is None and event.cause is None and event.observation in _ERRORS:
            call = self._calls.end_oldest()
        output, hints = without_hints(event.text("content") or event.text("message"))
        data: dict[str, Any] = {
            "tool": call.tool if call else None,
            "kind": event.observation,
            "call_id": event.call_id,
        }
        extras = {
            k: v
            for k, v in event.extras.items()
            if isinstance(v, str | int) and len(str(v)) <= 500 and v != "" and k != "command"
        }
        if extras:
            data["details"] = extras
        failed = self._judge(event, data)
        data["error" if failed else "output"] = output
        family = call.family if call else "tool"
        working = event.shell.get("working_dir")
        if isinstance(working, str) and working:
            self._workspace = working
        operation = call.operation if call else event.call_id
        kind = f"{family}.{'failed' if failed else 'completed'}"
        fact = event.fact(kind, data, "result", operation, workspace=self._workspace)
        yield fact
        for place, hint in enumerate(hints):
            yield event.fact("turn.system", {"text": hint, "hint": True}, f"result/hint/{place}")
        if call is None:
            yield note(fact, lonely_result(self._calls, event.call_id, event.cause), "result/note")

    def _judge(self, event: _Event, data: dict[str, Any]) -> bool:
        """Puts what is known about success into `data`; whether the call failed."""
        code = event.exit_code
        if code is not None:
            if code == -1:
                data["running"] = True
                return False
            data["exit_code"] = code
            return code != 0
        if event.observation in _ERRORS:
            if event.observation == "user_rejected":
                data["denied"] = True
            return True
        success = event.value.get("success")
        if isinstance(success, bool):
            data.update({"success": True, "success_basis": "flag"} if success else {})
            return not success
        return False

    def _changed(self, event: _Event) -> Iterator[Fact]:
        kind = event.action or event.observation
        state = event.extras.get("agent_state") or event.arg("agent_state")
        if isinstance(state, str):
            self._state = state
            self._finished = self._finished and state not in ("running", "error")
        rest = {key: value for key, value in event.value.items() if key not in ("id", "timestamp", "cause")}
        told = "context.compacted" if kind in ("condensation", "condense", "agent_condensation") else "context.changed"
        yield event.fact(told, {"kind": kind, "text": event.text("content") or None, "record": rest})


class _Event:
    """One event with the places its fields may stand in: old rows have them at the top."""

    def __init__(self, value: Mapping[str, Any], raw: bytes) -> None:
        self.value = value
        self._raw = raw
        self.action = self._word("action")
        self.observation = self._word("observation") if self.action is None else None
        self.args = self._mapping("args") or (
            {} if "args" in value else {k: v for k, v in value.items() if k not in _ABOUT}
        )
        self.extras = self._mapping("extras")
        self.metadata = self._mapping("tool_call_metadata")
        inner = self.extras.get("metadata")
        self.shell = mapping(inner)

    def _word(self, key: str) -> str | None:
        value = self.value.get(key)
        return value if isinstance(value, str) and value else None

    def _mapping(self, key: str) -> Mapping[str, Any]:
        value = self.value.get(key)
        return mapping(value)

    def arg(self, key: str) -> Any:
        return self.args.get(key)

    def text(self, key: str) -> str:
        value = self.value.get(key)
        return value if isinstance(value, str) else ""

    def first_text(self, *keys: str) -> str:
        return next((value for key in keys if isinstance(value := self.args.get(key), str) and value), "")

    @property
    def own(self) -> str | None:
        """The event's id as its observations name it."""
        value = self.value.get("id")
        return str(value) if isinstance(value, int | str) and value != "" else None

    @property
    def cause(self) -> str | None:
        value = self.value.get("cause")
        return str(value) if isinstance(value, int | str) and value != "" else None

    @property
    def call_id(self) -> str | None:
        value = self.metadata.get("tool_call_id")
        return value if isinstance(value, str) and value else None

    @property
    def exit_code(self) -> int | None:
        for place in (self.shell, self.extras, self.value):
            code = place.get("exit_code")
            if isinstance(code, int) and not isinstance(code, bool):
                return code
        return None

    def fact(
        self,
        kind: str,
        data: dict[str, Any],
        part: str = "",
        operation: str | None = None,
        *,
        workspace: str | None = None,
        opens: Opening | None = None,
    ) -> Fact:
        return Fact(
            type=kind, data=data, raw=self._raw, part=part, operation=operation, opens=opens, workspace=workspace,
            at=moment(self.value.get("timestamp")), native_id=self.own, parent=self.cause,
        )  # fmt: skip
