"""How a client starts a workflow: `domain.contracts.starting` in Temporal's own words.

A run started by a platform looks in Temporal as one started by the system does.
"""

from typing import Any

from temporalio.common import (
    Priority,
    SearchAttributeKey,
    SearchAttributePair,
    TypedSearchAttributes,
    WorkflowIDConflictPolicy,
    WorkflowIDReusePolicy,
)

from domain.contracts.starting import Attributes, Start


def start_options(start: Start) -> dict[str, Any]:
    """Everything `Client.start_workflow` and `WithStartWorkflowOperation` take beside the workflow, its input and the queue.

    A workflow that runs already is joined.
    """
    return {
        "id": start.id,
        "id_reuse_policy": WorkflowIDReusePolicy[start.reuse.upper()],
        "id_conflict_policy": WorkflowIDConflictPolicy.USE_EXISTING,
        "search_attributes": _typed(start.attributes),
        "static_summary": start.summary,
        "priority": Priority(fairness_key=start.fairness_key),
    }


def _typed(attributes: Attributes) -> TypedSearchAttributes:
    return TypedSearchAttributes(
        [
            SearchAttributePair(SearchAttributeKey.for_keyword(name), value)
            if isinstance(value, str)
            else SearchAttributePair(SearchAttributeKey.for_datetime(name), value)
            for name, value in attributes.items()
        ]
    )
