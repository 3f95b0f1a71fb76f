"""`Approval`: one human decision with an absolute deadline (DESIGN section 8, spec/4).

Decisions are judged one by one, and the journal's transaction has the last word: what it answers is the outcome.
"""

import asyncio
from typing import Any

from temporalio import workflow
from temporalio.exceptions import ActivityError

from domain.access.scope import decider_refusal
from domain.contracts.approval import ApprovalInput, ApprovalView, Decision, DecisionAnswer
from domain.contracts.errors import MalformedMessage, NotPermitted, RollingOver
from domain.contracts.messages import excerpt, sole, understand
from domain.contracts.names import APPROVAL, DECIDE, STATE
from domain.contracts.starting import approval_start
from domain.ports import approving
from domain.ports.approving import EXPIRE, REFUSE_DECISION, Expire, RefuseDecision
from workflows.calls import call
from workflows.failures import DOMAIN_ERRORS, failure_of, refusing, why
from workflows.histories import history_is_full
from workflows.visible import clock, quoted, show, show_state, tell


@workflow.defn(name=APPROVAL, failure_exception_types=DOMAIN_ERRORS)
class Approval:
    """Wait for a decision, or for the deadline."""

    @workflow.init
    def __init__(self, asked: ApprovalInput) -> None:
        self._asked = asked
        self._final: DecisionAnswer | None = None
        self._answers: dict[str, DecisionAnswer] = {}
        self._one_by_one = asyncio.Lock()
        self._deciding = False
        self._rolling_over = False
        self._refused = asked.refused_before
        self._last_refusal: str | None = None

    @workflow.run
    async def run(self, asked: ApprovalInput) -> DecisionAnswer:
        """The outcome: approved, rejected or expired. Ends failed where even the expiry cannot be recorded."""
        show(approval_start(asked).attributes)
        self._tell()
        try:
            final = await self._decided_or_expired()
        except (ActivityError, asyncio.CancelledError) as error:
            await workflow.wait_condition(workflow.all_handlers_finished)
            raise failure_of(error) if isinstance(error, ActivityError) else error from error
        await workflow.wait_condition(workflow.all_handlers_finished)
        return final

    @workflow.update(name=DECIDE)
    async def decide(self, *sent: Any) -> DecisionAnswer:
        """Takes a `Decision` and answers what the transaction decided; the same `decision_id` gets the same answer."""
        with refusing():
            decision = _permitted(sent)
        try:
            return await self._judge(decision)
        except ActivityError as error:
            raise failure_of(error) from error

    @decide.validator
    def _may_decide(self, *sent: Any) -> None:
        with refusing():
            _permitted(sent)
            if self._rolling_over:
                raise RollingOver

    @workflow.signal(name=DECIDE)
    async def decide_by_signal(self, *sent: Any) -> None:
        """Takes a `Decision`; nobody is answered, so that a refusal is an event and shows in the details."""
        try:
            await self._judge_unasked(sent)
        except ActivityError as error:
            self._last_refusal = f"a decision sent by signal had no effect: {why(error)[1]}"
        self._tell()

    @workflow.query(name=STATE)
    def state(self) -> ApprovalView:
        """Where the decision stands."""
        final = self._final
        return ApprovalView(
            approval=self._asked.approval,
            state=final.state if final else "pending",
            deciding=self._deciding,
            deadline=self._asked.deadline,
            application=final.application if final else "none",
            reviewer=final.reviewer if final else None,
            decided_at=final.decided_at if final else None,
            refused=self._refused,
        )

    async def _decided_or_expired(self) -> DecisionAnswer:
        while self._final is None:
            left = self._asked.deadline - workflow.now()
            if left.total_seconds() <= 0:
                async with self._one_by_one:  # a decision in flight is judged by its transaction, not by this timer
                    await self._expire()
                break
            try:
                await workflow.wait_condition(
                    lambda: self._final is not None or history_is_full(self._asked.history_events),
                    timeout=left,
                    timeout_summary=f"nobody may decide from {clock(self._asked.deadline)} on",
                )
            except TimeoutError:
                continue
            if self._final is None:
                await self._roll_over()
        assert self._final is not None
        return self._final

    async def _judge(self, decision: Decision) -> DecisionAnswer:
        asked, now = self._asked, workflow.now
        async with self._one_by_one:
            if (before := self._answers.get(decision.decision_id)) is not None:
                return before
            if now() >= asked.deadline:
                await self._expire()
            if self._final is not None:
                answer = await self._refuse_late(decision, self._final)
            else:
                request = approving.Decide(
                    project=asked.project, approval=asked.approval, decision=decision, decided_at=now()
                )
                self._deciding = True
                try:
                    answer = await call(approving.DECIDE, request, summary=f"{decision.decision} by {decision.actor}")
                finally:
                    self._deciding = False
                self._settle(answer)
            self._answers[decision.decision_id] = answer
            return answer

    async def _expire(self) -> None:
        if self._final is None:
            expiry = Expire(project=self._asked.project, approval=self._asked.approval, at=workflow.now())
            self._settle(await call(EXPIRE, expiry), ends=True)

    def _settle(self, answer: DecisionAnswer, *, ends: bool = False) -> None:
        if not answer.effective and not ends:
            self._refused += 1
            self._last_refusal = answer.reason
        if ends or answer.state != "pending":
            self._final = answer
            show_state(answer.state)
        self._tell()

    async def _judge_unasked(self, sent: tuple[Any, ...]) -> None:
        try:
            await self._judge(_permitted(sent))
        except (MalformedMessage, NotPermitted) as error:
            code = "not_permitted" if isinstance(error, NotPermitted) else "malformed"
            # A key of its own: whoever may not decide must not use up the decision id of somebody who may.
            await self._refuse(f"signal-{workflow.uuid7()}", code, str(error), excerpt(list(sent)))

    async def _refuse_late(self, decision: Decision, final: DecisionAnswer) -> DecisionAnswer:
        code, reason = "already_decided", f"it was {final.state} before, by {final.reviewer or 'somebody else'}"
        if final.state == "expired":
            code, reason = "expired", f"the deadline was {clock(self._asked.deadline)}"
        return await self._refuse(decision.decision_id, code, reason, decision)

    async def _refuse(self, decision_id: str, code: str, reason: str, sent: Any) -> DecisionAnswer:
        refusal = RefuseDecision(
            project=self._asked.project,
            approval=self._asked.approval,
            decision_id=decision_id,
            reason_code=code,
            reason=reason,
            at=workflow.now(),
            actor=sent.actor if isinstance(sent, Decision) else None,
            raw=sent.model_dump(mode="json") if isinstance(sent, Decision) else sent,
        )
        self._refused += 1
        self._last_refusal = reason
        return await call(REFUSE_DECISION, refusal, summary=f"record a refused decision: {code}")

    async def _roll_over(self) -> None:
        self._rolling_over = True
        await workflow.wait_condition(workflow.all_handlers_finished)
        if self._final is None:
            workflow.continue_as_new(self._asked.model_copy(update={"refused_before": self._refused}))

    def _tell(self) -> None:
        asked, final = self._asked, self._final
        if final is None:
            proposer = f", and never run {quoted(asked.proposed_by_run)}" if asked.proposed_by_run else ""
            now = f"A person or a service decides before {clock(asked.deadline)}; no agent{proposer}."
        else:
            by = f" by {quoted(final.reviewer)}" if final.reviewer else ""
            now = f"{final.state.capitalize()}{by}; application: {final.application}."
        refused = f"{self._refused} decisions were refused." if self._refused else None
        last = f"The last refusal: {quoted(self._last_refusal)}" if self._last_refusal else None
        tell(quoted(asked.title) if asked.title else None, now, refused, last)


def _permitted(sent: tuple[Any, ...]) -> Decision:
    """The decision, by somebody who may decide. Raises `MalformedMessage` or `NotPermitted`."""
    decision = understand(Decision, sole(sent, DECIDE), DECIDE)
    if (refusal := decider_refusal(decision.actor)) is not None:
        raise NotPermitted(refusal)
    return decision
