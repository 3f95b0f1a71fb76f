"""Gate 4: the commands of every workflow are those of the committed baseline, or a patch says why not."""

import json

from tests.replay.fingerprint import BASELINE, compare, fingerprint, fingerprints
from tests.replay.synthetic import calling, tiny, tiny_by_set, tiny_longer


def test_every_workflow_gives_the_commands_of_the_baseline() -> None:
    texts = compare(json.loads(BASELINE.read_text()), fingerprints())
    assert not texts, "\n".join(texts)


def test_a_fingerprint_holds_helpers_and_blocks() -> None:
    assert fingerprint(tiny.Tiny) == ["_pause", "  timer", "run", "  timer"]
    assert fingerprint(tiny_by_set.TinyBySet) == ["_give", "  if", "    timer", "    memo"]


def test_one_more_sleep_changes_it_and_the_text_teaches_the_patch() -> None:
    (text,) = compare(fingerprints([tiny.Tiny]), fingerprints([tiny_longer.Tiny]))
    assert "+  timer" in text
    assert 'if workflow.patched("Tiny: what changed")' in text
    assert "--write" in text


def test_another_order_changes_it() -> None:
    swapped = ["_give", "  if", "    memo", "    timer"]
    (text,) = compare({"TinyBySet": swapped}, fingerprints([tiny_by_set.TinyBySet]))
    assert "+    timer\n     memo\n-    timer" in text


def test_an_activity_counts_by_its_name_and_not_by_its_arguments() -> None:
    assert fingerprint(calling.Calling) == ["Steps.first", "  activity tests.double", "run", "  for", "    patch 'x'"]
