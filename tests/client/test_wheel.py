"""The wheel is all a platform needs: built here, installed into an environment without this project, it drives a run."""

import asyncio
import json
import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

from deploy.client.vendor import vendor
from tests.client.conftest import Caller
from tests.conftest import ROOT

DRIVER = """
import asyncio, json, os, sys

from temporality_client import Complete, Decision, ObservedRunInput, RunRecorder, connect, decide
from temporality_client.contracts.errors import NotFound


async def main():
    client = await connect()
    recorder = RunRecorder(client, ObservedRunInput(project="wheel", run="w1"))
    events = [
        {"event_id": "1", "type": "turn.user", "data": {"text": "use sk-ant-api03-" + "Qm7Lz2Xw9Rt4Vb8Nc1Kd" * 4}},
        {"event_id": "2", "type": "tool.completed", "data": {"output": "x" * 40_000}},
    ]
    answers = await recorder.record(events)
    done = await recorder.complete(Complete(outcome="completed"))
    try:
        await decide(client, "wheel", "none", Decision(decision="approve", actor="human:x:y", decision_id="d"))
    except NotFound as error:
        missing = str(error)
    return {"answers": [one.status for one in answers], "trajectory": done.trajectory, "missing": missing}


told = asyncio.run(main())
told["foreign"] = [name for name in ("domain", "client", "workflows", "activities", "stack", "psycopg") if name in sys.modules]
try:
    import domain
    told["domain"] = "importable"
except ModuleNotFoundError:
    told["domain"] = "not there"
print(json.dumps(told), flush=True)
os._exit(0)
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built offline from this checkout."""
    target = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(target)],
        cwd=ROOT / "deploy" / "client",
        check=True,
        capture_output=True,
    )
    [path] = target.glob("temporality_client-*.whl")
    return path


@pytest.fixture(scope="module")
def platform(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment that holds the wheel, and the third-party packages of this one.

    The wheel's dependencies are seen through a path file, because a test has no registry; this project is not on that path.
    """
    folder = tmp_path_factory.mktemp("platform")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    python = folder / "bin" / "python"
    install = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--no-index", "--no-deps"]
    subprocess.run([*install, str(wheel)], check=True)
    [packages] = folder.glob("lib/python*/site-packages")
    (packages / "third_party.pth").write_text(sysconfig.get_path("purelib"))
    return python


def test_the_wheel_installs_one_package_and_nothing_of_the_application(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        sources = "".join(archive.read(name).decode() for name in names if name.endswith(".py"))
        metadata = archive.read(next(name for name in names if name.endswith("METADATA"))).decode()
    assert {name.partition("/")[0].partition("-")[0] for name in names} == {"temporality_client"}
    assert {"temporality_client/py.typed", "temporality_client/contracts/names.py"} <= set(names)
    assert "from domain" not in sources
    assert "from client" not in sources
    required = [line for line in metadata.splitlines() if line.startswith("Requires-Dist") and "extra" not in line]
    assert required == ["Requires-Dist: pydantic>=2.12", "Requires-Dist: temporalio>=1.35"]


def test_a_module_that_imports_more_of_the_project_breaks_the_build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "client").mkdir()
    (tmp_path / "domain" / "contracts").mkdir(parents=True)
    (tmp_path / "client" / "bad.py").write_text("from domain.journal.event import Event\n")
    monkeypatch.setattr("deploy.client.vendor.PROJECT", tmp_path)
    with pytest.raises(
        ValueError, match=r"client/bad\.py imports domain\.journal\.event, which the wheel does not carry"
    ):
        vendor(tmp_path / "target")


async def test_an_installed_wheel_drives_a_run(platform: Path, served: Caller, tmp_path: Path) -> None:
    driver = tmp_path / "drive.py"
    driver.write_text(DRIVER)
    process = await asyncio.create_subprocess_exec(
        str(platform),
        str(driver),
        cwd=tmp_path,
        env={
            "PATH": os.environ["PATH"],
            "HOME": str(tmp_path),
            "TEMPORAL_ADDRESS": served.client.service_client.config.target_host,
            "TEMPORALITY_ARTIFACTS": str(tmp_path / "artifacts"),
            "TEMPORALITY_KEY": "0123456789abcdef" * 4,
        },
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await asyncio.wait_for(process.communicate(), 60)
    assert process.returncode == 0, err.decode()
    told = json.loads(out)
    assert told == {
        "answers": ["recorded", "recorded"],
        "trajectory": "1,2",
        "missing": "Nothing of this id is known here: approval/wheel/none; `temporality review` lists what waits",
        "foreign": [],
        "domain": "not there",
    }
    [body] = (path for path in (tmp_path / "artifacts").rglob("*") if path.is_file())
    assert body.read_bytes() == b"x" * 40_000
    history = await served.client.get_workflow_handle("run/wheel/w1").fetch_history()
    said = "".join(str(event) for event in history.events)
    assert "use [redacted:" in said
    assert "Qm7Lz2Xw" not in said
