"""The public contract changes by addition only, and every addition is pinned when it is made."""

import copy
from pathlib import Path

import pytest

from tests.contracts import pin
from tests.contracts.pin import broken, current, read, unpinned


def test_nothing_pinned_changed_or_went() -> None:
    said = broken(read(), current())
    assert not said, "callers depend on it: keep it and add beside it"


def test_everything_there_is_is_pinned() -> None:
    assert not unpinned(read(), current()), "run `python -m tests.contracts.pin` and commit tests/contracts/pinned.json"


def test_the_baseline_holds_what_a_caller_depends_on() -> None:
    pinned = read()
    assert pinned["names"]["OBSERVED_RUN"] == "ObservedRun"
    assert pinned["names"]["RECORD"] == "record"
    assert pinned["workflow ids"]["run"] == "run/p/r%201"
    assert pinned["message Decision"]["decision_id"]["required"]
    assert not pinned["message Decision"]["rationale"]["required"]
    assert pinned["inner EventAnswer of serialization"]["status"]["type"]["enum"] == [
        "recorded",
        "duplicate",
        "refused",
    ]


def test_every_way_to_break_a_caller_is_seen() -> None:
    was = read()
    now = copy.deepcopy(was)
    del now["names"]["RECORD"]
    now["message Complete"]["outcome"]["type"]["enum"] = ["completed"]
    now["message Decision"]["stamp"] = {"type": {"type": "string"}, "required": True}
    del now["message RecordAnswer"]
    now["workflow ids"]["run"] = "runs/p/r"
    said = broken(was, now)
    assert "names: RECORD is gone" in said
    assert any(one.startswith("message Complete: outcome was") for one in said)
    assert any(one.startswith("message Decision: stamp is new and required") for one in said)
    assert "message RecordAnswer: events is gone" in said
    assert any(one.startswith("workflow ids: run was") for one in said)


def test_additions_break_nobody_and_are_pinned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    was = read()
    now = copy.deepcopy(was)
    now["message Decision"]["note"] = {"type": {"type": "string"}, "required": False}
    now["message RecordAnswer"]["note"] = {"type": {"type": "string"}, "required": True}
    now["names"]["PAUSE"] = "pause"
    assert broken(was, now) == []
    assert unpinned(was, now) == ["message Decision: note", "message RecordAnswer: note", "names: PAUSE"]
    monkeypatch.setattr(pin, "PINNED", tmp_path / "pinned.json")
    (tmp_path / "pinned.json").write_text('{"names": {"GONE": "gone"}}')
    with pytest.raises(ValueError, match="names: GONE is gone"):
        pin.pin()
