"""The extractor's version and the stable id of an extraction.

Changing what the extractor may return, or the rules and prompt it works by, takes a new version: earlier extractions
keep theirs and the same trajectory may be extracted again under the new one (spec/2 sections 26 and 27).
"""

from __future__ import annotations

from domain.contracts.ids import digest_id

EXTRACTOR = "knowledge-extractor.v1"
"""Written into every event the extractor causes, as producer and version."""
EXTRACTED = frozenset({"completed", "failed", "abandoned", "budget_exhausted"})
"""Outcomes of runs that are extracted; what an operator cancelled is not (DESIGN section 8)."""
SOURCE = "temporality/extraction"
ACTOR = "system:temporality:extractor"


def extraction_id(trajectory: str, version: str = EXTRACTOR) -> str:
    """hash(trajectory id, extraction version), 32 hex digits: the same trajectory read again by the same version is
    the same extraction.
    """
    return digest_id("extraction/1", trajectory, version)


def producer(version: str = EXTRACTOR) -> tuple[str, str]:
    """`knowledge-extractor.v1` as a producer and its version."""
    name, _, number = version.rpartition(".")
    return name, number
