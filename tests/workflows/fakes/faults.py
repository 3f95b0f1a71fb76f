"""What shall go wrong, planned by a test for one activity of one project; every call is counted."""

import asyncio
from collections import Counter, defaultdict

from temporalio import activity

from domain.contracts.errors import TemporalityError


class Faults:
    """Shared by all fakes of a world."""

    def __init__(self) -> None:
        self._errors: dict[tuple[str, str], list[TemporalityError]] = defaultdict(list)
        self._holds: dict[tuple[str, str], asyncio.Event] = {}
        self.calls: Counter[tuple[str, str]] = Counter()

    def fail(self, name: str, project: str, *errors: TemporalityError) -> None:
        """Raise each error once, in order, then work again."""
        self._errors[name, project] += errors

    def hold(self, name: str, project: str) -> asyncio.Event:
        """Let the activity start and not go on until the event is set."""
        return self._holds.setdefault((name, project), asyncio.Event())

    async def meet(self, project: str) -> None:
        """Called by every fake first."""
        name = activity.info().activity_type
        self.calls[name, project] += 1
        if (held := self._holds.get((name, project))) is not None:
            await held.wait()
        if errors := self._errors[name, project]:
            raise errors.pop(0)
