"""The command over a running stack: what a user hands in, sees, decides and checks, and how each of it looks as JSON."""

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import ACTOR, ROOT, Command

EXAMPLES = ROOT / "examples"
FIRST, SECOND, TRIVIAL = (
    EXAMPLES / name for name in ("ledger-rounding-1.jsonl", "ledger-march-2.jsonl", "ledger-page-size-3.jsonl")
)
FILE_KEYS = {
    "file", "format", "project", "runs", "events", "tool_calls", "tool_results", "errors", "unknown", "candidates", "refused",
}  # fmt: skip
RUN_KEYS = {"run", "trajectory", "events", "tool_calls", "candidates"}

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def temporality(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Command]:
    command = Command(tmp_path_factory.mktemp("home"))
    up = command("up", "--detach", "--json")
    assert up.code == 0, up.err
    assert up.object["running"] is True and up.object["temporal_ui"].startswith("http://127.0.0.1:")
    yield command
    assert command("down", "--json").object["stopped"] is True
    assert command("status").code == 4


@pytest.fixture(scope="module")
def ledger(temporality: Command) -> Command:
    """The stack with the first example imported into project `ledger`."""
    ran = temporality("import", FIRST, "--project", "ledger", "--json")
    assert ran.code == 0, ran.err
    return temporality


def waiting(command: Command, project: str) -> list[dict[str, Any]]:
    return command("review", "--project", project, "--json").objects


def test_a_second_up_says_that_it_is_running(temporality: Command) -> None:
    again = temporality("up", "--detach")
    assert again.code == 0 and "is running" in again.out
    foreground = temporality.process("up")
    assert foreground.code == 0 and "is running" in foreground.out
    status = temporality("status", "--json")
    assert status.code == 0
    assert [status.object[part] for part in ("postgres", "temporal", "worker")] == [True, True, True]


def test_import_prints_one_object_for_each_file(temporality: Command, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    shutil.copytree(EXAMPLES / "formats", folder / "formats")
    (folder / "LICENSE").write_text("Permission is granted to anybody.")
    (folder / "empty.jsonl").touch()
    (folder / "noise.jsonl").write_bytes(bytes(range(256)) * 40)
    shutil.copy(FIRST, folder / "one.jsonl")
    shutil.copy(FIRST, folder / "two.jsonl")
    ran = temporality("import", folder, "--project", "many", "--json")
    rows = {os.path.relpath(row["file"], folder): row for row in ran.objects}
    assert list(rows) == sorted(rows)
    assert all(row.keys() >= FILE_KEYS for row in rows.values())
    status = {name: row["status"] for name, row in rows.items()}
    assert status["LICENSE"] == "skipped"
    assert (status["empty.jsonl"], status["noise.jsonl"]) == ("refused", "refused")
    assert sorted((status["one.jsonl"], status["two.jsonl"])) == ["copy", "imported"]
    assert ran.code == 3, "two files were refused"
    formats = {row["format"] for row in rows.values() if row["format"]}
    assert formats == {
        "aider", "claude-code", "codex", "mini-swe-agent", "openai-chat", "openhands-v0", "otlp", "pi", "swe-agent",
        "tau-bench", "who-and-when",
    }  # fmt: skip
    assert status["formats/aider.json"] == "skipped" and "sidecar" in rows["formats/aider.json"]["reason"]
    for row in rows.values():
        assert all(run.keys() >= RUN_KEYS for run in row["runs"])
        if row["status"] == "imported":
            assert row["events"] == sum(run["events"] for run in row["runs"]) > 0
            assert row["candidates"] == sum(run["candidates"] for run in row["runs"])
    assert len(rows["formats/tau-bench.json"]["runs"]) == 2


def test_importing_again_adds_nothing_and_a_longer_copy_only_what_is_new(temporality: Command, tmp_path: Path) -> None:
    lines = TRIVIAL.read_bytes().splitlines(keepends=True)
    grown = tmp_path / "grown.jsonl"
    grown.write_bytes(b"".join(lines[:12]))
    short = temporality("import", grown, "--project", "grow", "--json").object
    assert short["added"] == short["events"] > 0
    again = temporality("import", grown, "--project", "grow", "--json").object
    assert (again["added"], again["events"]) == (0, short["events"])
    grown.write_bytes(b"".join(lines))
    longer = temporality("import", grown, "--project", "grow", "--json").object
    # beside the new records, the short copy said of itself that calls were left open
    assert 0 < longer["events"] - short["events"] <= longer["added"] < longer["events"]
    assert temporality("import", grown, "--project", "grow", "--json").object["added"] == 0
    assert longer["runs"][0]["run"] == short["runs"][0]["run"]
    assert longer["runs"][0]["trajectory"] != short["runs"][0]["trajectory"]
    shown = temporality("show", "run", longer["runs"][0]["run"][:6], "--project", "grow", "--json").object
    assert shown["run"]["events"] == short["added"] + longer["added"]


def test_no_wait_returns_when_it_is_durable(temporality: Command) -> None:
    row = temporality("import", TRIVIAL, "--project", "hasty", "--no-wait", "--json").object
    assert row["candidates"] is None and row["runs"][0]["candidates"] is None
    verified = temporality("verify", "--project", "hasty", "--json").object
    assert verified["ok"] and verified["events"] >= row["events"]


def test_a_run_may_be_named_for_one_file(temporality: Command) -> None:
    chat = EXAMPLES / "formats" / "openai-chat.json"
    row = temporality("import", chat, "--project", "named", "--run", "my-run", "--json").object
    assert [run["run"] for run in row["runs"]] == ["my-run"]


def test_a_table_and_reasons_for_people(temporality: Command, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("plain words")
    ran = temporality("import", tmp_path, FIRST, "--project", "table")
    assert ran.code == 0 and ran.err == ""
    assert "claude-code" in ran.out and "skipped 1 file: it is plain text" in ran.out
    assert "2 files: 1 imported, 1 skipped" in ran.out
    assert "\x1b[" not in ran.out, "no colours and no bars where nobody looks"


def test_the_queue_shows_evidence_down_to_the_span(ledger: Command) -> None:
    items = waiting(ledger, "ledger")
    assert items
    for item in items:
        assert item["approval"]["state"] == "pending" and item["approval"]["target"] == item["knowledge"]["id"]
        assert any(cited["type"].endswith("_result") for cited in item["evidence"])
        for cited in item["evidence"]:
            assert cited["excerpt"]["verified"] is True and cited["excerpt"]["text"]
    text = ledger("review", "--project", "ledger").out
    assert items[0]["knowledge"]["proposition"] in text and f"{len(items)} waiting" in text


def test_show_leads_from_knowledge_to_the_event_and_the_run(ledger: Command) -> None:
    item = waiting(ledger, "ledger")[0]
    node, cited = item["knowledge"]["id"], item["evidence"][0]
    shown = ledger("show", "knowledge", node[:20], "--project", "ledger", "--json").object
    assert shown["knowledge"]["id"] == node and shown["transitions"][0]["transition"] == "proposed"
    event = ledger("show", "event", cited["event"][:12], "--project", "ledger", "--json").object
    span = cited["excerpt"]
    body = event["document"]["data"][span["field"]]
    assert body[span["start"] : span["end"]] == span["text"]
    run = ledger("show", "run", cited["run"], "--project", "ledger", "--json").object
    assert node in {moved["knowledge"]["id"] for moved in run["moved"]}
    frame = ledger("show", "frame", run["frames"][0]["frame_id"][:10], "--project", "ledger", "--json").object
    assert frame["frame"]["run_id"] == cited["run"] and frame["events"]
    for kind, ident in (("run", cited["run"]), ("event", cited["event"]), ("knowledge", node)):
        told = ledger("show", kind, ident, "--project", "ledger")
        assert told.code == 0 and ident in told.out


@pytest.mark.parametrize("kind", ["run", "frame", "task", "event", "knowledge"])
def test_what_is_not_there_or_another_projects_is_not_found(ledger: Command, kind: str) -> None:
    for project in ("ledger", "elsewhere"):
        ran = ledger("show", kind, "zzz", "--project", project)
        assert ran.code == 5 and ran.err.count("\n") == 1 and f"no {kind} of project {project}" in ran.err
    node = waiting(ledger, "ledger")[0]["knowledge"]["id"]
    assert ledger("show", "knowledge", node, "--project", "elsewhere").code == 5
    assert ledger("search", "cent", "--project", "_installation").code == 2


def test_an_ambiguous_prefix_lists_what_it_fits(ledger: Command) -> None:
    assert len(waiting(ledger, "ledger")) > 1
    ran = ledger("approve", "claim/", "--project", "ledger", "--as", ACTOR)
    assert ran.code == 2 and "claim/v1/" in ran.err and "give more of it" in ran.err


def test_search_explains_itself(ledger: Command) -> None:
    answer = ledger("search", "half a cent", "--project", "ledger", "--json").object
    assert answer["authorization"] == {
        "principal": "system:temporality:local", "project": "ledger", "decision": "granted",
        "basis": answer["authorization"]["basis"],
    }  # fmt: skip
    assert answer["items"] and all(item["score"] == sum(t["score"] for t in item["terms"]) for item in answer["items"])
    assert len(ledger("search", "a", "--project", "ledger", "--limit", "1", "--json").object["items"]) <= 1
    nothing = ledger("search", "xyzzy", "--project", "ledger")
    assert nothing.code == 0 and "0 of 0" in nothing.out and "Not found here: xyzzy" in nothing.out
    assert ledger("search", "x", "--limit", "0").code == 2


def test_decisions_answer_what_their_transaction_decided(temporality: Command) -> None:
    temporality("import", FIRST, SECOND, "--project", "decide", "--json")
    items = waiting(temporality, "decide")
    live = [item for item in items if item["knowledge"]["state"] == "proposed"]
    first, second = live[0], live[1]

    nobody = temporality("approve", first["knowledge"]["id"], "--project", "decide")
    assert nobody.code == 2 and "TEMPORALITY_ACTOR" in nobody.err
    agent = temporality("approve", first["knowledge"]["id"], "--project", "decide", "--as", "agent:x:y")
    assert agent.code == 5 and "agents never decide" in agent.err

    rejected = temporality(
        "reject", first["knowledge"]["id"][9:20], "--project", "decide", "--as", ACTOR, "--rationale", "no", "--json"
    )
    assert rejected.code == 0
    assert (rejected.object["effective"], rejected.object["state"], rejected.object["application"]) == (
        True,
        "rejected",
        "applied",
    )
    assert rejected.object["node"]["state"] == "invalidated"
    late = temporality("approve", first["approval"]["approval_id"], "--project", "decide", "--as", ACTOR, "--json")
    assert late.code == 3 and late.object["effective"] is False and late.object["state"] == "rejected"

    named = Command(temporality.home, (("TEMPORALITY_ACTOR", ACTOR),))
    edited = named(
        "edit", second["approval"]["approval_id"][:14], "--project", "decide", "--json", stdin="Said\nby a person.\n"
    )
    assert edited.code == 0 and edited.object["reviewer"] == ACTOR
    assert (edited.object["node"]["proposition"], edited.object["node"]["state"]) == ("Said\nby a person.", "confirmed")
    old = named("show", "knowledge", second["knowledge"]["id"], "--project", "decide", "--json").object
    assert (old["knowledge"]["state"], old["knowledge"]["replaced_by"]) == ("corrected", edited.object["node"]["id"])
    for empty in (("--text", "  "), ()):
        assert named("edit", items[0]["knowledge"]["id"], "--project", "decide", *empty).code in (2, 3)
    ended = {first["knowledge"]["id"], second["knowledge"]["id"]}
    found = named("search", first["knowledge"]["proposition"], "--project", "decide", "--json").object
    assert not ended & {item["knowledge"]["id"] for item in found["items"]}


def test_rebuild_and_verify(ledger: Command, tmp_path: Path) -> None:
    rebuilt = ledger("rebuild", "--project", "ledger", "--json").object
    assert rebuilt["identical"] is True and rebuilt["events"] > 0 and set(rebuilt["differing"].values()) == {0}
    heads = tmp_path / "heads.json"
    verified = ledger("verify", "--project", "ledger", "--full", "--export", heads, "--json").object
    assert verified["ok"] and verified["columns_checked"] == verified["events"] == rebuilt["events"]
    assert json.loads(heads.read_text())["checkpoints"] == [verified["head"]]
    assert ledger("verify", "--all", "--against", heads).code == 0
    told = json.loads(heads.read_text())
    told["checkpoints"][0]["hash"] = "00" * 32
    heads.write_text(json.dumps(told))
    changed = ledger("verify", "--project", "ledger", "--against", heads)
    assert changed.code == 1 and "history was rewritten" in changed.out
    heads.write_text("{}")
    assert ledger("verify", "--against", heads).code == 2
    assert ledger("verify", "--project", "nobody").code == 5
    assert ledger("rebuild", "--project", "nobody").code == 5


HOSTILE = ["a/b", "..", "a\nb", "x" * 2000, "é" * 100, "'; DROP TABLE x; --", "%00", "-"]


@pytest.mark.parametrize("project", HOSTILE, ids=lambda text: repr(text)[:20])
def test_hostile_names_are_encoded_or_refused_with_a_sentence(ledger: Command, project: str) -> None:
    ran = ledger("search", "cent", f"--project={project}", "--json")
    assert ran.code in (0, 2) and "Traceback" not in ran.err
    if ran.code == 0:
        assert ran.object["items"] == []
    shown = ledger("show", "run", "--project", "ledger", "--", project)
    assert shown.code in (2, 5) and shown.err.count("\n") == 1


def test_text_from_a_transcript_cannot_move_the_terminal(temporality: Command, tmp_path: Path) -> None:
    text = FIRST.read_text().replace("test_half_cent_of_a_reduced_rate in", "\\u001b[2J\\u0007 test_half in")
    (tmp_path / "evil.jsonl").write_text(text)
    row = temporality("import", tmp_path / "evil.jsonl", "--project", "evil", "--json").object
    told = temporality("show", "run", row["runs"][0]["run"], "--project", "evil")
    assert told.code == 0 and "[2J" in told.out and "\x1b" not in told.out and "\x07" not in told.out
