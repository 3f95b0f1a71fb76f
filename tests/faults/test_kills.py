"""Kill workers, Postgres and Temporal in the middle of their work: nothing is lost, nothing comes twice, everything ends by itself.

COMPLAINTS rows 1 and 3: success is said only of what is durable, and after any crash the work resumes without anybody's hand.
"""

from pathlib import Path

import pytest

from tests.faults import inputs
from tests.faults.campaign import Campaign, campaign, story, table
from tests.faults.plan import PHASES, VICTIMS, WORKS, Victim, cells, draw

FEW: dict[Victim, int] = {"worker": 5, "postgres": 1, "temporal": 1}
MANY: dict[Victim, int] = {"worker": 25, "postgres": 10, "temporal": 5}


async def test_a_few_kills_change_nothing(
    tmp_path: Path, postgres_template: Path, seed: int, capsys: pytest.CaptureFixture[str]
) -> None:
    found = await campaign(tmp_path, postgres_template, inputs.small(), seed, FEW)
    _judge(found, FEW, capsys)


@pytest.mark.faults
async def test_many_kills_in_every_phase_change_nothing(
    tmp_path: Path, postgres_template: Path, seed: int, capsys: pytest.CaptureFixture[str]
) -> None:
    found = await campaign(tmp_path, postgres_template, inputs.whole(), seed, MANY)
    _judge(found, MANY, capsys)
    hit = {(one.kill.victim, one.kill.phase) for one in found.placed}
    assert hit == {(victim, phase) for victim in VICTIMS for phase in PHASES}
    assert {(one.kill.work, one.kill.phase) for one in found.placed} == {(w, p) for w in WORKS for p in PHASES}


def test_the_seed_decides_the_plan_and_every_phase_is_visited() -> None:
    passages = dict.fromkeys(cells(), 12)
    for seed in range(50):
        kills = draw(seed, MANY, passages)
        assert kills == draw(seed, MANY, passages)
        assert len({(kill.work, kill.phase, kill.passage) for kill in kills}) == len(kills)
        assert {(k.victim, k.phase) for k in kills} == {(victim, phase) for victim in VICTIMS for phase in PHASES}
        assert {(k.work, k.phase) for k in kills if k.victim == "worker"} == passages.keys()
    assert len({tuple(draw(seed, MANY, passages)) for seed in range(50)}) == 50


def _judge(found: Campaign, counts: dict[Victim, int], capsys: pytest.CaptureFixture[str]) -> None:
    with capsys.disabled():
        print(f"\n{table(found)}")
    print("\n".join([table(found), *story(found)]))
    assert not found.missing, f"no passage came for {found.missing}"
    placed = {victim: sum(one.kill.victim == victim for one in found.placed) for victim in VICTIMS}
    assert placed == counts
    assert _ends_seen(found) == counts
    assert not found.faults, "\n".join(found.faults[:40])


def _ends_seen(found: Campaign) -> dict[str, int]:
    """Ends as the keeper saw them: as many as were planned, so that nothing died of anything else."""
    said = [sentence for _, sentence in found.killed.told]
    return {
        "worker": sum("The worker ended (signal SIGKILL)" in one for one in said),
        "postgres": sum("Postgres ended and was started again" in one for one in said),
        "temporal": sum("Temporal ended and was started again" in one for one in said),
    }
