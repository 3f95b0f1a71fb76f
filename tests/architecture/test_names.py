"""Names of workflows, messages and activities are pinned, and every reference has exactly one implementation."""

import importlib
import json
from collections import Counter
from types import FunctionType

from temporalio.activity import _Definition

import domain.ports.registry
from domain.ports.registry import PORTS, REFS, is_ref
from tests.architecture.names import BASELINE, names
from tests.architecture.tree import first_party_modules


def test_no_name_is_changed_and_a_new_one_is_pinned() -> None:
    pinned, now = set(json.loads(BASELINE.read_text())), set(names())
    assert not pinned - now, f"{sorted(pinned - now)} went: runs in flight and other people's code call them by name"
    assert not now - pinned, f"pin {sorted(now - pinned)} with `.venv/bin/python -m tests.architecture.names`"


def test_every_port_is_listed() -> None:
    rooms = [importlib.import_module(name) for name in first_party_modules() if name.startswith("domain.ports.")]
    declaring = {m.__name__ for m in rooms if any(is_ref(v) and v.name for v in vars(m).values())}
    assert declaring <= {port.__name__ for port in PORTS} | {domain.ports.registry.__name__}, "list it in PORTS"
    repeated = [name for name, times in Counter(ref.name for ref in REFS).items() if times > 1]
    assert repeated == [], "two references share a name"


def test_every_reference_is_implemented_once() -> None:
    found: Counter[str] = Counter()
    for name in first_party_modules():
        if name.startswith("activities."):
            module = importlib.import_module(name)
            kinds = [v for v in vars(module).values() if isinstance(v, type) and v.__module__ == name]
            members = [part for kind in kinds for part in vars(kind).values() if isinstance(part, FunctionType)]
            definitions = [d for part in members if (d := _Definition.from_callable(part))]
            found.update(definition.name or "" for definition in definitions)
    assert found == Counter(ref.name for ref in REFS), (
        "each reference needs one @implements, and each of those a reference"
    )
