"""A transcript of any size streams: the memory of a reading process, measured from outside of pytest's own."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
MEGABYTE = 1 << 20
MEASURE = """
import resource, sys
from datetime import UTC, datetime
from activities.importers.assemble import AssemblyOptions, FileEnd, SourceFile, assemble
from activities.importers.recognise import recognise
from domain.runs.transcript import Limits

def peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

before = peak()
with open(sys.argv[1], "rb") as stream:
    reader = recognise(stream.read(65536))
    stream.seek(0)
    source = SourceFile("big.jsonl", reader.format, reader.version)
    options = AssemblyOptions("p", datetime(2026, 1, 1, tzinfo=UTC), b"key")
    for item in assemble(source, reader.read(stream, Limits()), options):
        if isinstance(item, FileEnd):
            found = item.counts
            print(peak() - before, found.events, found.tool_calls, found.tool_results, found.refused)
"""


def write_session(path: Path, size: int, rng: random.Random) -> int:
    """A session of `size` bytes or a little more, with one line of 20 MB in it; how many calls it holds."""
    written = number = calls = 0
    parent: str | None = None
    with path.open("w") as file:
        while written < size:
            own = f"{rng.getrandbits(32):08x}-0000-4000-8000-{number:012x}"
            said: dict[str, object] = {
                "parentUuid": parent, "sessionId": "big", "cwd": "/repo", "uuid": own,
                "timestamp": f"2026-01-{1 + number // 86400:02d}T{number // 3600 % 24:02d}:{number // 60 % 60:02d}:00Z",
            }  # fmt: skip
            filler = "x" * rng.randint(500, 1500)
            match number % 3:
                case 0:
                    said |= {"type": "user", "message": {"role": "user", "content": f"do {number} {filler}"}}
                case 1:
                    block = {"type": "tool_use", "id": f"t{number}", "name": "Bash", "input": {"command": filler}}
                    said |= {"type": "assistant", "message": {"role": "assistant", "id": own, "content": [block]}}
                    calls += 1
                case _:
                    block = {"type": "tool_result", "tool_use_id": f"t{number - 1}", "content": filler}
                    said |= {"type": "user", "message": {"role": "user", "content": [block]}}
            if number == 3000:
                said["message"] = {"role": "user", "content": "y" * (20 * MEGABYTE)}
            written += file.write(json.dumps(said) + "\n")
            parent, number = own, number + 1
    return calls


@pytest.mark.slow
def test_200_megabytes_stream(tmp_path: Path, rng: random.Random) -> None:
    path = tmp_path / "big.jsonl"
    calls = write_session(path, 200 * 1000 * 1000, rng)
    ran = subprocess.run(
        [sys.executable, "-c", MEASURE, str(path)], cwd=ROOT, capture_output=True, text=True, check=True, timeout=600
    )
    extra, events, started, ended, refused = map(int, ran.stdout.split())
    assert (started, refused) == (calls, 1) and calls - ended <= 1 and events > 2 * calls
    assert extra < 150 * MEGABYTE, f"{extra / MEGABYTE:.0f} MB for a file of 200 MB"
