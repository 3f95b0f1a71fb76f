"""SWE-agent trajectories (`.traj`): one JSON object with the steps in `trajectory` and the messages in `history`.

The two tell the same run: steps are taken from `trajectory` and found again in `history`, which adds the prompts, the
demonstrations and the ids of function calls; what stands in only one of them is kept from there. The format has no
times and no exit codes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

from activities.importers.calls import Call, Calls
from activities.importers.notes import closing_note, lonely_result, note, reused_call, unanswered
from activities.importers.parse import NotReadable, document, parse, raw_of
from activities.importers.peek import peek
from activities.importers.shapes import listing, mapping
from activities.importers.texts import holds_hint, pieces, title_of, without_hints
from domain.runs.transcript import Fact, Item, Limits, Opening, Refused, RunEnded, RunFound

_EDITOR_COMMANDS = frozenset(
    {"open", "goto", "scroll_up", "scroll_down", "create", "edit", "insert", "submit", "search_dir", "search_file",
     "find_file", "set_cursors", "str_replace_editor", "view_image", "review_on_submit"}
)  # fmt: skip
# how far ahead in `trajectory` the step of a message is looked for
_MAX_AHEAD = 8
_KNOWN = frozenset({"environment", "trajectory", "history", "info", "replay_config"})
_ISSUE = re.compile(r"ISSUE:\s*\n\s*(\S[^\n]*)")


class SweAgent:
    """Reader of SWE-agent trajectory files, with or without `trajectory`, old and function-calling form."""

    format = "swe-agent"
    version = "1"

    def sniff(self, head: bytes) -> bool:
        seen = peek(head).document
        if not isinstance(seen, dict):
            return False
        shape = seen
        if {
            "question",
            "mistake_agent",
            "mistake_step",
            "instance_id",
            "git_patch",
            "trajectory_format",
        } & shape.keys():
            return False
        steps, messages = _dicts(shape.get("trajectory")), _dicts(shape.get("history"))
        if steps:
            return "action" in steps[0] and ("observation" in steps[0] or len(steps) == 1)
        return bool(messages) and all("role" in m for m in messages) and any(_native_keys(m) for m in messages)

    def read(self, stream: BinaryIO, limits: Limits) -> Iterator[Item]:
        found = document(stream, limits)
        if isinstance(found, Refused):
            yield found
            return
        whole, repaired = found
        if not isinstance(whole, Mapping):
            yield Refused("document", "the document is no JSON object, as a SWE-agent trajectory is")
            return
        yield from _Run(whole, repaired).read()


def _dicts(value: Any) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _native_keys(message: Mapping[str, Any]) -> bool:
    return "role" in message and bool({"agent", "message_type", "thought", "action", "tool_call_ids"} & message.keys())


@dataclass(frozen=True, slots=True)
class _Action:
    """What a step did: the tool, its arguments, and the shell line where it was one."""

    tool: str
    arguments: Any
    command: str | None
    native: str | None = None


class _Run:
    """One trajectory: its messages in order, each step where its message stands."""

    def __init__(self, whole: Mapping[str, Any], repaired: str | None) -> None:
        self._whole = whole
        self._repaired = repaired
        self._calls = Calls()
        self._steps = self._list("trajectory")
        self._next = 0
        self._turns = 0
        self._answered = False
        self._workspace: str | None = None
        self._open: list[str] = []

    def _list(self, key: str) -> Sequence[Any]:
        value = self._whole.get(key)
        return listing(value)

    def read(self) -> Iterator[Item]:
        history = self._list("history")
        yield self._found(history)
        if "replay_config" in self._whole:
            yield from self._kept(
                "context.changed", {"kind": "replay_config", "record": self._whole["replay_config"]}, "replay_config"
            )
        for place, message in enumerate(history):
            yield from self._guarded(f"history[{place}]", message, self._message)
        for place in range(self._next, len(self._steps)):
            yield from self._lone(place)
        for key in sorted(self._whole.keys() - _KNOWN):
            yield from self._kept("source.unknown", {"native_type": key, "record": self._whole[key]}, key)
        yield from unanswered(self._calls)
        yield from self._end()

    def _guarded(self, where: str, value: Any, facts: Any) -> Iterator[Item]:
        """The facts of one element; an element that cannot be written down is refused alone."""
        try:
            raw = raw_of(value)
        except NotReadable as error:
            yield Refused(where, f"the record is refused: {error}")
            return
        if not isinstance(value, Mapping):
            yield Fact("source.unknown", {"native_type": None, "record": value}, raw)
            return
        yield from facts(value, raw)

    def _kept(self, kind: str, data: dict[str, Any], part: str) -> Iterator[Item]:
        try:
            yield Fact(kind, data, raw_of(self._whole[part]), part)
        except NotReadable as error:
            yield Refused(part, f"the record is refused: {error}")

    def _found(self, history: Sequence[Any]) -> RunFound:
        asked = next((m for m in _dicts(history) if m.get("role") == "user" and not m.get("is_demo")), {})
        text = _text(asked.get("content"))
        issue = _ISSUE.search(text)
        environment = self._whole.get("environment")
        return RunFound(
            native=None,
            title=title_of(issue.group(1) if issue else text),
            agent="swe-agent",
            details={"environment": environment} if isinstance(environment, str) else {},
        )

    def _message(self, message: Mapping[str, Any], raw: bytes) -> Iterator[Item]:
        role, text = message.get("role"), _text(message.get("content"))
        if role not in ("system", "user", "assistant", "tool"):
            yield Fact("source.unknown", {"native_type": str(role), "record": message}, raw)
        elif message.get("is_demo") is True:
            yield from self._said("turn.system", text, raw, {"demonstration": True, "role": role})
        elif role == "assistant":
            self._answered = True
            yield from self._assistant(message, text, raw)
        elif role == "tool" or (self._open and role == "user"):
            yield from self._observation(message, text, raw)
        else:
            # what comes as a user's message after the first answer was written by the harness
            asked = role == "user" and not self._answered
            yield from self._said("turn.user" if asked else "turn.system", text, raw, {}, opens=asked)

    def _assistant(self, message: Mapping[str, Any], text: str, raw: bytes) -> Iterator[Item]:
        calls = _dicts(message.get("tool_calls"))
        for place in range(self._next, min(self._next + _MAX_AHEAD, len(self._steps))):
            step = self._steps[place]
            if isinstance(step, Mapping) and _tells(message, text, step):
                for between in range(self._next, place):
                    yield from self._lone(between)
                self._next = place + 1
                yield from self._step(step, raw_of(step), calls)
                return
        thought = message.get("thought")
        yield from self._said("turn.agent", thought if isinstance(thought, str) and thought else text, raw, {})
        action = message.get("action")
        for place, acted in enumerate(_actions(action if isinstance(action, str) else None, calls)):
            yield from self._start(acted, raw, f"call/{place}")

    def _observation(self, message: Mapping[str, Any], text: str, raw: bytes) -> Iterator[Fact]:
        """The message after an action: the result that the step told already, or the result itself where there are no
        steps.
        """
        ids = message.get("tool_call_ids")
        natives = [name for name in ids if isinstance(name, str)] if isinstance(ids, list) else []
        if not self._open:
            # a message of the role `tool` that follows no call; a user's message goes another way
            native = natives[0] if natives else None
            fact = Fact("tool.completed", {"output": text, "call_id": native}, raw, "result/0", operation=native)
            yield fact
            yield note(fact, lonely_result(self._calls, native), "result/0/note")
            return
        if self._open == ["told"]:
            self._open = []
            return
        names = [name for name in natives if name in self._open] or self._open[:1]
        for place, name in enumerate(names):
            self._open.remove(name)
            yield from self._end_call(name, text, raw, f"result/{place}", {})
        if message.get("role") == "user":
            self._open = []

    def _lone(self, place: int) -> Iterator[Item]:
        yield from self._guarded(f"trajectory[{place}]", self._steps[place], self._lone_step)

    def _lone_step(self, step: Mapping[str, Any], raw: bytes) -> Iterator[Fact]:
        yield from self._step(step, raw, [])

    def _step(self, step: Mapping[str, Any], raw: bytes, calls: list[dict[str, Any]]) -> Iterator[Fact]:
        """One step: what the agent said, what it did, what came back."""
        thought, response = step.get("thought"), step.get("response")
        text = (
            thought if isinstance(thought, str) and thought.strip() else response if isinstance(response, str) else ""
        )
        yield from self._said("turn.agent", text, raw, {}, part="text")
        action, observation = step.get("action"), step.get("observation")
        names: list[str] = []
        self._open = []
        for place, acted in enumerate(_actions(action if isinstance(action, str) else None, calls)):
            for fact in self._start(acted, raw, f"call/{place}"):
                names += [fact.operation] if fact.operation and fact.type == "tool.started" else []
                yield fact
        state = _state(step.get("state"))
        known = {key: value for key, value in state.items() if isinstance(value, str) and len(value) < 1000}
        extra: dict[str, Any] = {"details": known} if known else {}
        seconds = step.get("execution_time")
        if isinstance(seconds, int | float) and not isinstance(seconds, bool) and 0 <= seconds < 1e9:
            extra["duration_ms"] = round(seconds * 1000)
        if isinstance(observation, str) and names:
            yield from self._end_call(self._open[0], observation, raw, "result/0", extra)
        working = state.get("working_dir")
        self._workspace = working if isinstance(working, str) and working and working != "n/a" else self._workspace
        self._open = ["told"] if names else []

    def _start(self, acted: _Action, raw: bytes, part: str) -> Iterator[Fact]:
        operation, again = self._calls.operation(acted.native) if acted.native else (self._calls.number(), False)
        self._calls.start(Call(operation, acted.native, acted.tool, command=acted.command is not None))
        if self._open == ["told"]:
            self._open = []
        self._open.append(acted.native or operation)
        data: dict[str, Any] = {"tool": acted.tool, "arguments": acted.arguments, "call_id": acted.native}
        if acted.command is not None:
            data["command"] = acted.command
        if holds_hint(acted.arguments, acted.command):
            data["hint"] = True
        fact = Fact("tool.started", data, raw, part, operation=operation, workspace=self._workspace)
        yield fact
        if again:
            yield note(fact, reused_call(acted.native), f"{part}/note")

    def _end_call(self, name: str, text: str, raw: bytes, part: str, extra: dict[str, Any]) -> Iterator[Fact]:
        call = self._calls.end(name)
        output, hints = without_hints(text)
        data: dict[str, Any] = {
            "tool": call.tool if call else None,
            "output": output,
            "call_id": call.native if call else None,
            **extra,
        }
        yield Fact(
            "tool.completed", data, raw, part, operation=call.operation if call else name, workspace=self._workspace
        )
        for number, hint in enumerate(hints):
            yield Fact("turn.system", {"text": hint, "hint": True}, raw, f"{part}/hint/{number}")

    def _said(
        self, turn: str, text: str, raw: bytes, extra: dict[str, Any], *, opens: bool = False, part: str = "text"
    ) -> Iterator[Fact]:
        self._turns += opens
        opening = Opening(f"turn-{self._turns}", "turn", title_of(text)) if opens else None
        for said in pieces(text, turn, part):
            yield Fact(said.type, {**said.data, **extra}, raw, said.part, opens=opening)
            opening = None

    def _end(self) -> Iterator[Item]:
        info = self._whole.get("info")
        told = mapping(info)
        if isinstance(told.get("model_stats"), Mapping):
            yield closing_note(
                "model_stats",
                "What the models of this run used in all, as its end says.",
                {"model_stats": told["model_stats"]},
                odd=False,
            )
        status, submission = told.get("exit_status"), told.get("submission")
        reason = status if isinstance(status, str) else None
        yield RunEnded(_outcome(reason), reason, submission if isinstance(submission, str) else None)


def _tells(message: Mapping[str, Any], text: str, step: Mapping[str, Any]) -> bool:
    """Whether the message is the one the step was made of."""
    action, response = step.get("action"), step.get("response")
    if isinstance(message.get("action"), str) and message["action"] == action:
        return True
    return isinstance(response, str) and bool(response.strip()) and text.strip() == response.strip()


def _actions(action: str | None, calls: list[dict[str, Any]]) -> list[_Action]:
    """The calls of a step: its function calls where it has some, else the action line."""
    found: list[_Action] = []
    for call in calls:
        function = call.get("function")
        shape = function if isinstance(function, dict) else {}
        name = shape.get("name") if isinstance(shape.get("name"), str) else "unknown"
        arguments = _arguments(shape.get("arguments"))
        given = mapping(arguments).get("command")
        native = call.get("id") if isinstance(call.get("id"), str) and call["id"] else None
        found.append(
            _Action(str(name), arguments, given if name == "bash" and isinstance(given, str) else None, native)
        )
    if found or action is None or not action.strip():
        return found
    line = action.strip()
    word = line.split(None, 1)[0]
    if word in _EDITOR_COMMANDS:
        return [_Action(word, {"action": action}, None)]
    return [_Action("bash", {"command": action}, line)]


def _arguments(told: Any) -> Any:
    if not isinstance(told, str):
        return told
    try:
        return parse(told.encode("utf-8", "surrogatepass"))[0]
    except NotReadable:
        return told


def _state(told: Any) -> Mapping[str, Any]:
    """The state after a step: an object, in old files a JSON string of one."""
    value = _arguments(told.strip()) if isinstance(told, str) else told
    return mapping(value)


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    texts = [block.get("text") for block in _dicts(content)]
    return "\n".join(text for text in texts if isinstance(text, str))


def _outcome(status: str | None) -> str | None:
    """The run's outcome by its exit status; None where it does not say."""
    if not status:
        return None
    low = status.lower()
    if low.startswith("submitted"):
        return "completed"
    if any(word in low for word in ("cost", "context", "limit", "time")):
        return "budget_exhausted"
    return "abandoned" if low in ("early_exit", "exit_command", "skipped") else "failed"
