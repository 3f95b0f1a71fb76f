"""Gate 1 finds what it is for: one planted breach per contract, in a copy of the tree."""

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.architecture.tidy import imported_by
from tests.architecture.tree import sources, tracked
from tests.conftest import ROOT

CONFIG = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
BREACHES = {
    "rooms": ("domain/journal/breach.py", "import client\n"),
    "boundary": ("workflows/breach_a.py", "import activities.implements\n"),
    "domain-order": ("domain/unplaced/__init__.py", ""),
    "domain-pure": ("domain/knowledge/breach.py", "import time\n"),
    "workflows-deterministic": ("workflows/breach_b.py", "import psycopg\n"),
    "activities-injected": ("activities/breach.py", "import settings\n"),
    "no-cycles": ("domain/runs/breach.py", "import domain.runs.back\n"),
}


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("tree")
    for path in tracked():
        if path.split("/")[0] in CONFIG["root_packages"] or path in ("pyproject.toml", "settings.py", "worker.py"):
            (place / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / path, place / path)
    return place


def _lint(place: Path) -> tuple[int, str]:
    linter = Path(sys.executable).parent / "lint-imports"
    ended = subprocess.run([str(linter), "--no-cache"], cwd=place, capture_output=True, text=True, check=False)
    return ended.returncode, re.sub(r"\s+", " ", ended.stdout + ended.stderr)


def test_every_contract_breaks_on_its_breach_and_holds_without(copy: Path) -> None:
    assert BREACHES.keys() == {contract["id"] for contract in CONFIG["contracts"]}
    code, said = _lint(copy)
    assert code == 0, said
    for path, text in BREACHES.values():
        (copy / path).parent.mkdir(exist_ok=True)
        (copy / path).write_text(text)
    (copy / "domain/runs/back.py").write_text("import domain.runs.breach\n")
    code, said = _lint(copy)
    assert code == 1
    kept = [contract["id"] for contract in CONFIG["contracts"] if f"{contract['name']} BROKEN" not in said]
    assert kept == [], said


def _foreign(room: str, *allowed: str) -> list[str]:
    """What the files of `room` import beyond the standard library and `allowed`."""
    return [
        f"{source.path} imports {name}"
        for source in sources()
        if source.module.startswith(room)
        for name in sorted(imported_by(source))
        if name.split(".")[0] not in sys.stdlib_module_names and not name.startswith(allowed)
    ]


def test_contracts_import_themselves_and_pydantic_only() -> None:
    assert _foreign("domain.contracts", "domain.contracts", "pydantic") == []


def test_the_client_carries_the_contracts_and_nothing_else_of_ours() -> None:
    assert [said for said in _foreign("client", "domain.contracts", "client") if " imports domain" in said] == []
    ours = ("workflows", "activities", "stack", "cli", "settings", "worker")
    assert [s for s in _foreign("client") if s.split(" imports ")[1].split(".")[0] in ours] == []
