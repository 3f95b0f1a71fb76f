"""The named statements of `reading.sql`, loaded once.

A statement is what stands under its `-- name --` line; `{runs}` or `{r.runs}` in it stands for the columns of that
table's rows.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

from domain.approvals.state import APPROVALS
from domain.extraction.state import EXTRACTIONS
from domain.journal.rows import Table
from domain.knowledge.state import EVIDENCE, NODES
from domain.runs.state import FRAMES, OPERATIONS, RUNS, TASKS

_NAME = re.compile(r"^-- ([a-z][a-z0-9_]*) --$", re.MULTILINE)
_COLUMNS = re.compile(r"\{(?:(\w+)\.)?(\w+)\}")
_TABLES: Final[Mapping[str, Table]] = {
    "nodes": NODES, "evidence": EVIDENCE, "approvals": APPROVALS, "runs": RUNS, "frames": FRAMES, "tasks": TASKS,
    "operations": OPERATIONS, "extractions": EXTRACTIONS,
}  # fmt: skip


def load(path: Path) -> Mapping[str, bytes]:
    """Statements by name. Raises ValueError for a name that stands twice or an empty block, KeyError for a table."""
    pieces = _NAME.split(path.read_text(encoding="utf-8"))
    found: dict[str, bytes] = {}
    for name, body in zip(pieces[1::2], pieces[2::2], strict=True):
        if name in found or not body.strip():
            raise ValueError(f"{path.name}: the block {name} is empty or stands there twice")
        found[name] = _COLUMNS.sub(_columns, body.strip().rstrip(";")).encode()
    return MappingProxyType(found)


def _columns(match: re.Match[str]) -> str:
    alias = f"{match[1]}." if match[1] else ""
    return ", ".join(alias + column for column in _TABLES[match[2]].columns)


SQL: Final = load(Path(__file__).with_name("reading.sql"))
