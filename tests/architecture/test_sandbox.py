"""Gate 3: every workflow loads in the worker's sandbox, with nothing passed through but what is meant to be."""

import asyncio
from typing import Any

import pytest
from temporalio.worker.workflow_sandbox import UnintentionalPassthroughError
from temporalio.workflow import _Definition

from tests.architecture.synthetic_sandbox import Careless
from tests.replay.synthetic.calling import Calling
from workflows.registry import WORKFLOWS
from workflows.sandbox import PASSED_THROUGH, sandbox


def _load(workflow: type[Any], *, strict: bool = True) -> None:
    """Load the workflow as a worker does when it starts, in a loop of its own: the runtime marks the loop it meets."""

    async def load() -> None:
        sandbox(strict=strict).prepare_workflow(_Definition.must_from_class(workflow))

    loop = asyncio.new_event_loop()
    try:
        loop.run_until_complete(load())
    finally:
        loop.close()


@pytest.mark.parametrize("workflow", [*WORKFLOWS, Calling])
def test_it_loads_in_the_strict_sandbox(workflow: type[Any]) -> None:
    _load(workflow)


def test_an_import_that_is_not_passed_through_is_refused() -> None:
    _load(Careless, strict=False)
    with pytest.raises(UnintentionalPassthroughError, match="rfc8785"):
        _load(Careless)


def test_a_workflows_own_file_is_loaded_afresh_and_domain_is_not() -> None:
    assert "domain" in PASSED_THROUGH
    assert not any(workflow.__module__.startswith(PASSED_THROUGH) for workflow in WORKFLOWS)
