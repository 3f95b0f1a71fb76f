"""The demo, end to end, as a user starts it: what it tells is what the journal says, and nothing is left of it."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
pytestmark = pytest.mark.slow


def environment(folder: Path) -> dict[str, str]:
    """The user's own environment, with a temporary folder of its own by which everything of this demo is known."""
    mine = {k: v for k, v in os.environ.items() if not k.startswith(("TEMPORALITY_", "TEMPORAL_", "DATABASE_URL"))}
    return {**mine, "TMPDIR": str(folder), "COLUMNS": "160"}


def argv(*words: str | Path) -> list[str]:
    return [sys.executable, "-P", str(ROOT / "cli" / "__main__.py"), "demo", *map(str, words)]


def play(folder: Path, *words: str | Path) -> subprocess.CompletedProcess[str]:
    """One demo; every process that it started must be gone, and its folder too."""
    ran = subprocess.run(
        argv(*words), env=environment(folder), capture_output=True, text=True, timeout=180, cwd=folder, check=False
    )
    assert left(folder) == []
    assert list(folder.glob("temporality-demo-*")) == []
    return ran


def left(folder: Path) -> list[str]:
    """Command lines of processes whose arguments, working folder or environment name `folder`."""
    found: list[str] = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes()
            seen = words + os.readlink(process / "cwd").encode() + (process / "environ").read_bytes()
        except OSError:
            continue
        if str(folder).encode() in seen and int(process.name) != os.getpid():
            found.append(words.replace(b"\0", b" ").decode(errors="replace")[:120])
    return found


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    ran = play(tmp_path_factory.mktemp("demo"), "--json")
    assert ran.returncode == 0, ran.stderr
    yield json.loads(ran.stdout)


def test_every_step_of_the_main_job_is_there(told: dict[str, Any]) -> None:
    assert len(told["files"]) == 3 and all(row["status"] == "imported" for row in told["files"])
    candidates = {item["knowledge"]["id"]: item for item in told["candidates"]}
    assert candidates
    for item in candidates.values():
        assert any(cited["excerpt"]["verified"] for cited in item["evidence"])
    by_decision = {item["decision"]: item for item in told["decisions"]}
    assert by_decision["approve"]["state"] == "confirmed" and by_decision["reject"]["state"] == "invalidated"
    assert all(item["answer"]["effective"] and item["answer"]["application"] == "applied" for item in told["decisions"])
    assert told["verified"]["problems"] == [] and told["verified"]["events"] == told["counts"]["events"]
    assert told["identical"] is True and told["search"]["items"]
    trivial = told["files"][-1]
    assert trivial["candidates"] == 0


def test_a_second_session_confirmed_a_claim_on_its_own_evidence(told: dict[str, Any]) -> None:
    (found,) = told["independent"]
    node, step = found["view"]["knowledge"], found["step"]
    assert step["reason"] == "extraction-reverification.v1" and step["run"] != node["provenance"]["origin_run"]
    by_run = {cited["run"]: cited["content_hash"] for cited in found["view"]["evidence"]}
    assert len(by_run) == 2 and len(set(by_run.values())) == 2
    assert node["state"] == "confirmed"


def test_a_changed_example_changes_the_story(tmp_path: Path, told: dict[str, Any]) -> None:
    """Another amount, another file, one session fewer: nothing of the old story stays."""
    examples, home = tmp_path / "examples", tmp_path / "home"
    shutil.copytree(EXAMPLES, examples)
    home.mkdir()
    script = json.loads((examples / "demo.json").read_text())
    first = examples / script["transcripts"][0]
    first.write_text(first.read_text().replace("ledger/money.py", "ledger/cents.py").replace("2.675", "8.325"))
    script["transcripts"] = script["transcripts"][:2]
    (examples / "demo.json").write_text(json.dumps(script))
    ran = play(home, "--examples", examples)
    assert ran.returncode == 0, ran.stderr
    assert "2 transcripts handed in" in ran.stdout
    assert "8.325" in ran.stdout and "2.675" not in ran.stdout
    assert "ledger/cents.py" in ran.stdout
    assert "0 claims confirmed" in ran.stdout, "the two sessions no longer say the same"
    assert f"{told['counts']['events']} events" not in ran.stdout
    assert told["independent"][0]["view"]["knowledge"]["proposition"] in ran.stdout, (
        "the second session's own claim stays"
    )


def test_it_is_readable_and_says_how_to_go_on(tmp_path: Path) -> None:
    ran = play(tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert ran.stderr == "" and "\x1b[" not in ran.stdout
    for words in ("make up", "temporality import PATH", "Temporal UI", "identical, to the byte", "journal is whole"):
        assert words in ran.stdout


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGKILL])
def test_ended_in_the_middle_it_leaves_nothing_running(tmp_path: Path, ending: signal.Signals) -> None:
    demo = subprocess.Popen(
        argv(), env=environment(tmp_path), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path
    )
    assert demo.stdout is not None
    for line in demo.stdout:
        if line.startswith("Up after"):
            break
    assert left(tmp_path), "the servers are known by the demo's own folder"
    demo.send_signal(ending)
    demo.communicate(timeout=60)
    assert demo.returncode not in (0, None)
    deadline = time.monotonic() + 45
    while left(tmp_path) and time.monotonic() < deadline:
        time.sleep(0.2)
    assert left(tmp_path) == []
    if ending != signal.SIGKILL:
        assert list(tmp_path.glob("temporality-demo-*")) == []
