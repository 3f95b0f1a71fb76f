"""The Temporal dev server keeps its workflows, its retention and its search attributes through anything."""

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from stack.errors import PortInUse, SearchAttributeConflict, ServerDidNotStart
from stack.ports import free_ports
from stack.programs import temporal_program
from stack.temporal import TemporalEndpoint, TemporalOptions, TemporalServer
from tests.stack.left import processes_of

ATTRIBUTES = {"TestKind": "Keyword", "TestTags": "KeywordList", "TestDue": "Datetime"}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A home that an earlier version used, with one open workflow."""
    folder = tmp_path_factory.mktemp("temporal")
    server = TemporalServer(folder, TemporalOptions(search_attributes=ATTRIBUTES, die_with_parent=True))
    endpoint = server.start()
    command(endpoint, "workflow", "start", "--type", "Nothing", "--task-queue", "nobody", "--workflow-id", "kept/1")
    os.kill(endpoint.pid, signal.SIGKILL)
    server.stop()
    yield folder
    assert processes_of(folder) == []


def command(endpoint: TemporalEndpoint, *words: str) -> str:
    argv = (str(temporal_program()), *words, "--address", endpoint.address, "-o", "json")
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def retention(endpoint: TemporalEndpoint) -> str:
    told = json.loads(command(endpoint, "operator", "namespace", "describe", "-n", "default"))
    return str(told["config"]["workflowExecutionRetentionTtl"])


def attributes(endpoint: TemporalEndpoint) -> dict[str, str]:
    told = json.loads(command(endpoint, "operator", "search-attribute", "list", "-n", "default"))
    return {name: kind for name, kind in told["customAttributes"].items() if name.startswith("Test")}


def workflows(endpoint: TemporalEndpoint) -> list[str]:
    told = json.loads(command(endpoint, "workflow", "list", "-n", "default"))
    return [execution["execution"]["workflowId"] for execution in told]


def test_a_killed_server_comes_back_with_all_it_knew(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEMPORAL_NAMESPACE", "somebody-elses")
    server = TemporalServer(home, TemporalOptions(search_attributes=ATTRIBUTES, die_with_parent=True))
    first = server.start()
    monkeypatch.undo()
    assert retention(first) == "7776000s"
    assert {name: attributes(first)[name] for name in ATTRIBUTES} == {
        "TestKind": "INDEXED_VALUE_TYPE_KEYWORD",
        "TestTags": "INDEXED_VALUE_TYPE_KEYWORD_LIST",
        "TestDue": "INDEXED_VALUE_TYPE_DATETIME",
    }
    assert workflows(first) == ["kept/1"]

    os.kill(first.pid, signal.SIGKILL)
    second = server.start()
    assert second.pid != first.pid and second.address == first.address
    assert (retention(second), workflows(second)) == ("7776000s", ["kept/1"])
    server.stop()
    server.stop()
    assert processes_of(home) == []


def test_a_later_version_brings_its_attributes_and_a_taken_port_is_one_sentence(home: Path) -> None:
    ports = free_ports(2)
    added = ATTRIBUTES | {"TestLater": "Int"}
    options = TemporalOptions(search_attributes=added, port=ports[0], ui_port=ports[1], die_with_parent=True)
    server = TemporalServer(home, options)
    endpoint = server.start()
    try:
        assert endpoint.address == f"127.0.0.1:{ports[0]}" and endpoint.ui_url == f"http://127.0.0.1:{ports[1]}"
        assert attributes(endpoint)["TestLater"] == "INDEXED_VALUE_TYPE_INT"
        assert workflows(endpoint) == ["kept/1"]
        assert listeners(endpoint.pid) <= {"0100007F"}, "loopback only"
        for taken in (TemporalOptions(port=ports[0]), TemporalOptions(ui_port=ports[1])):
            with pytest.raises(PortInUse, match=r"Port \d+ for the Temporal (server|UI) is in use; .*TEMPORALITY_"):
                TemporalServer(home / "other", taken).start()
    finally:
        server.stop()


def test_an_attribute_of_another_type_is_one_sentence(home: Path) -> None:
    options = TemporalOptions(search_attributes={"TestKind": "Int"}, die_with_parent=True)
    with pytest.raises(SearchAttributeConflict, match="TestKind is registered as KEYWORD and this version needs INT"):
        TemporalServer(home, options).start()
    assert processes_of(home) == []


def test_a_server_that_cannot_start_tells_why(tmp_path: Path) -> None:
    (tmp_path / "temporal" / "temporal.db").mkdir(parents=True)
    with pytest.raises(ServerDidNotStart, match=r"unable to open database file|is a directory"):
        TemporalServer(tmp_path, TemporalOptions(die_with_parent=True)).start()
    assert processes_of(tmp_path) == []


def test_fairness_is_on_and_values_can_be_added(tmp_path: Path) -> None:
    options = TemporalOptions(dynamic_config={"limit.maxIDLength": "255"}, in_memory=True, ui=False)
    server = TemporalServer(tmp_path, options)
    endpoint = server.start()
    words = Path(f"/proc/{endpoint.pid}/cmdline").read_text().split("\0")
    server.stop()
    values = [words[at + 1] for at, word in enumerate(words) if word == "--dynamic-config-value"]
    assert sorted(values) == ["limit.maxIDLength=255", "matching.enableFairness=true", "matching.enableMigration=true"]
    assert endpoint.ui_url is None
    assert not list(tmp_path.rglob("*.db"))


def listeners(pid: int) -> set[str]:
    """Local addresses, in the kernel's hexadecimal, on which the process listens."""
    inodes = {os.readlink(link) for link in Path(f"/proc/{pid}/fd").iterdir()}
    found: set[str] = set()
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and f"socket:[{fields[9]}]" in inodes:
                found.add(fields[1].partition(":")[0])
    return found
