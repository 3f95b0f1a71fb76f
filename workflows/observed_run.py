"""`ObservedRun`: a run driven elsewhere hands in what happened, and is closed once (DESIGN section 7).

A batch is acknowledged only when it is durable; nothing that was taken in is lost when the history starts anew.
"""

import asyncio
from datetime import timedelta
from typing import Any

from temporalio import workflow
from temporalio.exceptions import ActivityError, ApplicationError, FailureError

from domain.contracts.errors import MalformedMessage, RollingOver, RunClosed, TemporalityError
from domain.contracts.extraction import ExtractionInput
from domain.contracts.messages import sole, understand
from domain.contracts.names import COMPLETE, OBSERVED_RUN, PROGRESS, RECORD, run_workflow_id
from domain.contracts.observed_run import (
    Carried,
    Complete,
    CompleteAnswer,
    ObservedRunInput,
    Progress,
    RecordAnswer,
    batch_of,
)
from domain.contracts.starting import extraction_start, observed_run_start
from domain.ports.recording import CLOSE_RUN, CloseRequest, RunOpening
from workflows.calls import call
from workflows.children import start_abandoned, to_the_end
from workflows.failures import DOMAIN_ERRORS, failure_of, refusing, why
from workflows.histories import history_is_full
from workflows.intake import Intake
from workflows.visible import clock, quoted, show, show_state, tell


@workflow.defn(name=OBSERVED_RUN, failure_exception_types=DOMAIN_ERRORS)
class ObservedRun:
    """Take in batches until the run is completed, cancelled, or nothing comes any more."""

    @workflow.init
    def __init__(self, raw: Any) -> None:
        self._run = _understood(raw)
        self._opening = _opening(self._run)
        self._intake = Intake(self._opening, self._run.carried or Carried())
        self._asked: Complete | None = None
        self._answer: CompleteAnswer | None = None
        self._not_closed: ApplicationError | None = None
        self._trouble: str | None = None

    @workflow.run
    async def run(self, raw: Any) -> CompleteAnswer:
        """Takes an `ObservedRunInput`. Ends cancelled where an operator says so, failed where it cannot be closed."""
        show(observed_run_start(self._run).attributes)
        while self._answer is None:
            try:
                end = await self._end()
            except asyncio.CancelledError:
                continue
            await to_the_end(self._close(end))
        await workflow.wait_condition(workflow.all_handlers_finished)
        if self._answer.outcome == "cancelled" and workflow.cancellation_reason() is not None:
            raise asyncio.CancelledError
        return self._answer

    @workflow.update(name=RECORD)
    async def record(self, *sent: Any) -> RecordAnswer:
        """Takes a `RecordBatch`; answers event by event when what it recorded is durable."""
        with refusing():
            batch = batch_of(sole(sent, RECORD))
        try:
            return await self._intake.record(batch)
        except ActivityError as error:
            raise failure_of(error) from error
        finally:
            self._tell()

    @record.validator
    def _may_record(self, *sent: Any) -> None:
        with refusing():
            batch = batch_of(sole(sent, RECORD))
            if self._asked is not None:
                raise RunClosed(self._run.run)
            if not self._intake.has_room(batch):
                raise RollingOver

    @workflow.signal(name=RECORD)
    async def record_by_signal(self, *sent: Any) -> None:
        """Takes a `RecordBatch`; nobody is answered, so that what is wrong becomes an event of the run."""
        if self._asked is not None:
            self._intake.refuse("a batch came by signal after the run was completed")
            return
        try:
            self._intake.queue(batch_of(sole(sent, RECORD)))
        except TemporalityError as error:
            self._intake.queue_anomaly(RECORD, error, sent)
        await self._intake.take()
        self._tell()

    @workflow.update(name=COMPLETE)
    async def complete(self, *sent: Any) -> CompleteAnswer:
        """Takes a `Complete`; answers when the run is closed, and the same whenever it is asked again."""
        with refusing():
            complete = understand(Complete, sole(sent, COMPLETE), COMPLETE)
        self._ask(complete)
        await workflow.wait_condition(lambda: self._answer is not None or self._not_closed is not None)
        if self._answer is None and self._not_closed is not None:
            raise ApplicationError(self._not_closed.message, type=self._not_closed.type)
        assert self._answer is not None
        return self._answer

    @complete.validator
    def _may_complete(self, *sent: Any) -> None:
        with refusing():
            understand(Complete, sole(sent, COMPLETE), COMPLETE)

    @workflow.signal(name=COMPLETE)
    async def complete_by_signal(self, *sent: Any) -> None:
        """Takes a `Complete`; nobody is answered, so that what is wrong becomes an event of the run."""
        try:
            self._ask(understand(Complete, sole(sent, COMPLETE), COMPLETE))
        except MalformedMessage as error:
            if self._asked is None:
                self._intake.queue_anomaly(COMPLETE, error, sent)
                await self._intake.take()
        self._tell()

    @workflow.query(name=PROGRESS)
    def progress(self) -> Progress:
        """What was taken in so far."""
        if self._answer is not None:
            return self._intake.progress("closed")
        if self._asked is not None:
            return self._intake.progress("closing")
        return self._intake.progress("rolling_over" if self._intake.held else "open")

    def _ask(self, complete: Complete) -> None:
        """The first one counts; asked again after a failed attempt, it is a new attempt."""
        if self._asked is None:
            self._asked, self._not_closed = complete, None

    async def _end(self) -> Complete:
        """Wait for the run's end, and move to a new history whenever this one is full."""
        idle = timedelta(seconds=self._run.idle_seconds)
        while self._asked is None:
            if workflow.cancellation_reason() is not None:
                return Complete(outcome="cancelled", reason="an operator cancelled the run's workflow")
            self._intake.go_on()
            self._tell()
            # At least a second, so that what was delivered together with a late first task is seen before it ends.
            left = max(self._intake.idle_at(idle) - workflow.now(), timedelta(seconds=1))
            try:
                await workflow.wait_condition(
                    lambda: self._asked is not None or history_is_full(self._run.history_events),
                    timeout=left,
                    timeout_summary=f"the run is abandoned when nothing comes for {self._run.idle_seconds} seconds",
                )
            except TimeoutError:
                if self._intake.idle_at(idle) <= workflow.now() and self._asked is None:
                    return Complete(outcome="abandoned", reason=f"nothing came for {self._run.idle_seconds} seconds")
                continue
            if self._asked is None:
                await self._roll_over()
        return self._asked

    async def _roll_over(self) -> None:
        """Go on in a new history: the gate first, or steady callers would never let the handlers finish."""
        self._intake.held = True
        self._tell()
        await workflow.wait_condition(
            lambda: self._asked is not None or (workflow.all_handlers_finished() and self._intake.may_move())
        )
        if self._asked is None:
            workflow.continue_as_new(self._run.model_copy(update={"carried": self._intake.carried()}))

    async def _close(self, end: Complete) -> None:
        """Close the trajectory after all that was taken in, and let the extraction follow."""
        requested = self._asked is not None
        self._asked = end
        self._intake.go_on()
        await workflow.wait_condition(self._intake.is_quiet)
        request = CloseRequest(opening=self._opening, complete=end, at=workflow.now())
        try:
            answer = await call(CLOSE_RUN, request, summary=f"close the run as {end.outcome}")
        except ActivityError as error:
            self._not_closed = failure_of(error)
            self._trouble = f"The run could not be closed: {quoted(why(error)[1])}"
            self._asked = None
            if requested:
                return
            await workflow.wait_condition(workflow.all_handlers_finished)
            raise self._not_closed from error
        self._answer = await self._followed(answer)
        show_state(answer.outcome)
        self._tell()

    async def _followed(self, answer: CompleteAnswer) -> CompleteAnswer:
        """`answer` with the extraction that follows; one that cannot start never fails the run."""
        if not self._run.extract or answer.extractor is None or answer.outcome == "cancelled":
            return answer
        try:
            start = extraction_start(
                ExtractionInput(
                    project=self._run.project,
                    run=answer.run,
                    trajectory=answer.trajectory,
                    extractor=answer.extractor,
                    task=self._run.task,
                )
            )
            await start_abandoned(start)
        except (TemporalityError, FailureError) as error:
            self._trouble = f"No extraction was started: {quoted(str(error))}"
            return answer
        return answer.model_copy(update={"extraction": start.id})

    def _tell(self) -> None:
        run, intake = self._run, self._intake
        abandoned_at = intake.last_activity_at + timedelta(seconds=run.idle_seconds)
        open_until = f"Open; abandoned when nothing comes before {clock(abandoned_at)}."
        now = open_until if self._answer is None else f"Closed: {self._answer.outcome}."
        tell(quoted(run.title) if run.title else None, now, *intake.story(), self._trouble)


def _understood(raw: Any) -> ObservedRunInput:
    """The run's input. Raises `MalformedMessage` also for a run under another id: it could be started twice."""
    run = understand(ObservedRunInput, raw, OBSERVED_RUN)
    if (expected := run_workflow_id(run.project, run.run)) != workflow.info().workflow_id:
        raise MalformedMessage(f"this run belongs under the workflow id `{expected}`; start it with that id")
    return run


def _opening(run: ObservedRunInput) -> RunOpening:
    """What `run.opened` says: the same in every history of the run."""
    carried = run.carried
    opened_at = carried.opened_at if carried and carried.opened_at else workflow.info().start_time
    return RunOpening(
        project=run.project,
        run=run.run,
        task=run.task,
        title=run.title,
        agent=run.agent,
        workspace=run.workspace,
        at=opened_at,
    )
