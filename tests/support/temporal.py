"""Temporal's dev server for one test session, from the binary that the environment holds; nothing is downloaded."""

import contextlib
import sys
from collections.abc import AsyncIterator
from pathlib import Path

from temporalio.converter import DataConverter
from temporalio.testing import WorkflowEnvironment

TEMPORAL = Path(sys.executable).parent / "temporal"


@contextlib.asynccontextmanager
async def dev_server(data_converter: DataConverter = DataConverter.default) -> AsyncIterator[WorkflowEnvironment]:
    """A dev server in memory on a free loopback port, stopped at the end."""
    async with await WorkflowEnvironment.start_local(
        dev_server_existing_path=str(TEMPORAL),
        dev_server_log_level="error",
        data_converter=data_converter,
    ) as env:
        yield env
