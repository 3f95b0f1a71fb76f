"""Workflows that stand for `ObservedRun` and `Approval` where a client is tested: the same messages, no journal behind them.

What a real one would answer for a moment or refuse is chosen by the run's title, so that each test states its own weather.
"""

from datetime import timedelta
from typing import Any

from temporalio import activity, workflow
from temporalio.common import RetryPolicy
from temporalio.exceptions import ApplicationError

with workflow.unsafe.imports_passed_through():
    from domain.contracts.approval import ApprovalInput, ApprovalView, DecisionAnswer
    from domain.contracts.errors import TemporalityError
    from domain.contracts.names import APPROVAL, COMPLETE, DECIDE, OBSERVED_RUN, RECORD, STATE
    from domain.contracts.observed_run import CompleteAnswer, EventAnswer, ObservedRunInput, RecordAnswer

GATE = timedelta(seconds=1)


def refusal(kind: str, sentence: str) -> ApplicationError:
    return ApplicationError(sentence, type=kind, non_retryable=True)


@workflow.defn(name=OBSERVED_RUN, failure_exception_types=[TemporalityError])
class FakeObservedRun:
    """Remembers events; titled `gate` it refuses for its first second, titled `handover` it starts anew after each batch."""

    @workflow.init
    def __init__(self, run: ObservedRunInput) -> None:
        self.run_input = run
        # what is carried over stands in a field that no test uses
        self.known = run.agent.split(",") if run.agent else []
        self.opened_at = workflow.now()
        self.closed: str | None = None
        self.hand_over = False

    @workflow.run
    async def run(self, run: ObservedRunInput) -> str:
        await workflow.wait_condition(lambda: self.closed is not None or self.hand_over)
        await workflow.wait_condition(workflow.all_handlers_finished)
        if self.closed is None:
            workflow.continue_as_new(run.model_copy(update={"agent": ",".join(self.known)}))
        return self.closed

    @workflow.update(name=RECORD)
    async def record(self, raw: Any) -> RecordAnswer:
        answers: list[EventAnswer] = []
        for index, event in enumerate(raw["events"]):
            event_id = event.get("event_id") if isinstance(event, dict) else None
            if event_id is None:
                answers.append(
                    EventAnswer(index=index, status="refused", reason="an event is an object with an event_id")
                )
                continue
            new = event_id not in self.known
            if new:
                self.known.append(event_id)
            status = "recorded" if new else "duplicate"
            answers.append(
                EventAnswer(index=index, event_id=event_id, status=status, seq=self.known.index(event_id) + 1)
            )
        self.hand_over = self.run_input.title == "handover"
        counts = [sum(answer.status == status for answer in answers) for status in ("recorded", "duplicate", "refused")]
        return RecordAnswer(recorded=counts[0], duplicates=counts[1], refused=counts[2], events=answers)

    @record.validator
    def check(self, raw: Any) -> None:
        if self.run_input.title == "gate" and workflow.now() < self.opened_at + GATE:
            raise refusal("RollingOver", "The run is moving to a new history; send the same batch again in a moment.")
        if self.run_input.title == "refuse":
            raise refusal("PayloadTooLarge", "The payload is over the limit: it is far too large")

    @workflow.update(name=COMPLETE)
    async def complete(self, raw: Any) -> CompleteAnswer:
        outcome = raw.get("outcome", "completed")
        self.closed = ",".join(self.known)
        return CompleteAnswer(run=self.run_input.run, outcome=outcome, trajectory=self.closed, extraction=None)

    @workflow.query(name="events")
    def events(self) -> list[str]:
        return self.known


@workflow.defn(name=APPROVAL)
class FakeApproval:
    """The first decision before the deadline takes effect; titled `linger` it answers a second before it closes."""

    @workflow.init
    def __init__(self, asked: ApprovalInput) -> None:
        self.asked = asked
        self.answer: DecisionAnswer | None = None
        self.expired = False

    @workflow.run
    async def run(self, asked: ApprovalInput) -> str:
        try:
            await workflow.wait_condition(
                lambda: self.answer is not None, timeout=max(timedelta(0), asked.deadline - workflow.now())
            )
        except TimeoutError:
            self.expired = True
        if asked.title == "linger":
            await workflow.sleep(timedelta(seconds=30))
        await workflow.wait_condition(workflow.all_handlers_finished)
        return "done"

    @workflow.update(name=DECIDE)
    async def decide(self, raw: Any) -> DecisionAnswer:
        approval = self.asked.approval
        if self.answer is not None:
            return self.answer.model_copy(update={"effective": False, "reason_code": "already_decided"})
        if workflow.now() >= self.asked.deadline:
            return DecisionAnswer(
                approval=approval, effective=False, state="expired", application="none", reason_code="expired"
            )
        state = "rejected" if raw["decision"] == "reject" else "approved"
        self.answer = DecisionAnswer(
            approval=approval,
            effective=True,
            state=state,
            application="applied",
            reviewer=raw["actor"],
            decided_at=workflow.now(),
        )
        return self.answer

    @decide.validator
    def check(self, raw: Any) -> None:
        if raw["actor"].startswith("agent:"):
            raise refusal("NotPermitted", "This actor may not do this: an agent never decides")

    @workflow.query(name=STATE)
    def state(self) -> ApprovalView:
        state = self.answer.state if self.answer else ("expired" if self.expired else "pending")
        return ApprovalView(
            approval=self.asked.approval,
            state=state,
            deciding=False,
            deadline=self.asked.deadline,
            application=self.answer.application if self.answer else "none",
            reviewer=self.answer.reviewer if self.answer else None,
            decided_at=self.answer.decided_at if self.answer else None,
        )


@activity.defn
async def too_much() -> list[str]:
    return ["x" * 10_000] * 300


@activity.defn
async def leak(text: str) -> str:
    activity.heartbeat(f"holding {text}")
    raise ValueError(f"no such key: {text}")


@workflow.defn
class Asks:
    """Calls one activity, and lets its text into every place that Temporal shows."""

    @workflow.run
    async def run(self, name: str, text: str) -> str:
        workflow.set_current_details(f"using {text}")
        workflow.upsert_memo({"again": text})
        answer: str = await workflow.execute_activity(
            name,
            args=[text] if text else [],
            start_to_close_timeout=timedelta(seconds=10),
            # `too_much` has the default policy, which tries again without end
            retry_policy=RetryPolicy(maximum_attempts=2) if name == "leak" else None,
            summary=f"ask with {text}",
        )
        return answer

    @workflow.signal
    async def hear(self, raw: Any) -> None:
        workflow.upsert_memo({"heard": raw})
