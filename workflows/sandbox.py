"""How every workflow of Temporality runs and replays: worker, tests and replay take it from here.

What is passed through is loaded once per worker instead of once per cached workflow, so its globals are immutable.
"""

from collections.abc import Sequence
from typing import Final

from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner, SandboxRestrictions
from temporalio.workflow import SandboxImportNotificationPolicy

from workflows.failures import DOMAIN_ERRORS

FAILURES: Final[Sequence[type[BaseException]]] = DOMAIN_ERRORS
"""Errors that end a run or an update with their sentence; any other one would block the run until it is mended."""

PASSED_THROUGH: Final = (
    "domain",
    "workflows.calls",
    "workflows.children",
    "workflows.failures",
    "workflows.histories",
    "workflows.intake",
    "workflows.visible",
)
"""`domain` costs 3.4 MB per cached workflow otherwise; a workflow's own file is always loaded afresh."""


def sandbox(*, strict: bool = False) -> SandboxedWorkflowRunner:
    """The runner for `Worker` and `Replayer`; `strict` refuses an import neither standard nor passed through."""
    restrictions = SandboxRestrictions.default.with_passthrough_modules(*PASSED_THROUGH)
    if strict:
        restrictions = restrictions.with_import_notification_policy(
            SandboxImportNotificationPolicy.WARN_ON_DYNAMIC_IMPORT
            | SandboxImportNotificationPolicy.RAISE_ON_UNINTENTIONAL_PASSTHROUGH
        )
    return SandboxedWorkflowRunner(restrictions=restrictions)
