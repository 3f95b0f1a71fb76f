"""Small projects written straight into a journal, for tests of what reads them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from activities.postgres.journal import Journal
from domain.approvals.ids import approval_id
from domain.contracts.ids import digest_id
from domain.journal.event import Event, stamp
from domain.knowledge.decide import Cause, Claim, propose, say
from domain.knowledge.normalise import claim_identity
from domain.runs.events import body_hash

START = datetime(2026, 3, 4, 9, 0, tzinfo=UTC)


@dataclass
class Seeded:
    """One project being filled; every method appends at once."""

    journal: Journal
    project: str
    number: int = 0

    async def happened(self, kind: str, data: dict[str, Any], run: str = "run-1", **context: Any) -> Event:
        """An event of a producer in `run`."""
        self.number += 1
        event = Event(
            project=self.project,
            source=f"test/{run}",
            event_id=digest_id(self.project, run, str(self.number)),
            type=kind,
            occurred_at=START + timedelta(minutes=self.number),
            data=data,
            run=run,
            **context,
        )
        await self.append([event])
        return event

    async def command(self, command: str, output: str, run: str = "run-1", exit_code: int = 0) -> Event:
        """A tool call and its ending, which is given back."""
        self.number += 1
        operation = f"op-{self.number}"
        await self.happened(
            "tool.started", {"tool": "Bash", "command": command}, run, operation_id=operation, workspace="/repo"
        )
        data = {"tool": "Bash", "output": output, "exit_code": exit_code, "success_basis": "exit_code"}
        kind = "tool.completed" if exit_code == 0 else "tool.failed"
        return await self.happened(kind, data, run, operation_id=operation, workspace="/repo")

    def cause(self, *events: Event, run: str | None = "run-1", key: str = "") -> Cause:
        return Cause(
            project=self.project,
            source="temporality/extraction",
            key=key or f"{self.project}/{self.number}",
            at=START + timedelta(days=1),
            actor="system:temporality:extractor",
            producer="knowledge-extractor",
            producer_version="v1",
            caused_by=tuple(event.event_id for event in events) or ("none",),
            run=run,
        )

    async def claim(self, text: str, cited: Event, quote: str | None = None, asked: bool = False) -> str:
        """A proposed claim that cites `quote` in the output of `cited`; `asked` asks for its approval too."""
        output = str(cited.data.get("output") or cited.data.get("text"))
        field = "output" if "output" in cited.data else "text"
        quote = quote or output
        start = output.index(quote)
        evidence = {
            "ref": cited.event_id,
            "type": "command_result",
            "run": cited.run,
            "span": {"field": field, "start": start, "end": start + len(quote)},
            "quote": quote,
            "content_hash": body_hash(output),
            "observed_at": stamp(cited.occurred_at),
        }
        node = claim_identity(self.project, text)
        proposed = propose(self.cause(cited, run=cited.run), node, Claim(text, (evidence,), provenance=cited.event_id))
        await self.append([proposed, *([self.asks(node, proposed)] if asked else [])])
        return node

    def asks(self, node: str, proposed: Event) -> Event:
        self.number += 1
        data = {
            "approval": approval_id(f"{self.project}/extraction", node),
            "proposed_action": {"kind": "knowledge.confirm", "target": node, "arguments": {}},
            "deadline": stamp(datetime.now(UTC) + timedelta(days=7)),
            "proposed_by_run": proposed.run,
        }
        return Event(
            project=self.project,
            source="temporality/extraction",
            event_id=digest_id("ask", node),
            type="approval.requested",
            occurred_at=START + timedelta(days=1),
            data=data,
            run=proposed.run,
            actor="system:temporality:extractor",
            caused_by=(proposed.event_id,),
        )

    async def move(self, node: str, kind: str, **data: Any) -> None:
        """A knowledge event about a node, e.g. `knowledge.confirmed`."""
        self.number += 1
        await self.append([say(self.cause(key=f"move-{self.number}", run=None), kind, node, data)])

    async def append(self, events: Sequence[Event]) -> None:
        receipt = await self.journal.append(self.project, events)
        assert receipt.count("recorded") >= len(events)
