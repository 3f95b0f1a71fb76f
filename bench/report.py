"""The table of bars, and the page it is written to."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from bench.measure import Bar

HEAD = """# Benchmarks

Written by `make bench`. Every figure is a ratio to a floor that was measured in the same job, in interleaved rounds, as medians;
the absolute figures beside it depend on the machine and on what else it does, and drift by several times within an hour.
"""


def table(bars: Sequence[Bar]) -> str:
    """A Markdown table, one row for each bar."""
    lines = ["| figure | measured | bar | met | detail |", "|---|---|---|---|---|"]
    for bar in bars:
        met = "yes" if bar.met else "**no**"
        lines.append(f"| {bar.name} | {bar.value:.2f}{bar.unit} | {bar.wanted} | {met} | {bar.detail} |")
    return "\n".join(lines)


def write(path: Path, bars: Sequence[Bar]) -> None:
    """Replace the page."""
    machine = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    measured = f"Measured {datetime.now(UTC):%Y-%m-%d} on {machine}; load before and after is not corrected for."
    path.write_text(f"{HEAD}\n{measured}\n\n{table(bars)}\n", encoding="utf-8")
