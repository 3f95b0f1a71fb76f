"""One Claude Code session: its records as facts, with the frames, calls and branches they belong to.

A user record that the harness wrote (meta, compaction summaries, prompts of sidechains) is never a statement of the
user; usage of one API message that is split over several lines is said once, later lines add only the difference.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from activities.importers.calls import Calls, short_hash
from activities.importers.lineage import ANSWER, MAX_NATIVE, PROMPT, SIDECHAIN, TALK, Lineage, Node
from activities.importers.notes import shown, tree_notes, unanswered
from activities.importers.parse import Line
from activities.importers.readers.claude_code_blocks import Blocks, Record
from activities.importers.shapes import counts, mapping, word
from activities.importers.texts import flagged, holds_hint, title_of, user_pieces
from domain.runs.transcript import Fact, Item, Opening, RunEnded

_MAX_MESSAGES = 4096
_MEMO = {
    "summary": "summary",
    "progress": "data",
    "file-history-snapshot": "snapshot",
    "queue-operation": "content",
    "attachment": "attachment",
    "system": "content",
}


class Session:
    """The state of one session while its records are read."""

    def __init__(self, native: str | None) -> None:
        self.native = native
        self._calls = Calls()
        self._lineage = Lineage()
        self._frame: str | None = None
        self._usage: OrderedDict[str, dict[str, int]] = OrderedDict()
        self._blocks = Blocks(self._calls)
        self._interrupted = False

    def record(self, line: Line) -> Iterator[Item]:
        """The facts of one line, at least one."""
        if not isinstance(line.value, Mapping):
            yield Fact("source.unknown", {"native_type": None, "record": line.value}, line.raw, anomaly=line.repaired)
            return
        value = line.value
        record = Record(value, line.raw, line.repaired)
        prompt = prompt_of(record)
        opening = self._opening(record, prompt)
        parent = self._lineage.find(record.parent)
        record.frame = (
            opening.key if opening else (self._lineage.frame(parent) or (None if record.sidechain else self._frame))
        )
        if opening and not record.sidechain:
            self._frame = opening.key
        again = self._remember(record, prompt)
        facts = list(self._facts(record))
        if record.kind in ("user", "assistant") and not record.sidechain:
            self._interrupted = any(fact.data.get("interrupted") is True for fact in facts)
        first = True
        for fact in facts:
            yield _with_opening(fact, opening) if first and opening else fact
            first = False
        if again == "other":
            yield record.note(
                "duplicate_id",
                f"The id `{shown(record.native or '')}` was used before for another record; both are kept.",
            )
        elif again == "same":
            yield record.note(
                "repeated_record", f"The record `{shown(record.native or '')}` stands in the transcript again."
            )

    def _opening(self, record: Record, prompt: str | None) -> Opening | None:
        """The frame this record begins: a user's prompt, or the first record of a sidechain."""
        key = (record.native or "")[:MAX_NATIVE] or f"record-{short_hash(record.raw):x}"
        if not record.sidechain:
            return Opening(key, "turn", title_of(prompt)) if prompt is not None else None
        agent = record.value.get("agentId")
        inherited = self._lineage.frame(self._lineage.find(record.parent))
        if inherited is not None and inherited != self._frame:
            return None
        if isinstance(agent, str):
            key = f"agent/{agent}"
        text = prompt if prompt is not None else ""
        task = self._blocks.delegated(text)
        if task is not None:
            return Opening(task.key, task.kind, task.title, task.parent, task.operation)
        return Opening(key, "sidechain", title_of(text), self._frame)

    def _remember(self, record: Record, prompt: str | None) -> str | None:
        """Takes the record into the tree; whether its id was used before."""
        value = record.value
        if record.kind == "system" and value.get("subtype") == "compact_boundary":
            self._lineage.compacted = True
        if record.native is None:
            return None
        flags = SIDECHAIN if record.sidechain else 0
        if record.kind in ("user", "assistant"):
            flags |= TALK
        if record.kind == "assistant":
            flags |= ANSWER
        if prompt is not None:
            flags |= PROMPT
        parent = record.parent
        if parent is None and isinstance(value.get("logicalParentUuid"), str):
            parent = value["logicalParentUuid"]
        node = Node(record.native, parent, flags, record.message_id, short_hash(record.raw))
        return self._lineage.add(node, record.frame)

    def _facts(self, record: Record) -> Iterator[Fact]:
        kind, content = record.kind, record.message.get("content")
        if kind in _MEMO:
            yield from self._memo(record, kind)
        elif kind == "user" and isinstance(content, str | list):
            yield from self._blocks.user(record, content)
        elif kind == "assistant" and isinstance(content, str | list):
            yield from self._answer(record)
            yield from self._blocks.assistant(record, content)
        else:
            yield record.fact("source.unknown", {"native_type": kind, "record": record.value})

    def _answer(self, record: Record) -> Iterator[Fact]:
        """`model.completed` for the first line of an API message, and for later ones that add to its usage."""
        message, told = record.message, record.message.get("usage")
        usage = counts(told)
        before = self._usage.get(record.message_id) if record.message_id else None
        added = (
            {k: v - before.get(k, 0) for k, v in usage.items() if v > before.get(k, 0)} if before is not None else usage
        )
        if record.message_id:
            self._usage[record.message_id] = {**(before or {}), **usage}
            if len(self._usage) > _MAX_MESSAGES:
                self._usage.popitem(last=False)
        if before is not None and not added:
            return
        data: dict[str, Any] = {"model": word(message.get("model")), "usage": added, "message_id": record.message_id}
        if before is not None:
            data["continues"] = True
        if isinstance(message.get("stop_reason"), str):
            data["stop_reason"] = message["stop_reason"]
        yield record.fact("model.completed", data, "model")

    def _memo(self, record: Record, kind: str) -> Iterator[Fact]:
        """Records of the harness about the session: hooks, summaries, snapshots, queued prompts, compactions."""
        value, held = record.value, record.value.get(_MEMO[kind])
        inner = mapping(held)
        name = value.get("subtype") if kind == "system" else inner.get("type")
        if kind == "attachment" and name == "queued_command" and _typed(inner):
            for said in user_pieces(inner["prompt"], "turn.user", "prompt"):
                yield record.fact(said.type, said.data, said.part)
            return
        data: dict[str, Any] = {"kind": f"{kind}/{name}" if isinstance(name, str) else kind}
        if isinstance(held, str):
            data["text"] = held
            rest = {k: v for k, v in value.items() if k not in _COMMON and k != _MEMO[kind]}
        elif kind == "system":
            rest = {k: v for k, v in value.items() if k not in _COMMON}
        else:
            rest = {_MEMO[kind]: held, **{k: v for k, v in value.items() if k not in _COMMON and k != _MEMO[kind]}}
        if rest:
            data["record"] = rest
        if flagged(value, inner) or holds_hint(held, rest):
            data["hint"] = True
        yield record.fact("context.compacted" if name == "compact_boundary" else "context.changed", data)

    def close(self) -> Iterator[Item]:
        """What the end of the copy shows, and the run's end."""
        yield from unanswered(self._calls)
        yield from tree_notes(self._lineage)
        if self._interrupted:
            yield RunEnded("abandoned", "the transcript ends where the user interrupted the agent")
        else:
            yield RunEnded()


_COMMON = frozenset(
    {"type", "subtype", "uuid", "parentUuid", "sessionId", "session_id", "timestamp", "cwd", "version", "gitBranch",
     "isSidechain", "userType", "slug", "entrypoint"}
)  # fmt: skip


def _typed(inner: Mapping[str, Any]) -> bool:
    """Whether a queued prompt was typed by the user: notices of background tasks come the same way."""
    origin = inner.get("origin")
    kind = mapping(origin).get("kind")
    return (
        isinstance(inner.get("prompt"), str)
        and inner.get("commandMode") == "prompt"
        and kind in (None, "user", "human", "cli")
    )


def prompt_of(record: Record) -> str | None:
    """What a user (in a sidechain: the delegating agent) asked for in this record; None when it is no prompt."""
    if record.kind != "user" or record.written_by_harness:
        return None
    content = record.message.get("content")
    texts = [content] if isinstance(content, str) else []
    if isinstance(content, list):
        for block in content:
            if isinstance(block, str):
                texts.append(block)
            elif isinstance(block, Mapping):
                shape = block
                if shape.get("type") == "text" and isinstance(shape.get("text"), str):
                    texts.append(shape["text"])
    said = [
        piece.data["text"]
        for text in texts
        for piece in user_pieces(text, "turn.user", "")
        if piece.type == "turn.user"
    ]
    return "\n".join(said) if any(part.strip() for part in said) else None


def _with_opening(fact: Fact, opening: Opening) -> Fact:
    return replace(fact, opens=opening)
