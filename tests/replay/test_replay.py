"""Gate 5: recorded histories replay in fresh processes under several hash seeds, and a break turns them red."""

import uuid
from pathlib import Path
from typing import Any

import pytest
from temporalio.worker import Worker

from tests.replay.converter import converter
from tests.replay.harness import HISTORIES, SEEDS, replay_all
from tests.replay.synthetic.tiny import Tiny
from tests.replay.synthetic.tiny_by_set import TinyBySet
from tests.support.temporal import dev_server
from workflows.sandbox import sandbox

HERE = "tests.replay.synthetic"


def test_the_recorded_histories_replay() -> None:
    broken = replay_all() if list(HISTORIES.glob("*.json")) else []
    said = "\n".join(f"{b.history} under PYTHONHASHSEED={b.seed}: {b.why}" for b in broken)
    assert not broken, f"{said}\nA change to a workflow with open runs needs workflow.patched: see CONTRIBUTING.md"


@pytest.fixture(scope="module")
async def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one recorded history of each synthetic workflow."""
    folder = tmp_path_factory.mktemp("histories")
    words = ["sleep-1", "memo-1", "sleep-2", "memo-2", "sleep-3", "memo-3"]
    runs: list[Any] = [Tiny, TinyBySet]
    async with (
        dev_server(converter()) as env,
        Worker(env.client, task_queue="replay", workflows=runs, workflow_runner=sandbox()),
    ):
        # A timer of this server takes about a second: both run at once.
        handles = [
            await env.client.start_workflow(run.run, words[:take], id=uuid.uuid4().hex, task_queue="replay")
            for run, take in zip(runs, (1, len(words)), strict=True)
        ]
        for run, handle in zip(runs, handles, strict=True):
            await handle.result()
            place = folder / run.__name__
            place.mkdir()
            (place / "one.json").write_text((await handle.fetch_history()).to_json())
    return folder


async def test_an_unchanged_workflow_replays(recorded: Path) -> None:
    assert replay_all(recorded / "Tiny", [f"{HERE}.tiny:Tiny"]) == []


async def test_one_more_sleep_turns_it_red_under_every_seed(recorded: Path) -> None:
    broken = replay_all(recorded / "Tiny", [f"{HERE}.tiny_longer:Tiny"])
    assert [b.seed for b in broken] == list(SEEDS)
    assert all("TMPRL1100" in b.why or "ondeterminis" in b.why for b in broken)


async def test_the_order_of_a_set_is_found_by_another_hash_seed(recorded: Path) -> None:
    assert replay_all(recorded / "TinyBySet", [f"{HERE}.tiny_by_set:TinyBySet"])


async def test_a_process_without_an_answer_is_no_success(recorded: Path) -> None:
    with pytest.raises(RuntimeError, match="no answer"):
        replay_all(recorded / "Tiny", [f"{HERE}.missing:Tiny"], seeds=(0,))
