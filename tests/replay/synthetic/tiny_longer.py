"""`Tiny` with one sleep more: the deliberate break that must turn replay and fingerprint red."""

from datetime import timedelta

from temporalio import workflow


@workflow.defn(name="Tiny")
class Tiny:
    """Waits once more than the workflow whose histories exist."""

    @workflow.run
    async def run(self, words: list[str]) -> str:
        """Join the words after two moments."""
        await workflow.sleep(timedelta(milliseconds=1), summary="a moment")
        for word in words:
            await _pause(word)
        await workflow.sleep(timedelta(milliseconds=1), summary="one more")
        return " ".join(words)


async def _pause(word: str) -> None:
    await workflow.sleep(timedelta(milliseconds=1), summary=f"before {word}")
