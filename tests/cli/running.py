"""Run the command over a home of its own: in this process, which is quick, or in a process of its own, as a user does."""

import contextlib
import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

from cli.main import run_words

ROOT = Path(__file__).resolve().parents[2]
ACTOR = "human:example.org:tester"


@dataclass(frozen=True)
class Ran:
    """What one command did."""

    code: int
    out: str
    err: str

    @property
    def objects(self) -> list[Any]:
        """Standard output as one JSON object to a line."""
        return [json.loads(line) for line in self.out.splitlines()]

    @property
    def object(self) -> Any:
        (found,) = self.objects
        return found


@dataclass(frozen=True)
class Command:
    """`temporality` over one home."""

    home: Path
    more: tuple[tuple[str, str], ...] = ()

    def environment(self) -> dict[str, str]:
        mine = {k: v for k, v in os.environ.items() if not k.startswith(("TEMPORALITY_", "TEMPORAL_", "DATABASE_URL"))}
        ports = {"TEMPORALITY_TEMPORAL_PORT": "0", "TEMPORALITY_UI_PORT": "0"}
        return {**mine, **ports, "TEMPORALITY_HOME": str(self.home), "COLUMNS": "200", **dict(self.more)}

    def __call__(self, *words: str | Path, stdin: str = "") -> Ran:
        """In this process, in a thread of its own, because the command brings its own event loop."""
        out, err = io.StringIO(), io.StringIO()
        environment = mock.patch.dict(os.environ, self.environment(), clear=True)
        with _streams(out, err, stdin), environment, ThreadPoolExecutor(1) as thread:
            code = thread.submit(run_words, [str(word) for word in words]).result()
        return Ran(code, out.getvalue(), err.getvalue())

    def process(self, *words: str | Path, seconds: float = 120) -> Ran:
        """In a process of its own, started elsewhere."""
        argv = [sys.executable, "-P", str(ROOT / "cli" / "__main__.py"), *map(str, words)]
        done = subprocess.run(
            argv, env=self.environment(), capture_output=True, timeout=seconds, cwd="/", check=False, text=True
        )
        return Ran(done.returncode, done.stdout, done.stderr)


@contextlib.contextmanager
def _streams(out: io.StringIO, err: io.StringIO, stdin: str) -> Iterator[None]:
    patched = mock.patch("sys.stdin", io.StringIO(stdin))
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), patched:
        yield
