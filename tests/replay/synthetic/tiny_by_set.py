"""A workflow that takes its words from a set: in one process it replays, under another hash seed it does not."""

import asyncio
from datetime import timedelta

from temporalio import workflow


@workflow.defn(name="TinyBySet")
class TinyBySet:
    """Starts a timer or writes a memo per word, in whatever order a set has in this process."""

    @workflow.run
    async def run(self, words: list[str]) -> str:
        """Give one command per word, its kind decided by the word."""
        await asyncio.gather(*[_give(word) for word in set(words)])
        return "done"


async def _give(word: str) -> None:
    if word.startswith("sleep"):
        await workflow.sleep(timedelta(milliseconds=1))
    else:
        workflow.upsert_memo({word: True})
