"""One Aider chat as a run: questions that a person answered, edits and checks as calls, what Aider says as the system.

Success is known only where Aider says it: an edit it applied, a block it could not match, a check whose errors it asks
to fix. What a test printed (also a return code) is output and nothing more.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from activities.importers.calls import Calls
from activities.importers.exchange import Answered, Asked, end, start
from activities.importers.notes import unanswered
from activities.importers.readers.aider_blocks import Block, started_at, without_mark
from activities.importers.readers.aider_edits import OTHERS_APPLIED, Edit, edits, mismatches, same
from activities.importers.readers.aider_units import (
    APPLIED,
    ASKED,
    FIX_LINT,
    FIX_TESTS,
    LINT,
    MODEL,
    TEST,
    USAGE,
    Unit,
    units,
)
from activities.importers.texts import pieces, title_of
from domain.runs.transcript import Fact, Item, Opening, RunEnded, RunFound

_YES = ("y", "a")


@dataclass(slots=True)
class _Proposed:
    """An edit of the latest reply that Aider has said nothing about yet."""

    name: str
    edit: Edit


@dataclass(slots=True)
class Chat:
    """The state of one chat while its blocks are read."""

    _calls: Calls = field(default_factory=Calls)
    _proposed: list[_Proposed] = field(default_factory=list[_Proposed])
    _held: list[Fact] = field(default_factory=list[Fact])
    _found: bool = False
    _at: str | None = None
    _model: str | None = None
    _turns: int = 0
    _named: int = 0
    _ending: RunEnded = field(default_factory=RunEnded)

    def block(self, block: Block) -> Iterator[Item]:
        """The facts of a block. The chat's beginning is held until the first words that are not Aider's own, which
        name the run.
        """
        if not self._found and not self._beginning(block):
            yield from self._begin(block)
        facts = self._facts(block)
        if not self._found:
            self._held.extend(facts)
        else:
            yield from facts

    def close(self) -> Iterator[Item]:
        """What the end of the copy shows, and the run's end."""
        if not self._found:
            yield from self._begin(None)
        yield from unanswered(self._calls)
        yield self._ending

    def _beginning(self, block: Block) -> bool:
        return block.kind == "header" or (block.kind == "tool" and len(self._held) <= 1)

    def _begin(self, block: Block | None) -> Iterator[Item]:
        self._found = True
        title = title_of(_said_by_user(block)) if block is not None and block.kind == "user" else None
        yield RunFound(None, title=title, agent="aider", model=self._model, at=self._at)
        yield from self._held
        self._held = []

    def _facts(self, block: Block) -> Iterator[Fact]:
        raw = "\n".join(block.lines).encode("utf-8", "surrogatepass")
        record = Fact("", {}, raw, anomaly=block.repaired)
        if block.kind == "header":
            self._at = started_at(block.lines[0])
            yield replace(record, type="context.changed", data={"kind": "chat_started"}, at=self._at)
        elif block.kind == "tool":
            yield from self._told(block)
        elif block.kind == "user":
            yield from self._asked(record, _said_by_user(block))
        else:
            yield from self._replied(record, block)

    def _asked(self, record: Fact, text: str) -> Iterator[Fact]:
        self._ending = RunEnded()
        self._turns += 1
        opening = Opening(f"turn-{self._turns}", "turn", title_of(text))
        more = {"kind": "command"} if text.startswith(("/", "!")) else {}
        for said in pieces(text, "turn.user", "text"):
            yield replace(record, type=said.type, data={**said.data, **more}, part=said.part, opens=opening)
            opening = None

    def _replied(self, record: Fact, block: Block) -> Iterator[Fact]:
        """What the model said, and the edits it asked for, each a call."""
        self._ending = RunEnded()
        self._proposed = []
        for said in pieces("\n".join(block.lines), "turn.agent", "text"):
            yield replace(record, type=said.type, data=said.data, part=said.part)
        for place, edit in enumerate(edits(block.lines)):
            name = self._name()
            self._proposed.append(_Proposed(name, edit))
            arguments = {"path": edit.path, "search": edit.search, "replace": edit.replace}
            yield from start(self._calls, record, Asked("edit", None, arguments, name=name), f"edit/{place}")

    def _name(self) -> str:
        """A name of its own for each call: Aider gives none, and answers them by file, not in order."""
        self._named += 1
        return f"call {self._named}"

    def _told(self, block: Block) -> Iterator[Fact]:
        texts = [without_mark(line, ">") for line in block.lines]
        if not self._found and any(MODEL.match(text) for text in texts):
            # the announcement: versions, models, the repository
            self._model = next(match.group("model") for text in texts if (match := MODEL.match(text)))
            raw = "\n".join(block.lines).encode("utf-8", "surrogatepass")
            data = {"text": "\n".join(texts).strip(), "kind": "announcement"}
            yield Fact("turn.system", data, raw, "text", anomaly=block.repaired)
            return
        repaired = block.repaired
        for unit in units(texts):
            raw = "\n".join(block.lines[unit.start : unit.stop]).encode("utf-8", "surrogatepass")
            for fact in self._unit(Fact("", {}, raw), unit):
                yield replace(fact, anomaly=fact.anomaly or repaired)
                repaired = None

    def _unit(self, record: Fact, unit: Unit) -> Iterator[Fact]:
        text = "\n".join(unit.texts).strip()
        if unit.kind != "limit" and text:
            self._ending = RunEnded()
        if unit.kind == "usage":
            yield self._usage(record, text)
        elif unit.kind == "applied":
            yield from self._applied(record, text)
        elif unit.kind in ("test", "lint"):
            yield from self._checked(record, unit)
        elif unit.kind == "asked":
            yield from _approved(record, unit.texts[-1], [line for line in unit.texts[:-1] if line])
        elif text:
            yield from self._system(record, text)
            if unit.kind == "limit":
                self._ending = RunEnded("budget_exhausted", text)
            elif unit.kind == "mismatch":
                yield from self._mismatched(record, unit)

    @staticmethod
    def _system(record: Fact, text: str) -> Iterator[Fact]:
        for said in pieces(text, "turn.system", "text"):
            yield replace(record, type=said.type, data=said.data, part=said.part)

    def _usage(self, record: Fact, text: str) -> Fact:
        match = USAGE.fullmatch(text)
        assert match is not None
        told = match.groupdict()
        sent, got = told["sent"] or told["sent2"], told["got"] or told["got2"]
        data: dict[str, Any] = {
            "model": self._model,
            "usage": {"prompt_tokens": _count(sent), "completion_tokens": _count(got)},
            "cost": told["cost"] or told["cost2"],
            "text": text,
        }
        return replace(record, type="model.completed", data=data, part="model")

    def _applied(self, record: Fact, text: str) -> Iterator[Fact]:
        """Each edit of the file is done; in other edit forms the call is seen only through this line."""
        match = APPLIED.fullmatch(text)
        assert match is not None
        path = match.group("path").strip()
        names = [told.name for told in self._proposed if told.edit.path == path]
        self._proposed = [told for told in self._proposed if told.edit.path != path]
        if not names:
            names = [self._name()]
            yield from start(self._calls, record, Asked("edit", None, {"path": path}, name=names[0]), "edit")
        for place, name in enumerate(names):
            yield from self._done(record, name, text, f"result/{place}")

    def _done(self, record: Fact, name: str, text: str, part: str) -> Iterator[Fact]:
        known = {"success": True, "success_basis": "format"}
        yield from end(self._calls, record, self._calls.end(name), Answered(None, text, more=known), part)

    def _mismatched(self, record: Fact, unit: Unit) -> Iterator[Fact]:
        """Blocks that could not be matched failed; the others are done where Aider says so, else nothing is known."""
        for place, wrong in enumerate(mismatches(unit.texts)):
            mine = [told for told in self._proposed if told.edit.path == wrong.path]
            exact = [told for told in mine if same(told.edit.search, wrong.search)]
            found = next(iter([*exact, *mine]), None)
            if found is None:
                continue
            self._proposed.remove(found)
            answer = Answered(None, wrong.said, failed=True)
            yield from end(self._calls, record, self._calls.end(found.name), answer, f"mismatch/{place}")
        said = next((text for text in unit.texts if OTHERS_APPLIED.fullmatch(text)), None)
        if said is not None:
            rest, self._proposed = self._proposed, []
            for place, told in enumerate(rest):
                yield from self._done(record, told.name, said, f"result/{place}")

    def _checked(self, record: Fact, unit: Unit) -> Iterator[Fact]:
        """A test or a linter that Aider ran: it failed where Aider asks to fix its errors."""
        mark, asks = (TEST, FIX_TESTS) if unit.kind == "test" else (LINT, FIX_LINT)
        first = next(place for place, text in enumerate(unit.texts) if mark.fullmatch(text))
        match = mark.fullmatch(unit.texts[first])
        assert match is not None
        command, name = match.group("command").strip().rstrip(";"), self._name()
        asked = Asked(unit.kind, None, {"command": command}, more={"command": command}, name=name)
        yield from start(self._calls, record, asked, "call")
        last = unit.texts[-1]
        failed = asks.match(last) is not None
        output = "\n".join(unit.texts[first + 1 : -1] if failed else unit.texts[first + 1 :]).strip("\n")
        yield from end(self._calls, record, self._calls.end(name), Answered(None, output, failed), "result")
        if failed and ASKED.fullmatch(last):
            yield from _approved(record, last, [])


def _approved(record: Fact, text: str, files: list[str]) -> Iterator[Fact]:
    """What a person answered when Aider asked."""
    match = ASKED.fullmatch(text)
    assert match is not None
    answer = match.group("answer").lower()
    data: dict[str, Any] = {
        "kind": "approval", "question": match.group("question"), "answer": answer, "approved": answer.startswith(_YES),
        "text": text,
    }  # fmt: skip
    if files:
        data["about"] = files
    yield replace(record, type="context.changed", data=data, part="approval", actor="human:aider:user")


def _said_by_user(block: Block) -> str:
    return "\n".join(without_mark(line, "####") for line in block.lines).strip("\n")


def _count(told: str) -> int:
    """A count of tokens, which newer versions round: `8.1k` is 8100."""
    scale = {"k": 1000, "M": 1_000_000}.get(told[-1:], 1)
    try:
        return round(float(told.rstrip("kM").replace(",", "")) * scale)
    except ValueError:
        return 0
