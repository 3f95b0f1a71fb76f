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

from bench import appends, reads
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


async def measure(arguments: argparse.Namespace) -> list[Bar]:
    """The bars of every bench asked for, in order."""
    found: list[Bar] = []
    async with place(arguments.shared, quick=arguments.quick) as here:
        for name, bench in BENCHES.items():
            if arguments.only and arguments.only not in name:
                continue
            print(f"{name} ...", file=sys.stderr, flush=True)
            bars = await bench(here)
            for bar in bars:
                print(
                    f"  {bar.name}: {bar.value:.2f}{bar.unit} ({bar.wanted}); {bar.detail}", file=sys.stderr, flush=True
                )
            found.extend(bars)
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
