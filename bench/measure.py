"""Interleaved rounds, medians, and bars: a figure is a ratio to a floor that ran beside it, never a number by itself."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

Run = Callable[[int], Awaitable[None]]
"""One round of one contender; it is given the round's number, so that nothing is written twice."""


@dataclass(frozen=True, slots=True)
class Bar:
    """A figure and its bar. `value` is held against `least` or `most`; `detail` says what both sides cost."""

    name: str
    value: float
    least: float | None = None
    most: float | None = None
    aim: str = ""
    unit: str = ""
    detail: str = ""

    @property
    def met(self) -> bool:
        return (self.least is None or self.value >= self.least) and (self.most is None or self.value <= self.most)

    @property
    def wanted(self) -> str:
        """The bar in words."""
        bound = f">= {self.least:g}" if self.least is not None else f"<= {self.most:g}"
        return bound + self.unit + (f" (aim {self.aim})" if self.aim else "")


@dataclass(frozen=True, slots=True)
class Times:
    """Seconds of each round; `cpu` of this process."""

    wall: tuple[float, ...]
    cpu: tuple[float, ...]

    @property
    def median(self) -> float:
        return statistics.median(self.wall)

    @property
    def cpu_median(self) -> float:
        return statistics.median(self.cpu)


async def interleaved(rounds: int, contenders: Mapping[str, Run]) -> dict[str, Times]:
    """Run every contender once per round, in turn, the order turned round each time; the first round warms up and is not counted."""
    wall: dict[str, list[float]] = {name: [] for name in contenders}
    cpu: dict[str, list[float]] = {name: [] for name in contenders}
    for number in range(rounds + 1):
        order = list(contenders) if number % 2 else list(contenders)[::-1]
        for name in order:
            gc.collect()
            started, used = time.perf_counter(), time.process_time()
            await contenders[name](number)
            if number:
                wall[name].append(time.perf_counter() - started)
                cpu[name].append(time.process_time() - used)
    return {name: Times(tuple(wall[name]), tuple(cpu[name])) for name in contenders}


def p95(values: list[float]) -> float:
    """The value that 95 % do not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * 0.95))]
