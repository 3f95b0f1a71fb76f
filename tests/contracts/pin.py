"""The public contract as plain data, and what counts as breaking it: `python -m tests.contracts.pin` pins additions.

What is pinned may never change or go: a caller that was written against it runs somewhere.
"""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from deploy.client.publish import GIVEN, TAKEN
from domain.contracts import names, observed_run
from domain.contracts.errors import RETRYABLE

PINNED = Path(__file__).with_name("pinned.json")
Contract = dict[str, dict[str, Any]]


def current() -> Contract:
    """The contract as the code states it now: group to name to what it is."""
    models = [(model, "validation") for model in TAKEN] + [(model, "serialization") for model in GIVEN]
    contract: Contract = {}
    for model, mode in models:
        schema = model.model_json_schema(mode="validation" if mode == "validation" else "serialization")
        contract[f"message {model.__name__}"] = _fields(schema)
        for name, inner in schema.get("$defs", {}).items():
            contract[f"inner {name} of {mode}"] = _fields(inner)
    contract["names"] = {
        name: value for name, value in vars(names).items() if name.isupper() and isinstance(value, str)
    }
    contract["search attributes"] = dict(names.SEARCH_ATTRIBUTES)
    contract["workflow ids"] = {
        "run": names.run_workflow_id("p", "r 1"),
        "import": names.import_workflow_id("p", "0" * 64),
        "extraction": names.extraction_workflow_id("p", "t", "x.v1"),
        "extraction again": names.extraction_workflow_id("p", "t", "x.v1", 2),
        "approval": names.approval_workflow_id("p", "a"),
    }
    contract["limits"] = {
        "batch bytes": observed_run.MAX_BATCH_BYTES,
        "batch events": observed_run.MAX_BATCH_EVENTS,
        "idle seconds": observed_run.DEFAULT_IDLE_SECONDS,
    }
    contract["errors"] = {kind.__name__: "again" if again else "never" for kind, again in RETRYABLE.items()}
    return contract


def broken(pinned: Contract, now: Contract) -> list[str]:
    """A sentence for everything that a caller written against `pinned` would trip over."""
    said: list[str] = []
    for group, entries in pinned.items():
        found = now.get(group, {})
        for name, was in entries.items():
            if name not in found:
                said.append(f"{group}: {name} is gone")
            elif found[name] != was:
                said.append(f"{group}: {name} was {was} and is {found[name]}")
        taken = group.startswith("message ") or group.endswith("of validation")
        for name in found.keys() - entries.keys():
            if taken and found[name].get("required") and not _is_given(group):
                said.append(f"{group}: {name} is new and required, so callers of today are refused; give it a default")
    return sorted(said)


def unpinned(pinned: Contract, now: Contract) -> list[str]:
    """What is new and not pinned yet."""
    return sorted(
        f"{group}: {name}" for group, entries in now.items() for name in entries if name not in pinned.get(group, {})
    )


def read() -> Contract:
    return json.loads(PINNED.read_text(encoding="utf-8")) if PINNED.exists() else {}


def pin() -> list[str]:
    """Pin what is new. Raises ValueError, and pins nothing, when something pinned changed or is gone."""
    pinned, now = read(), current()
    if said := broken(pinned, now):
        raise ValueError("; ".join(said))
    added = unpinned(pinned, now)
    PINNED.write_text(json.dumps(now, indent=1, sort_keys=True, ensure_ascii=False) + "\n", encoding="utf-8")
    return added


def _is_given(group: str) -> bool:
    return group.removeprefix("message ") in {model.__name__ for model in GIVEN}


def _fields(schema: Mapping[str, Any]) -> dict[str, Any]:
    required = schema.get("required", [])
    return {
        name: {"type": _type(field), "required": name in required}
        for name, field in schema.get("properties", {}).items()
    }


def _type(field: Any) -> Any:
    """A field's schema without the words around it."""
    if isinstance(field, dict):
        return {key: _type(value) for key, value in field.items() if key not in ("title", "description")}
    return [_type(one) for one in field] if isinstance(field, list) else field


if __name__ == "__main__":
    try:
        print(*(pin() or ["nothing is new"]), sep="\n")
    except ValueError as error:
        sys.exit(f"not pinned: {error}")
