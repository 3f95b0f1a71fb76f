"""The examples give exactly what the demo tells, and the shared transcripts stay within bounds."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from statistics import median

import pytest

from domain.extraction.admission import AdmissionRequest
from domain.extraction.context import compact
from domain.extraction.material import material
from domain.extraction.rules import PROVIDER, propose
from domain.extraction.weigh import Weighed, weigh
from domain.journal.event import Event
from domain.knowledge.heuristic import SOURCE as KERNEL_SOURCE
from domain.knowledge.normalise import claim_identity
from tests.domain.extraction.journal import DEADLINE, Journal, request_for
from tests.domain.extraction.transcripts import EXAMPLES, all_runs, runs_of

CAUSE = (
    "Invoice totals come out one cent short because `round(amount, 2)` in `ledger/money.py` rounds a half cent to the "
    "even digit."
)
STRINGS = "Amounts must be given to `Decimal` as strings, because `Decimal(2.675)`"
POINTER = "`fixtures/march.csv` cannot be loaded because it is only a `git-lfs` pointer."


def extracted(journal: Journal, name: str) -> tuple[Event, ...]:
    """Import an example and extract it, as the workflow does."""
    ((run, events),) = runs_of(EXAMPLES / name).items()
    journal.append(events)
    context = compact(journal.of_run(run))
    request: AdmissionRequest = request_for(journal, run, *propose(context), hints=context.hints)
    assert request.deadline == DEADLINE and PROVIDER == "rules/v1"
    return journal.admit(request)


def test_the_three_transcripts_tell_the_demos_story() -> None:
    journal = Journal()
    first = extracted(journal, "ledger-rounding-1.jsonl")
    said = [event.data["proposition"] for event in first if event.type == "knowledge.proposed"]
    assert len(said) == 2 and CAUSE in said and any(text.startswith(STRINGS) for text in said)
    second = extracted(journal, "ledger-march-2.jsonl")
    moved = {event.type: event for event in second}
    assert [event.type for event in second if event.type.startswith("knowledge.")] == [
        "knowledge.confirmed",
        "knowledge.proposed",
        "knowledge.extraction.completed",
    ]
    assert moved["knowledge.confirmed"].data["knowledge"] == claim_identity("p", CAUSE)
    assert moved["knowledge.proposed"].data["proposition"] == POINTER
    third = extracted(journal, "ledger-page-size-3.jsonl")
    assert [event.type for event in third] == ["knowledge.extraction.completed"]
    assert third[-1].data["candidates_count"] == 0
    cause = journal.node(claim_identity("p", CAUSE))
    assert (cause.state, cause.confirmations, len(cause.runs)) == ("confirmed", 1, 2)


def test_the_observation_is_proposed_confirmed_and_used() -> None:
    journal = Journal()
    for name in ("ledger-rounding-1.jsonl", "ledger-march-2.jsonl", "ledger-page-size-3.jsonl"):
        extracted(journal, name)
    observed = [event for event in journal.events if event.source == KERNEL_SOURCE]
    assert [event.type for event in observed] == ["knowledge.proposed", "knowledge.confirmed", "knowledge.used"]
    assert observed[0].data["proposition"] == "`python -m pytest -q` succeeds in /home/dev/ledger"
    assert len({event.run for event in observed}) == 3


def test_the_wrong_guess_of_the_first_transcript_is_not_proposed() -> None:
    ((_, events),) = runs_of(EXAMPLES / "ledger-rounding-1.jsonl").items()
    assert any("The cause is `apply_tax`" in str(event.data.get("text")) for event in events)
    assert not any("apply_tax" in candidate.proposition for candidate in propose(compact(events)))


def test_every_format_has_an_example_that_is_read() -> None:
    counted = Counter(name.partition("#")[0] for name, _ in all_runs(EXAMPLES / "formats"))
    # the sidecar of the Aider history is no transcript of its own
    assert set(counted) == {path.name for path in (EXAMPLES / "formats").iterdir()} - {"aider.json"}
    assert counted["tau-bench.json"] == 2


def test_transcripts_say_nothing_of_machines_or_keys() -> None:
    for path in EXAMPLES.rglob("*"):
        if path.is_file():
            text = path.read_text()
            assert "/root" not in text and "/tmp" not in text and "sk-" not in text.replace("task-", "")


@pytest.mark.shared
def test_shared_transcripts_give_claims_within_bounds(shared_data: Path) -> None:
    counts: dict[str, int] = {}
    for name, events in all_runs(shared_data / "trajectories"):
        context = compact(events)
        candidates = propose(context)
        counts[name] = len(candidates)
        evidence = material(events)
        for candidate in candidates:
            found = weigh(candidate, evidence, ())
            assert isinstance(found, Weighed), (name, candidate.proposition, found)
    print("".join(f"\n{count}  {name}" for name, count in counts.items() if count))
    assert len(counts) > 200
    assert median(counts.values()) <= 1 and max(counts.values()) <= 7
    assert sum(1 for count in counts.values() if count > 3) <= len(counts) / 100
    talk = [count for name, count in counts.items() if name.startswith(("tau-bench/", "who-and-when/"))]
    assert len(talk) > 200 and sum(1 for count in talk if count) <= len(talk) / 50
    software = [count for name, count in counts.items() if not name.startswith(("tau-bench/", "who-and-when/"))]
    assert sum(software) >= 9 and sum(1 for count in software if count) >= 5
    assert sum(1 for count in software if count == 0) >= len(software) / 3, "trivial runs give nothing"
