"""What happened in a run, as payloads: the families producers may write.

Texts may be long: a `Text` is a plain string up to 16 KB, else a reference to an artifact with a preview.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, Literal

from domain.contracts.payloads import INLINE_BYTES as INLINE_BYTES
from domain.contracts.payloads import Artifact, is_object
from domain.journal.catalogue import EventType, Happened

Outcome = Literal["completed", "failed", "abandoned", "budget_exhausted", "cancelled"]
Text = str | Artifact


def body_hash(text: Any) -> str | None:
    """The content hash (hex sha256) of a `Text` as it stands in an event's data; None where there is none."""
    if isinstance(text, str):
        return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
    if is_object(text):
        held = text.get("artifact")
        return held if isinstance(held, str) else None
    return None


def body_text(text: Any) -> str:
    """What of a `Text` stands in the event itself: all of a short one, the preview of a long one."""
    if isinstance(text, str):
        return text
    if is_object(text):
        return str(text.get("preview", ""))
    return ""


class RunOpened(Happened):
    """A run began. `format` names the transcript's format; `native_id` is the producer's own session id."""

    title: str | None = None
    format: str | None = None
    native_id: str | None = None
    agent: str | None = None
    model: str | None = None


class RunClosed(Happened):
    """A run ended, or a longer copy of it was closed again: `trajectory` is the hash of its events' hashes."""

    outcome: Outcome
    trajectory: str
    reason: str | None = None
    result: Text | None = None


class FrameOpened(Happened):
    """A bounded semantic step began: for imports a user turn, a sidechain or a delegation."""

    title: str | None = None
    kind: str = "turn"


class FrameClosed(Happened):
    """A frame ended."""

    outcome: str | None = None


class TaskOpened(Happened):
    """A work item that may span runs."""

    title: str | None = None


class TaskClosed(Happened):
    """A work item ended."""

    outcome: str | None = None


class Turn(Happened):
    """Something was said. `hint` marks text that repeats a hint given to the run; it is never extracted again."""

    text: Text = ""
    hint: bool = False


class ModelCalled(Happened):
    """A model was called or answered; `usage` holds counts as integers."""

    model: str | None = None
    usage: dict[str, Any] | None = None


class ToolStarted(Happened):
    """A tool call. `command` is the shell line where the tool runs commands, `argv` the list where there is no shell."""

    tool: str
    arguments: Any = None
    command: Text | None = None
    argv: list[str] | None = None
    idempotent: bool | None = None


class ToolCompleted(Happened):
    """A tool answered. Without `exit_code` and without `success` nothing is known about success.

    `success_basis` says how success is known: `exit_code`, `format` (the format documents that this means success), `flag`.
    """

    tool: str | None = None
    exit_code: int | None = None
    success: bool | None = None
    success_basis: Literal["exit_code", "format", "flag"] | None = None
    output: Text | None = None
    duration_ms: int | None = None


class ToolFailed(Happened):
    """A tool answered with an error."""

    tool: str | None = None
    exit_code: int | None = None
    error: Text | None = None
    output: Text | None = None


class ToolUncertain(Happened):
    """Nobody knows whether the call had its effect."""

    tool: str | None = None
    reason: str | None = None


class DelegationEvent(Happened):
    """Work was handed to, or came back from, another agent."""

    agent: str | None = None
    run: str | None = None


class ContextEvent(Happened):
    """The context changed: compaction, a file snapshot, a state change."""

    text: Text | None = None


class HintInjected(Happened):
    """A knowledge node was placed in the run's context."""

    knowledge: str
    text: str | None = None


class HintOutcome(Happened):
    """What came of a hint."""

    knowledge: str
    outcome: Literal["helpful", "harmful", "unused"]
    reason: str | None = None


class SourceUnknown(Happened):
    """A record of a type the importer does not know, kept whole."""

    native_type: str | None = None
    record: Any = None


class SourceNote(Happened):
    """Something the importer noticed about the source: a branch, a repair, an anomaly."""

    text: str | None = None


PRODUCED: Mapping[str, type[Happened]] = {
    "run.opened": RunOpened,
    "run.closed": RunClosed,
    "frame.opened": FrameOpened,
    "frame.closed": FrameClosed,
    "task.opened": TaskOpened,
    "task.closed": TaskClosed,
    "turn.user": Turn,
    "turn.agent": Turn,
    "turn.system": Turn,
    "turn.thought": Turn,
    "model.called": ModelCalled,
    "model.completed": ModelCalled,
    "tool.started": ToolStarted,
    "tool.completed": ToolCompleted,
    "tool.failed": ToolFailed,
    "tool.uncertain": ToolUncertain,
    "tool.late": ToolCompleted,
    "mcp.call.started": ToolStarted,
    "mcp.call.completed": ToolCompleted,
    "mcp.call.failed": ToolFailed,
    "delegation.started": DelegationEvent,
    "delegation.completed": DelegationEvent,
    "delegation.failed": DelegationEvent,
    "context.compacted": ContextEvent,
    "context.changed": ContextEvent,
    "hint.injected": HintInjected,
    "hint.outcome": HintOutcome,
    "source.unknown": SourceUnknown,
    "source.note": SourceNote,
    "source.branch_abandoned": SourceNote,
}
EVENTS = tuple(EventType(name, payload) for name, payload in PRODUCED.items())
