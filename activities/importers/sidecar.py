"""A sidecar: the JSON file beside an Aider chat history that tells what came of its chats, read as the runs' outcome.

The two are paired by their names (one folder, one stem), recognised by their contents, and imported together as the
history's import: the sidecar adds a note and an outcome to the runs, so the order of files never matters and importing
again adds nothing. Results are in the order of the chats, and one that names another model than its chat is not taken.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, BinaryIO

from activities.importers.notes import closing_note, shown
from activities.importers.parse import document
from activities.importers.peek import peek
from activities.importers.shapes import mapping, mappings, word
from domain.runs.transcript import Item, Limits, Refused, RunEnded, RunFound

FORMATS = frozenset({"aider"})
"""Formats whose runs a sidecar tells the outcome of."""

_JUDGED = ("edit_outcome", "lint_outcome", "test_outcome")
_SAYS = {"edit_outcome": "the edits", "lint_outcome": "the linter", "test_outcome": "the tests"}
_SAME = ("model", "model_patch", "try", *_JUDGED)


@dataclass(frozen=True, slots=True)
class Result:
    """What came of one chat. `resolved` is known of the result that was chosen in the end, None of every other one."""

    record: Mapping[str, Any]
    resolved: bool | None = None

    @property
    def model(self) -> str | None:
        return word(self.record.get("model"))

    def ended(self, own: RunEnded) -> RunEnded:
        """The run's end: what the sidecar says, else what the chat's own end says."""
        patch = word(self.record.get("model_patch")) or own.result
        outcome, why = self._outcome()
        if outcome is None:
            return RunEnded(own.outcome, own.reason, patch)
        return RunEnded(outcome, f"{why}; {own.reason}" if own.reason else why, patch)

    def _outcome(self) -> tuple[str | None, str]:
        if self.resolved is not None:
            return ("completed", "the task was resolved") if self.resolved else ("failed", "the task was not resolved")
        wrong = [_SAYS[key] for key in _JUDGED if self.record.get(key) is False]
        if wrong:
            return "failed", f"not good in the end: {', '.join(wrong)}"
        good = all(self.record.get(key) is True for key in _JUDGED)
        return ("completed", "edits, linter and tests were good") if good else (None, "")


@dataclass(frozen=True, slots=True)
class Sidecar:
    """The results of a history's chats, in their order, and what the file says of all of them."""

    file: str
    results: tuple[Result, ...]


def is_sidecar(head: bytes) -> bool:
    """Whether a file that begins with `head` tells outcomes and is no transcript itself."""
    seen = peek(head)
    shape = mapping(seen.document)
    if "trajectory" in shape or "history" in shape:
        return False
    if "model_patch" in shape and ("instance_id" in shape or "edit_outcome" in shape):
        return True
    return seen.cut and {"instance_id", "model_name_or_path"} <= shape.keys()


def sidecar_of(history: str, names: Iterable[str]) -> str | None:
    """The name among `names` that could be the sidecar of the file `history`: JSON, in its folder, with its stem."""
    wanted = PurePath(history).with_suffix(".json")
    return next((name for name in names if name != history and PurePath(name) == wanted), None)


def read_sidecar(file: str, stream: BinaryIO, limits: Limits) -> Sidecar | Refused:
    """The sidecar, or why it cannot be read."""
    found = document(stream, limits)
    if isinstance(found, Refused):
        return Refused(f"sidecar {shown(file)}", found.reason)
    whole = found[0]
    if not isinstance(whole, Mapping) or "model_patch" not in whole:
        return Refused(f"sidecar {shown(file)}", "it tells no outcome: it is no object with `model_patch`")
    each = mappings(whole.get("all_results")) or [{key: told for key, told in whole.items() if key != "all_results"}]
    resolved = whole.get("resolved")
    chosen = next((place for place in reversed(range(len(each))) if _is_chosen(each[place], whole)), None)
    # what the file says of all its results stands with the chosen one, or with the first
    rest = {key: told for key, told in whole.items() if key not in ("all_results", "model_patch")}
    results = [Result(record) for record in each]
    about = chosen if chosen is not None else 0
    results[about] = Result(
        {**each[about], "of_all_results": rest},
        resolved if isinstance(resolved, bool) and chosen is not None else None,
    )
    return Sidecar(file, tuple(results))


def with_outcomes(items: Iterable[Item], sidecar: Sidecar) -> Iterator[Item]:
    """`items` of a history with the outcome of each run, which stands before the run's end and closes it."""
    place = -1
    found: RunFound | None = None
    for item in items:
        if isinstance(item, RunFound):
            place, found = place + 1, item
        elif isinstance(item, RunEnded):
            yield from _ended(item, found, sidecar, place)
            continue
        yield item
    left = len(sidecar.results) - place - 1
    if left > 0:
        yield Refused(
            f"sidecar {shown(sidecar.file)}",
            f"it tells {len(sidecar.results)} results and the history holds {place + 1} chats; the last {left} are not read",
        )


def _ended(own: RunEnded, found: RunFound | None, sidecar: Sidecar, place: int) -> Iterator[Item]:
    if place < 0 or place >= len(sidecar.results):
        yield own
        return
    result, model = sidecar.results[place], found.model if found else None
    if result.model is not None and model is not None and result.model != model:
        yield Refused(
            f"sidecar {shown(sidecar.file)}, result {place}",
            f"it is about the model {shown(result.model)} and the chat is with {shown(model)}, so it is not read",
        )
        yield own
        return
    held = f"What the sidecar {shown(sidecar.file)} says came of this chat."
    yield closing_note("outcome", held, {"record": result.record}, odd=False)
    yield result.ended(own)


def _is_chosen(result: Mapping[str, Any], whole: Mapping[str, Any]) -> bool:
    return all(result.get(key) == whole.get(key) for key in _SAME)
