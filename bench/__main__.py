"""`python -m bench`: measure, write docs/benchmarks.md, and exit with 1 when a bar is missed.

`--quick` runs everything small and writes nothing; `--only WORD` runs the benches whose name holds the word.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

from bench import appends, deciding, imports, reads
from bench.installation import Installation, installation
from bench.measure import Bar
from bench.place import Place, place
from bench.report import table, write

ROOT = Path(__file__).resolve().parents[1]

Bench = Callable[[Place], Awaitable[list[Bar]]]
BENCHES: dict[str, Bench] = {
    "single": appends.single,
    "batches": appends.batches,
    "writers": appends.writers,
    "rebuild": reads.rebuilding,
    "verify": reads.verifying,
}

WHOLE: dict[str, Callable[[Place, Installation], Awaitable[list[Bar]]]] = {
    "import": imports.against_activities,
    "long": imports.long_file,
    "decide": deciding.deciding,
    "histories": imports.histories,
    "memory": imports.memory,
}
"""Those that need servers and a worker; `memory` comes last, for its figure is of everything the worker did."""


async def measure(arguments: argparse.Namespace) -> list[Bar]:
    """The bars of every bench asked for, in order."""
    found: list[Bar] = []

    async def run(name: str, bars: Awaitable[list[Bar]]) -> None:
        print(f"{name} ...", file=sys.stderr, flush=True)
        for bar in await bars:
            print(f"  {bar.name}: {bar.value:.2f}{bar.unit} ({bar.wanted}); {bar.detail}", file=sys.stderr, flush=True)
            found.append(bar)

    async with place(arguments.shared, quick=arguments.quick) as here:
        for name, bench in BENCHES.items():
            if arguments.only in name:
                await run(name, bench(here))
        if any(arguments.only in name for name in WHOLE):
            async with installation(here) as running:
                for name, whole in WHOLE.items():
                    if arguments.only in name:
                        await run(name, whole(here, running))
    return found


def main() -> int:
    """0 when every bar is met."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes, nothing written")
    parser.add_argument("--only", default="", help="run the benches whose name holds this word")
    shared = os.environ.get("TEMPORALITY_SHARED")
    parser.add_argument("--shared", type=Path, default=Path(shared) if shared else ROOT.parent / "shared" / "data")
    arguments = parser.parse_args()
    bars = asyncio.run(measure(arguments))
    print(table(bars))
    if not arguments.quick and not arguments.only:
        write(ROOT / "docs" / "benchmarks.md", bars)
    missed = [bar.name for bar in bars if not bar.met]
    if missed:
        print(f"missed: {', '.join(missed)}", file=sys.stderr)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
