"""What an import asks of the world."""

from __future__ import annotations

from domain.contracts.imports import ImportAnswer, ImportInput
from domain.ports.activity_ref import ActivityRef

IMPORT_TRANSCRIPT = ActivityRef("import.transcript", takes=ImportInput, gives=ImportAnswer)
"""Read the file, append its events, close its runs. Its answer is kept in the journal and given again when asked again."""
