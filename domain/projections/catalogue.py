"""The catalogue of all event types this version knows."""

from __future__ import annotations

from domain.approvals import events as approvals
from domain.extraction import events as extraction
from domain.journal.catalogue import Catalogue
from domain.knowledge import events as knowledge
from domain.operations import events as operations
from domain.runs import events as runs

CATALOGUE = Catalogue((*runs.EVENTS, *knowledge.EVENTS, *extraction.EVENTS, *approvals.EVENTS, *operations.EVENTS))
