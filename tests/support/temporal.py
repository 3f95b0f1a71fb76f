"""Temporal's dev server for one test session, from the binary that the environment holds; nothing is downloaded."""

import contextlib
import sys
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

from temporalio.common import SearchAttributeKey
from temporalio.converter import DataConverter
from temporalio.testing import WorkflowEnvironment

TEMPORAL = Path(sys.executable).parent / "temporal"


@contextlib.asynccontextmanager
async def dev_server(
    data_converter: DataConverter = DataConverter.default, *, search_attributes: Mapping[str, str] | None = None
) -> AsyncIterator[WorkflowEnvironment]:
    """A dev server in memory on a free loopback port, stopped at the end; it knows `search_attributes` (name to type)."""
    known = [
        SearchAttributeKey.for_datetime(name) if kind == "Datetime" else SearchAttributeKey.for_keyword(name)
        for name, kind in (search_attributes or {}).items()
    ]
    async with await WorkflowEnvironment.start_local(
        dev_server_existing_path=str(TEMPORAL),
        dev_server_log_level="error",
        data_converter=data_converter,
        search_attributes=known,
    ) as env:
        yield env
