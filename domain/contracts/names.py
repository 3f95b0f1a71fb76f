"""Names that platforms and operators see: workflow types and ids, messages, queues, search attributes.

They are a public contract: pinned by a test, changed only by addition.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from domain.contracts.ids import encode_id, project_id

OBSERVED_RUN = "ObservedRun"
IMPORT = "Import"
KNOWLEDGE_EXTRACTION = "KnowledgeExtraction"
APPROVAL = "Approval"

TASK_QUEUE = "temporality"

RECORD = "record"
COMPLETE = "complete"
DECIDE = "decide"
PROGRESS = "progress"
STATE = "state"

SEARCH_ATTRIBUTES: Final[Mapping[str, str]] = {
    "TemporalityProject": "Keyword",
    "TemporalityKind": "Keyword",
    "TemporalityRun": "Keyword",
    "TemporalityNode": "Keyword",
    "TemporalityTier": "Keyword",
    "TemporalityState": "Keyword",
    "TemporalityDeadline": "Datetime",
}
"""Name to Temporal's index type; never personal data, because search attributes are not encrypted."""


_OF_A_PROJECT = frozenset({"run", "import", "extraction", "approval", "ingest"})


def project_of(workflow_id: str) -> str | None:
    """The encoded project id in a workflow id; None where the workflow belongs to no project."""
    kind, *rest = workflow_id.split("/")
    return rest[0] if kind in _OF_A_PROJECT and len(rest) > 1 and rest[0] else None


def run_workflow_id(project: str, run: str) -> str:
    return f"run/{project_id(project)}/{encode_id(run, 'run')}"


def import_workflow_id(project: str, source_hash: str) -> str:
    return f"import/{project_id(project)}/{source_hash}"


def extraction_workflow_id(project: str, trajectory: str, extractor: str, n: int = 1) -> str:
    base = f"extraction/{project_id(project)}/{trajectory}/{extractor}"
    return base if n == 1 else f"{base}/{n}"


def approval_workflow_id(project: str, approval: str) -> str:
    return f"approval/{project_id(project)}/{encode_id(approval, 'approval')}"
