"""Messages that must be taken and messages that must be refused, by the published schema and by the model alike."""

from typing import Any

SHA = "a" * 64
AT = "2026-01-02T03:04:05Z"
EVENT = {
    "schema": "temporality.event/1",
    "event_id": "e1",
    "occurred_at": AT,
    "source": {"id": "sdk/run-1"},
    "context": {"project": "p", "run": "r"},
    "type": "tool.completed",
    "data": {"tool": "bash", "exit_code": 0},
}
APPROVAL = {"project": "p", "approval": "a1", "deadline": AT}
DECISION = {"decision": "approve", "actor": "human:example.org:u1", "decision_id": "d1"}
IMPORT = {"project": "p", "file": "a.jsonl", "sha256": SHA, "bytes": 5, "requested_at": AT, "import_id": "i1"}
EXTRACTION = {"project": "p", "run": "r", "trajectory": "t", "extractor": "x/1"}

ACCEPTED: list[tuple[str, Any]] = [
    ("ObservedRunInput", {"project": "p", "run": "r"}),
    ("ObservedRunInput", {"project": "p", "run": "r", "title": "fix it", "idle_seconds": 60, "extract": False}),
    ("RecordBatch", {"events": []}),
    ("RecordBatch", {"batch_id": "b1", "events": [EVENT, None, "not an event", 5]}),
    ("Complete", {}),
    ("Complete", {"outcome": "failed", "reason": "no network", "result": "text"}),
    ("Complete", {"result": {"artifact": SHA, "bytes": 20_000, "preview": "tex"}}),
    ("ApprovalInput", APPROVAL),
    ("ApprovalInput", {**APPROVAL, "deadline": "2026-01-02T03:04:05.123456+02:00", "criticality": "critical"}),
    ("Decision", DECISION),
    ("Decision", {**DECISION, "decision": "edit", "replacement": "the port is 5432", "rationale": None}),
    ("ImportInput", IMPORT),
    ("ImportInput", {**IMPORT, "run": "r", "extract": False}),
    ("ExtractionInput", EXTRACTION),
    ("ExtractionInput", {**EXTRACTION, "n": 2, "task": "t1"}),
    ("EventModel", EVENT),
    (
        "EventModel",
        {**EVENT, "evidence": [{"ref": "e0", "type": "tool", "span": {"field": "text", "start": 0, "end": 4}}]},
    ),
    ("EventModel", {**EVENT, "context": {"project": "p", "actor": {"id": "agent:acme:coder", "type": "agent"}}}),
    ("events/tool.completed", {"tool": "bash", "exit_code": 0, "anything": ["more"]}),
    ("events/tool.completed", {"output": {"artifact": SHA, "bytes": 20_000, "preview": ""}}),
    ("events/turn.user", {"text": "hello"}),
    ("events/run.closed", {"outcome": "completed", "trajectory": "t"}),
    ("events/hint.outcome", {"knowledge": "k", "outcome": "helpful"}),
]

REFUSED: list[tuple[str, Any, str]] = [
    ("ObservedRunInput", {"project": "p"}, "run"),
    ("ObservedRunInput", {"project": "p", "run": "r" * 129}, "run"),
    ("ObservedRunInput", {"project": "p", "run": "r", "idle_seconds": 0}, "idle_seconds"),
    ("ObservedRunInput", {"project": "p", "run": "r", "titel": "misspelt"}, "titel"),
    ("ObservedRunInput", {"project": None, "run": "r"}, "project"),
    ("RecordBatch", {}, "events"),
    ("RecordBatch", {"events": {}}, "events"),
    ("RecordBatch", {"events": [], "batch_id": "b" * 257}, "batch_id"),
    ("Complete", {"outcome": "done"}, "outcome"),
    ("Complete", {"result": "x" * 16_001}, "result"),
    ("Complete", {"result": {"artifact": "beef", "bytes": 1}}, "result"),
    ("ApprovalInput", {"project": "p", "approval": "a1"}, "deadline"),
    ("ApprovalInput", {**APPROVAL, "deadline": "tomorrow"}, "deadline"),
    ("ApprovalInput", {**APPROVAL, "criticality": "urgent"}, "criticality"),
    ("Decision", {**DECISION, "decision": "maybe"}, "decision"),
    ("Decision", {"decision": "approve", "decision_id": "d1"}, "actor"),
    ("Decision", {**DECISION, "decision_id": ""}, "decision_id"),
    ("Decision", {**DECISION, "decision": "edit", "replacement": ""}, "replacement"),
    ("ImportInput", {**IMPORT, "sha256": "A" * 64}, "sha256"),
    ("ImportInput", {**IMPORT, "bytes": -1}, "bytes"),
    ("ExtractionInput", {**EXTRACTION, "n": 0}, "n"),
    ("EventModel", {**EVENT, "schema": "temporality.event/2"}, "schema"),
    ("EventModel", {**EVENT, "event_id": ""}, "event_id"),
    ("EventModel", {**EVENT, "type": "Tool.Completed"}, "type"),
    ("EventModel", {**EVENT, "occurred_at": "yesterday"}, "occurred_at"),
    ("EventModel", {**EVENT, "seq": 7}, "seq"),
    ("EventModel", {**EVENT, "context": {"project": "p", "actor": {"id": "coder", "type": "agent"}}}, "context"),
    ("EventModel", {**EVENT, "data": "text"}, "data"),
    ("events/tool.completed", {"exit_code": "zero"}, "exit_code"),
    ("events/tool.completed", {"output": 5}, "output"),
    ("events/run.closed", {"outcome": "completed"}, "trajectory"),
    ("events/hint.outcome", {"knowledge": "k", "outcome": "nice"}, "outcome"),
]
