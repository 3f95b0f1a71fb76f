"""The demo from its first word to its last: stage up, scenes played and told, stage gone."""

import time
from pathlib import Path
from typing import Any

from cli.demo import telling
from cli.demo.script import EXAMPLES, Script, read_script
from cli.demo.stage import stage
from cli.demo.story import PROJECT, Play, Story
from cli.outcome import NOT_IN_ORDER, Ended
from cli.output import emit, say
from cli.session import run, session
from settings import Settings, load


def demo(examples: Path | None, as_json: bool) -> None:
    """Play and tell; exit code 1 when the journal or the projections are not in order."""
    folder = (examples or EXAMPLES).absolute()
    script = read_script(folder)
    ui_port = load().ui_port
    began = time.monotonic()
    if not as_json:
        say("Starting Postgres, Temporal and a worker in a temporary folder, on free ports ...")
    with stage() as settings:
        if not as_json:
            say(f"Up after {time.monotonic() - began:.0f} s.")
        story = run(_play(settings, folder, script, as_json))
    if as_json:
        emit(as_object(story))
    else:
        telling.tell_sum(story, time.monotonic() - began)
        for line in telling.closing(ui_port):
            say(line)
    if not in_order(story):
        raise Ended(NOT_IN_ORDER)


async def _play(settings: Settings, folder: Path, script: Script, as_json: bool) -> Story:
    async with session(PROJECT, settings) as opened:
        playing = Play(opened, folder, script)
        for scene, tells in (
            (playing.import_all, (telling.tell_import,)),
            (playing.look, (telling.tell_candidates, telling.tell_independent)),
            (playing.decide, (telling.tell_decisions,)),
            (playing.search, (telling.tell_search,)),
            (playing.check, (telling.tell_checks,)),
        ):
            await scene()
            for tell in () if as_json else tells:
                tell(playing.story)
        return playing.story


def in_order(story: Story) -> bool:
    """Whether everything a demo promises held."""
    whole = story.verified is not None and story.verified.ok
    same = story.rebuild is not None and story.rebuild.identical
    decided = all(item.outcome.answer.effective for item in story.decided)
    return whole and same and decided


def as_object(story: Story) -> dict[str, Any]:
    """The story for programs."""
    return {
        "files": [row.answer for row in story.rows],
        "candidates": story.waiting,
        "independent": story.independent,
        "decisions": [
            {
                "decision": item.planned.decision,
                "rationale": item.planned.rationale,
                "proposition": item.candidate.knowledge.proposition,
                "answer": item.outcome.answer,
                "state": item.outcome.view.knowledge.state if item.outcome.view else None,
            }
            for item in story.decided
        ],
        "search": story.found,
        "verified": story.verified,
        "rebuild": story.rebuild,
        "identical": story.rebuild.identical if story.rebuild else None,
        "counts": story.counts,
        "workflows": story.workflows,
    }
