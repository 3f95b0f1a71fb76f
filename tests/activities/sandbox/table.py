"""The table of attempts in docs/sandbox.md, written from what came of them: `python -m tests.activities.sandbox.table`."""

import asyncio
import tempfile
from collections.abc import Mapping
from pathlib import Path

from tests.activities.sandbox.attempt import Attempt, conduct
from tests.activities.sandbox.attempts_host import CREDENTIALS, FILES, KERNEL, NETWORK
from tests.activities.sandbox.attempts_own import PROCESSES, RESOURCES, TOOLS
from tests.activities.sandbox.stage import stage
from tests.conftest import ROOT

ATTEMPTS: tuple[Attempt, ...] = (*FILES, *KERNEL, *NETWORK, *PROCESSES, *CREDENTIALS, *RESOURCES, *TOOLS)
PAGE = ROOT / "docs" / "sandbox.md"
BEGIN, END = "<!-- attempts: begin -->\n", "<!-- attempts: end -->\n"


def rendered(came_of_it: Mapping[str, str]) -> str:
    """The table, given what came of each attempt by its group and name."""
    lines = ["| what is tried | on | expected | what came of it |", "|---|---|---|---|"]
    for attempt in ATTEMPTS:
        lines.append(f"| {attempt.name} | {attempt.group} | {attempt.expected} | {came_of_it[key(attempt)]} |")
    count = f"{len(ATTEMPTS)} attempts; {sum(came_of_it[key(one)] == one.expected for one in ATTEMPTS)} came out as expected."
    return f"{count}\n\n" + "\n".join(lines) + "\n"


def key(attempt: Attempt) -> str:
    """What an attempt is known by."""
    return f"{attempt.group}: {attempt.name}"


def in_page(page: str) -> str:
    """The table that a page holds."""
    return page.split(BEGIN)[1].split(END)[0]


async def _all() -> dict[str, str]:
    with tempfile.TemporaryDirectory(prefix="sandbox-") as folder, stage(Path(folder)) as on:
        return {key(attempt): await conduct(attempt, on) for attempt in ATTEMPTS}


def main() -> None:
    """Makes every attempt and writes what came of it into the page."""
    came_of_it = asyncio.run(_all())
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(page.split(BEGIN)[0] + BEGIN + rendered(came_of_it) + END + page.split(END)[1], encoding="utf-8")
    for attempt in ATTEMPTS:
        if came_of_it[key(attempt)] != attempt.expected:
            print(f"{key(attempt)}: {came_of_it[key(attempt)]}, not {attempt.expected}")


if __name__ == "__main__":
    main()
