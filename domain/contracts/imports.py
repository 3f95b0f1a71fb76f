"""`Import`: one transcript file becomes runs in the journal (DESIGN section 7)."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import AwareDatetime, Field

from domain.contracts.messages import Message


class ImportInput(Message):
    """Start of an import. The file's body is in the artifact store under its sha256; `file` is its name for people.

    `requested_at` is the fixed run time of formats without times. `run` overrides the run id (files with one run only).
    `carried` is the system's own.
    """

    project: str
    file: str = Field(max_length=4096)
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    bytes: int = Field(ge=0)
    requested_at: AwareDatetime
    import_id: str
    run: str | None = None
    extract: bool = True
    carried: CarriedImport | None = None


class ImportedRun(Message):
    """One run of the file as it stands after the import.

    `trajectory` is that of its last close; `extraction` is the workflow that extracts from it.
    """

    run: str
    trajectory: str
    events: int
    added: int
    tool_calls: int
    outcome: str = "completed"
    extraction: str | None = None
    candidates: int | None = None


class RefusedRecord(Message):
    """A record that could not be taken, where it stands, and why."""

    where: str
    reason: str


class ImportAnswer(Message):
    """One row per file. `extractor` is the version that extracts from its runs; None where no extraction follows.

    `status`: imported, skipped (no transcript), refused (unreadable), copy (these bytes are known under another name).
    """

    file: str
    status: Literal["imported", "skipped", "refused", "copy"]
    format: str | None
    project: str
    runs: list[ImportedRun] = Field(default_factory=list)
    events: int = 0
    added: int = 0
    tool_calls: int = 0
    tool_results: int = 0
    errors: int = 0
    unknown: int = 0
    anomalies: int = 0
    candidates: int | None = None
    refused: list[RefusedRecord] = Field(default_factory=list)
    refused_more: int = 0
    reason: str | None = None
    notes: list[str] = Field(default_factory=list)
    first_at: datetime | None = None
    last_at: datetime | None = None
    extractor: str | None = None


class CarriedImport(Message):
    """What an import of many runs takes along when its history starts anew: its answer, and the next run to extract."""

    answer: ImportAnswer
    next: int


ImportInput.model_rebuild()
