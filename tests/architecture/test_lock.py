"""What is installed is pinned by hash and says nothing of where it was fetched; our packages are the repository's."""

import importlib
import re
import subprocess
import tomllib
from pathlib import Path

import pytest

from tests.conftest import ROOT

LOCK = (ROOT / "requirements.lock").read_text()


def _entries() -> dict[str, str]:
    """Each requirement of the lock with its continuation lines."""
    joined = re.sub(r" ?\\\n\s+", " ", LOCK)
    lines = [line for line in joined.splitlines() if line and not line.lstrip().startswith("#")]
    return {re.split(r"[=<>~! \[;@]", line, maxsplit=1)[0]: line for line in lines}


def test_every_requirement_is_pinned_with_hashes() -> None:
    assert len(_entries()) > 30
    for name, entry in _entries().items():
        assert re.match(rf"{re.escape(name)}==[^ ;]+( ;.*?)?( --hash=sha256:[0-9a-f]{{64}})+$", entry), entry[:200]


def test_no_address_is_in_it() -> None:
    for mark in ("://", "--index", "--extra-index", "--find-links", "--trusted-host", " @ ", "file:"):
        assert mark not in LOCK, f"requirements.lock says {mark}: make it with `make lock`"


def test_it_holds_what_the_project_asks_for() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    asked = [*project["project"]["dependencies"], *project["dependency-groups"]["dev"]]
    names = {re.split(r"[=<>~! \[;]", line, maxsplit=1)[0].lower().replace("_", "-") for line in asked}
    assert names <= _entries().keys(), f"run `make lock`: it lacks {sorted(names - _entries().keys())}"


@pytest.mark.parametrize("package", ["domain", "workflows", "activities", "client", "stack", "cli"])
def test_our_packages_are_the_repositorys(package: str) -> None:
    file = importlib.import_module(package).__file__
    assert file is not None
    assert Path(file).resolve() == (ROOT / package / "__init__.py").resolve(), "another package hides ours"


def test_the_launcher_starts_the_command_from_anywhere_through_a_link(tmp_path: Path) -> None:
    project = tmp_path / "a project"
    for path in ("cli/__main__.py", "cli/launch.sh"):
        (project / path).parent.mkdir(parents=True, exist_ok=True)
        (project / path).write_bytes((ROOT / path).read_bytes())
    (project / "cli/main.py").write_text("import os, sys\ndef main(): print(sys.path[0], os.getcwd(), sys.argv)\n")
    (project / ".venv/bin").mkdir(parents=True)
    (project / ".venv/bin/python").symlink_to(Path("/proc/self/exe").resolve())
    launcher = project / ".venv/bin/temporality"
    launcher.write_bytes((ROOT / "cli/launch.sh").read_bytes())
    launcher.chmod(0o755)
    link = tmp_path / "temporality"
    link.symlink_to(launcher)
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / "cli").mkdir(parents=True)
    (elsewhere / "cli/__init__.py").write_text("raise SystemExit('a foreign cli')\n")
    for command in (launcher, link):
        said = subprocess.run([str(command), "show", "a b"], cwd=elsewhere, capture_output=True, text=True, check=True)
        assert said.stdout.strip() == f"{project} {elsewhere} {['temporality', 'show', 'a b']}"


def test_make_says_what_there_is_and_refuses_an_old_python(tmp_path: Path) -> None:
    said = subprocess.run(["make"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for goal in ("install", "demo", "up", "test", "faults", "check", "bench", "lock"):
        assert f"make {goal} " in said
    old = tmp_path / "python3"
    old.write_text('#!/bin/sh\nexec python3 -c "import sys; sys.version_info = (3, 9, 1); exec(sys.argv[1])" "$2"\n')
    old.chmod(0o755)
    command = ["make", "install", f"PYTHON={old}", f"VENV={tmp_path / 'none'}"]
    refused = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert refused.returncode != 0
    assert "needs Python 3.11 or newer and found 3.9" in refused.stderr
    assert not (tmp_path / "none").exists()
