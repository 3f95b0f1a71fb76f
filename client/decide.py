"""Decide an approval, and learn what that did, however late, repeated or unlucky the decision is.

What the caller gets is what a transaction decided; "queued" is never an answer. The same decision id is the same decision.
"""

from typing import Final

from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode

from client.asking import Patience, until_answered
from domain.contracts.approval import ApprovalView, Decision, DecisionAnswer
from domain.contracts.errors import NotFound
from domain.contracts.names import DECIDE, STATE, approval_workflow_id

EXPIRED: Final = "expired"
ALREADY_DECIDED: Final = "already_decided"
CLOSED: Final = "closed"


async def decide(
    client: Client, project: str, approval: str, decision: Decision, patience: Patience | None = None
) -> DecisionAnswer:
    """Send `decision` to the approval and give what it did.

    A decision without effect is an answer too (`effective` is false): past the deadline (`expired`), after another one
    (`already_decided`), or with `reason_code` as the handler says. Raises `NotPermitted` and `MalformedMessage` when it was
    refused before it was considered, `NotFound` when there is no such approval, and `NoAnswer` when nobody answered: it may
    still take effect, so ask again with the same `decision_id`.
    """
    workflow_id = approval_workflow_id(project, approval)
    handle = client.get_workflow_handle(workflow_id)
    sent = decision.model_dump(mode="json", exclude_unset=True)

    async def ask() -> DecisionAnswer:
        try:
            return await handle.execute_update(DECIDE, sent, id=decision.decision_id, result_type=DecisionAnswer)
        except RPCError as error:
            if error.status != RPCStatusCode.NOT_FOUND:
                raise
        return await _late(client, workflow_id, approval)

    return await until_answered(ask, patience or Patience(in_all=60.0), f"asking {workflow_id} to decide")


async def _late(client: Client, workflow_id: str, approval: str) -> DecisionAnswer:
    """What a closed approval says of itself to a decision that came after it."""
    handle = client.get_workflow_handle(workflow_id)
    try:
        view = await handle.query(STATE, result_type=ApprovalView)
    except RPCError as error:
        if error.status == RPCStatusCode.NOT_FOUND:
            raise NotFound(f"{workflow_id}; `temporality review` lists what waits") from error
        raise
    return DecisionAnswer(
        approval=approval,
        effective=False,
        state=view.state,
        application=view.application,
        reason_code=_reason_code(view),
        reason=f"the approval was {view.state} before this decision came",
        reviewer=view.reviewer,
        decided_at=view.decided_at,
    )


def _reason_code(view: ApprovalView) -> str:
    if view.state == "pending":
        return CLOSED
    return EXPIRED if view.state == "expired" else ALREADY_DECIDED
