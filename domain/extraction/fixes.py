"""A fix that was made, tried and found to work, said as a sentence that holds afterwards.

`The code has been updated to use X, which should fix Y` is a plan with a change; once the run shows that it worked it
is `Changing the code to use X fixes Y`. Without something that came back after the change it stays a plan.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from domain.extraction.context import ContextItem, ExtractionContext
from domain.extraction.reading import RESULTS
from domain.extraction.segment import sentences
from domain.extraction.wording import words

SPEAKS = ("agent_message", "agent_thought", "final_result")
_CHANGED = re.compile(
    r"^(?:the |this )?(?P<what>code|file|function|method|class|script|test|query|implementation|configuration|config|"
    r"`[^`]+`(?: [a-z]+)?) (?:has|have) (?:now )?been (?:updated|changed|modified|edited|rewritten) to (?P<do>.+?), which "
    r"(?:should|will|would) (?P<fix>fix|resolve|solve|address|prevent|avoid)(?: the| this)? (?P<what_for>.+?)\.?$",
    re.I,
)
_NEEDED = re.compile(
    r"^to (?P<fix>fix|resolve|solve|prevent|avoid) (?P<what_for>(?!this\b|that\b|it\b|these\b).+?), "
    r"(?:we|i) (?:should|need to|have to|must|will) (?P<do>.+?)\.?$",
    re.I,
)
_FIXED_BY = re.compile(r"^(?:fixed|solved|resolved) (?P<what>.+?) by (?P<do>\w+ing\b.+?)\.?$", re.I)
_FIXED_SO = re.compile(
    r"^(?:fixed|changed|updated) (?P<what>`[^`]+`(?: [a-z]+)?) to (?P<do>.+?),? so(?: that)? (?P<what_for>.+?)\.?$",
    re.I,
)
_WORKED = words(
    r"""(?:is|was|has been|have been|are|were) (?:now )?(?:fixed|resolved|solved|corrected|gone); fixed it; that fixed;
    works? (?:now|again|correctly|properly|as expected)?; now works?; pass(?:es|ed)?; as expected; succeeds?;
    succeeded; runs? (?:correctly|successfully|without)"""
)
_FAILED = words(
    r"""not (?:fixed|resolved|solved|work\w*|pass\w*); (?:doesn't|didn't|does not|did not) (?:work|pass|help|fix);
    still (?:fails?|failing|wrong|broken|missing|has|have|get|getting|errors?); fails?; failed"""
)
_ING: Mapping[str, str] = {
    "fix": "Fixing",
    "resolve": "Resolving",
    "solve": "Solving",
    "prevent": "Preventing",
    "avoid": "Avoiding",
}
_FORMS: Mapping[str, str] = {
    "fix": "fixes",
    "resolve": "resolves",
    "solve": "solves",
    "address": "addresses",
    "prevent": "prevents",
}


@dataclass(frozen=True, slots=True)
class Fix:
    """What a sentence says once its fix is known to work; `done` where it looks back on it."""

    text: str
    done: bool


def fix(text: str, place: str) -> Fix | None:
    """The fix a sentence tells of, if any. `place` is the file it is about, where it says `the code` only."""
    changed = _CHANGED.match(text)
    if changed:
        what = changed["what"] if "`" in changed["what"] else place
        verb = _FORMS.get(changed["fix"].lower(), "avoids")
        return Fix(f"Changing {what} to {changed['do']} {verb} the {changed['what_for']}.", False) if what else None
    needed = _NEEDED.match(text)
    # what has no name of its own is mostly a slip of the moment
    if needed and "`" in needed["what_for"]:
        return Fix(f"{_ING[needed['fix'].lower()]} {needed['what_for']} requires one to {needed['do']}.", False)
    by = _FIXED_BY.match(text)
    if by:
        return Fix(f"{by['what'][0].upper()}{by['what'][1:]} is fixed by {by['do']}.", True)
    so = _FIXED_SO.match(text)
    return Fix(f"{so['what']} has to {so['do']} so that {so['what_for']}.", True) if so else None


def shown_to_work(context: ExtractionContext, speaker: ContextItem, told: Fix) -> ContextItem | None:
    """The result that shows it: for a fix in hand the one after which the agent says so, or else the turn's last check
    where it passed; for one looked back on the last check or command before, where that did not fail.
    """
    if told.done:
        return _last_check(context, speaker)
    results: list[ContextItem] = []
    for item in context.items:
        if item.position <= speaker.position:
            continue
        if item.type in RESULTS:
            results.append(item)
        elif item.kind == "user_message":
            break
        elif item.kind in SPEAKS:
            said = [f"{one.label}: {one.text}" for one in sentences(item.text)]
            if any(_FAILED.search(one) for one in said):
                return None
            if results and results[-1].success is not False and any(_WORKED.search(one) for one in said):
                return results[-1]
    checks = [item for item in results if item.type == "check_result"]
    return checks[-1] if checks and checks[-1].success else None


def _last_check(context: ExtractionContext, speaker: ContextItem) -> ContextItem | None:
    before = [item for item in context.items if item.position < speaker.position]
    checks = [item for item in before if item.type == "check_result"]
    commands = [item for item in before if item.type == "command_result"]
    if checks:
        return checks[-1] if checks[-1].success is not False else None
    return commands[-1] if commands and commands[-1].success else None
