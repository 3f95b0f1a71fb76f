"""A workflow with timers of its own and in a helper, whose recorded history the replay gate tests itself with."""

from datetime import timedelta

from temporalio import workflow


@workflow.defn(name="Tiny")
class Tiny:
    """Waits, and says what it was given in the order of a list."""

    @workflow.run
    async def run(self, words: list[str]) -> str:
        """Join the words after a moment."""
        await workflow.sleep(timedelta(milliseconds=1), summary="a moment")
        for word in words:
            await _pause(word)
        return " ".join(words)


async def _pause(word: str) -> None:
    await workflow.sleep(timedelta(milliseconds=1), summary=f"before {word}")
