"""What every test is given keeps its promises: seeds, skips, and no workflow that ends over its handlers."""

import os
import random
import subprocess
import sys
from pathlib import Path

from tests.conftest import ROOT, SEED, seed_of


def _pytest(tmp_path: Path, body: str, **env: str) -> tuple[int, str]:
    test = tmp_path / "test_inner.py"
    test.write_text(body)
    command = [sys.executable, "-m", "pytest", "-p", "tests.conftest", "-p", "no:cacheprovider", "-c", "pyproject.toml"]
    ended = subprocess.run(
        [*command, "--rootdir", str(ROOT), str(test)],
        cwd=ROOT,
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        check=False,
    )
    return ended.returncode, ended.stdout + ended.stderr


def test_a_workflow_that_ends_over_a_handler_fails_its_test(tmp_path: Path) -> None:
    code, said = _pytest(
        tmp_path,
        "import warnings\nfrom temporalio.workflow import UnfinishedUpdateHandlersWarning as W\n"
        "def test_it():\n    warnings.warn(W('TMPRL1102 here'))\n",
    )
    assert code == 1
    assert "ended over a running handler: TMPRL1102 here" in said


def test_a_shared_test_skips_with_a_line_that_says_why(tmp_path: Path) -> None:
    code, said = _pytest(
        tmp_path,
        "import pytest\n@pytest.mark.shared\ndef test_it(shared_data):\n    assert shared_data.is_dir()\n",
        TEMPORALITY_SHARED=str(tmp_path / "nowhere"),
    )
    assert code == 0
    assert f"no shared data at {tmp_path / 'nowhere'}" in said


def test_a_failure_prints_the_seed_and_the_seed_repeats_it(tmp_path: Path) -> None:
    body = (
        "from hypothesis import given, strategies as st\n"
        "def test_it(rng):\n    assert rng.random() > 1, rng.random()\n"
        "@given(st.integers())\ndef test_law(x):\n    print('drew', x)\n    assert x < 10**6\n"
    )
    (first, one), (second, two) = _pytest(tmp_path, body, **{SEED: "7"}), _pytest(tmp_path, body, **{SEED: "7"})
    assert first == second == 1
    assert one.count(f"{SEED}=7 runs this test") == 2
    drawn = [[line for line in said.splitlines() if line.startswith("drew")] for said in (one, two)]
    assert drawn[0] == drawn[1] != []


def test_the_seed_of_a_test_is_its_own(seed: int, rng: random.Random) -> None:
    assert seed != seed_of("another")
    assert rng.random() == random.Random(seed).random()
