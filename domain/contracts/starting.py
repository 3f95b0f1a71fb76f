"""How each workflow is started: id, reuse policy, search attributes, summary and fairness, the same for every starter.

Children and clients both start from these values, so that one kind of workflow never looks different in Temporal.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal

from domain.contracts.approval import ApprovalInput
from domain.contracts.extraction import ExtractionInput
from domain.contracts.ids import digest_id, encode_id, project_id
from domain.contracts.imports import ImportInput
from domain.contracts.messages import Message
from domain.contracts.names import (
    APPROVAL,
    DECIDE,
    IMPORT,
    KNOWLEDGE_EXTRACTION,
    OBSERVED_RUN,
    approval_workflow_id,
    extraction_workflow_id,
    import_workflow_id,
    run_workflow_id,
)
from domain.contracts.observed_run import ObservedRunInput

FAIRNESS_BYTES = 64
"""Temporal refuses a longer fairness key."""
SUMMARY_BYTES = 200
"""Temporal refuses a summary over 400 bytes as JSON, where a character may be written with several."""

Reuse = Literal["reject_duplicate", "allow_duplicate", "allow_duplicate_failed_only"]
Kind = Literal["run", "import", "extraction", "approval"]
Attributes = Mapping[str, str | datetime]


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """Everything a starter says. `reuse` and `attributes` are in Temporal's words, without its types."""

    workflow: str
    id: str
    input: Message
    reuse: Reuse
    summary: str
    details: str
    """A few sentences for operators, shown beside the summary for as long as the workflow is known."""
    fairness_key: str
    attributes: Attributes


def observed_run_start(run: ObservedRunInput) -> Start:
    """Start of `ObservedRun`. Raises `MalformedId`."""
    return Start(
        workflow=OBSERVED_RUN,
        id=run_workflow_id(run.project, run.run),
        input=run,
        reuse="reject_duplicate",
        summary=one_line(f"run {run.run}: {run.title}" if run.title else f"run {run.run}"),
        details=f"A run driven elsewhere; abandoned after {run.idle_seconds} seconds without a batch.",
        fairness_key=fairness_key(run.project),
        attributes=attributes("run", run.project, "open", run=run.run),
    )


def import_start(file: ImportInput) -> Start:
    """Start of `Import`. Raises `MalformedId`."""
    return Start(
        workflow=IMPORT,
        id=import_workflow_id(file.project, file.sha256),
        input=file,
        reuse="allow_duplicate",
        summary=one_line(f"import {file.file} ({file.bytes} bytes)"),
        details="Reads the file into the journal, then lets each run of it be extracted.",
        fairness_key=fairness_key(file.project),
        attributes=attributes("import", file.project, "reading", run=file.run),
    )


def extraction_start(extraction: ExtractionInput) -> Start:
    """Start of `KnowledgeExtraction`: an id that ended failed may start again. Raises `MalformedId`."""
    return Start(
        workflow=KNOWLEDGE_EXTRACTION,
        id=extraction_workflow_id(extraction.project, extraction.trajectory, extraction.extractor, extraction.n),
        input=extraction,
        reuse="allow_duplicate_failed_only",
        summary=one_line(f"what run {extraction.run} taught, by {extraction.extractor}"),
        details="When it fails, the run is untouched, and the extraction can be run again.",
        fairness_key=fairness_key(extraction.project),
        attributes=attributes("extraction", extraction.project, "started", run=extraction.run),
    )


def approval_start(asked: ApprovalInput) -> Start:
    """Start of `Approval`. Raises `MalformedId`."""
    return Start(
        workflow=APPROVAL,
        id=approval_workflow_id(asked.project, asked.approval),
        input=asked,
        reuse="reject_duplicate",
        summary=one_line(f"decide by {asked.deadline:%Y-%m-%d %H:%M} UTC: {asked.title or asked.approval}"),
        details=f"A person or a service decides by update or signal `{DECIDE}`; {_nobody_else(asked)}.",
        fairness_key=fairness_key(asked.project),
        attributes=attributes(
            "approval",
            asked.project,
            "pending",
            run=asked.proposed_by_run,
            node=asked.node,
            deadline=asked.deadline,
        ),
    )


def _nobody_else(asked: ApprovalInput) -> str:
    run = asked.proposed_by_run
    return "never an agent" if run is None else f"never an agent, and never run {one_line(run)}, which proposed it"


_NAMES: Final[Mapping[str, str]] = {
    "run": "TemporalityRun",
    "node": "TemporalityNode",
    "deadline": "TemporalityDeadline",
}


def attributes(kind: Kind, project: str, state: str, **others: str | datetime | None) -> Attributes:
    """Search attributes by name; `others` are run, node and deadline, left out where they are None."""
    found: dict[str, str | datetime] = {
        "TemporalityProject": project_id(project),
        "TemporalityKind": kind,
        "TemporalityState": state,
    }
    for name, value in others.items():
        if value is not None:
            found[_NAMES[name]] = encode_id(value) if name == "run" and isinstance(value, str) else value
    return found


def fairness_key(project: str) -> str:
    """The project as a fairness key; one too long for Temporal stands as its hash."""
    key = project_id(project)
    return key if len(key) <= FAIRNESS_BYTES else digest_id(key)


def one_line(text: str, size: int = SUMMARY_BYTES) -> str:
    """`text` on one line of at most `size` UTF-8 bytes, cut with an ellipsis."""
    line = " ".join(text.split())
    data = line.encode("utf-8", "replace")
    if len(data) <= size:
        return data.decode("utf-8")
    return data[: size - 3].decode("utf-8", "ignore") + "…"
