"""What a demo plays: which transcripts, which two decisions a reviewer takes, and what is searched for.

The folder's `demo.json` says so; a folder without one plays all its files and decides by rule.
"""

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from cli.outcome import Usage
from domain.retrieval.views import Waiting

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
REVIEWER = "human:example.org:reviewer"


class Planned(BaseModel):
    """A decision, and words of the candidate it is about."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    decision: Literal["approve", "reject"]
    about: str = Field(min_length=1)
    rationale: str


class Script(BaseModel):
    """The content of `demo.json`."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    transcripts: list[str]
    reviewer: str = REVIEWER
    decisions: list[Planned] = []
    search: str | None = None


def read_script(folder: Path) -> Script:
    """The script of `folder`. Raises `Usage` when there is nothing to play or the script cannot be read."""
    path = folder / "demo.json"
    try:
        if path.is_file():
            script = Script.model_validate_json(path.read_bytes())
        else:
            script = Script(transcripts=sorted(item.name for item in folder.iterdir() if item.is_file()))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise Usage(f"{path} is no script of a demo: {where}: {first['msg']}.") from None
    except OSError as error:
        raise Usage(f"{folder} holds no transcripts ({error.strerror}).") from None
    missing = [name for name in script.transcripts if not (folder / name).is_file()]
    if missing or not script.transcripts:
        raise Usage(f"{folder} holds no file {missing[0]}." if missing else f"{folder} holds no transcripts.")
    return script


def choose(script: Script, waiting: list[Waiting]) -> list[tuple[Planned, Waiting]]:
    """The candidates a reviewer decides: those the script names, else the best supported is kept and the least is not.

    One is confirmed and one rejected wherever two wait; one that independent evidence confirmed needs nobody.
    """
    left = [item for item in waiting if item.knowledge.state == "proposed"]
    chosen: list[tuple[Planned, Waiting]] = []
    for planned in script.decisions:
        found = next((item for item in left if planned.about in item.knowledge.proposition), None)
        if found is not None:
            left.remove(found)
            chosen.append((planned, found))
    taken = {planned.decision for planned, _ in chosen}
    left.sort(key=lambda item: (-len(item.evidence), item.knowledge.id))
    if "approve" not in taken and left:
        chosen.append((_by_rule("approve", "the best supported"), left.pop(0)))
    if "reject" not in taken and left:
        chosen.append((_by_rule("reject", "the least supported"), left.pop()))
    return chosen


def _by_rule(decision: Literal["approve", "reject"], why: str) -> Planned:
    return Planned(decision=decision, about="-", rationale=f"{why} of those that wait")
