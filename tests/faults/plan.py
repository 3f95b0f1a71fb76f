"""Which process is killed when: kills placed at the n-th passage of a named phase, drawn from a seed.

A passage is counted where the work passes, so the same seed places the same kills however fast the machine is.
"""

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal

Victim = Literal["worker", "postgres", "temporal"]
Phase = Literal["activity running", "committed, not acknowledged", "workflow task"]
Work = Literal["import", "record", "extraction", "decision"]
Cell = tuple[Work, Phase]

VICTIMS: Final[tuple[Victim, ...]] = ("worker", "postgres", "temporal")
PHASES: Final[tuple[Phase, ...]] = ("activity running", "committed, not acknowledged", "workflow task")
WORKS: Final[tuple[Work, ...]] = ("import", "record", "extraction", "decision")
INTO_THE_BODY_MS: Final = (0, 0, 1, 3, 8, 20, 60, 150)
"""How long a body has been running when it is interrupted; 0 is before its first step."""


@dataclass(frozen=True, slots=True)
class Kill:
    """Kill `victim` at the `passage`-th passage (from 1) of the cell, or at the first one after it that can be hit.

    `after_ms` counts from the start of the activity's body, in the phase "activity running" only.
    """

    number: int
    victim: Victim
    work: Work
    phase: Phase
    passage: int
    after_ms: int = 0


def draw(seed: int, counts: Mapping[Victim, int], passages: Mapping[Cell, int]) -> list[Kill]:
    """The kills of `seed`: every victim visits all phases in turn, and the works in an order of its own.

    `passages` are those of an undisturbed run of the same inputs. Raises ValueError for a cell that work never passes.
    """
    for cell in cells():
        if not passages.get(cell):
            raise ValueError(f"nothing passes {cell[1]} of {cell[0]}: give the scenario such work")
    rng = random.Random(seed)
    taken: set[tuple[Cell, int]] = set()
    kills: list[Kill] = []
    for victim in VICTIMS:
        order = _in_turn(rng)
        for _ in range(counts.get(victim, 0)):
            work, phase = cell = next(order)
            # The last quarter is left alone, so that what is due late still finds work to interrupt.
            free = [n for n in range(1, passages[cell] * 3 // 4 + 1) if (cell, n) not in taken]
            passage = rng.choice(free) if free else 1
            taken.add((cell, passage))
            after = rng.choice(INTO_THE_BODY_MS) if phase == "activity running" else 0
            kills.append(Kill(len(kills) + 1, victim, work, phase, passage, after))
    return kills


def cells() -> list[Cell]:
    """Every phase of every kind of work."""
    return [(work, phase) for work in WORKS for phase in PHASES]


def _in_turn(rng: random.Random) -> Iterator[Cell]:
    """All cells for ever; any three in a row have three phases, any twelve are all there are."""
    while True:
        phases = rng.sample(PHASES, len(PHASES))
        works = {phase: rng.sample(WORKS, len(WORKS)) for phase in phases}
        for place in range(len(WORKS)):
            for phase in phases:
                yield works[phase][place], phase
