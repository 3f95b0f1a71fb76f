"""Every workflow a worker of Temporality serves.

It stands apart from the package itself because the sandbox runs a package's `__init__` again
for each workflow it caches.
"""

from typing import Any, Final

from workflows.approval import Approval
from workflows.import_transcript import Import
from workflows.knowledge_extraction import KnowledgeExtraction
from workflows.observed_run import ObservedRun

WORKFLOWS: Final[tuple[type[Any], ...]] = (ObservedRun, Import, KnowledgeExtraction, Approval)
