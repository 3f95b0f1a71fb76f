"""A workflow that imports a library nobody passes through: gate 3 tests itself with it."""

import rfc8785
from temporalio import workflow


@workflow.defn(name="Careless")
class Careless:
    """Canonicalises in the workflow what an activity should have."""

    @workflow.run
    async def run(self) -> str:
        """Give the canonical form of nothing."""
        return rfc8785.dumps({}).decode()
