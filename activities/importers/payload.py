"""The data of an event out of a fact: plain canonical JSON, with the native ids and the time as it was written.

What canonical JSON cannot carry is kept in another spelling; what is nested too deep is kept as text, in the worst
case all of it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from activities.importers.times import Told
from domain.journal.canonical import NotAdmitted, admit
from domain.runs.transcript import Fact

_DEEPEST = 48
_MAX_NATIVE = 2000


def payload(fact: Fact, time: Told) -> dict[str, Any]:
    """The data of the fact's event; fields without a value are left out."""
    data = {key: value for key, value in fact.data.items() if value is not None or key == "record"}
    if fact.native_id is not None:
        data["native_id"] = fact.native_id[:_MAX_NATIVE]
    if fact.parent is not None:
        data["native_parent"] = fact.parent[:_MAX_NATIVE]
    if time.at is None and time.anomaly is not None:
        data["source_time"] = str(fact.at)[:_MAX_NATIVE]
    try:
        return admit(data, 2)
    except NotAdmitted:
        pass
    try:
        return admit(_flat(data, 0), 2)
    except RecursionError:
        shallow = {key: value for key, value in data.items() if not isinstance(value, Mapping | list)}
        return admit({**shallow, "record": fact.raw.decode("utf-8", "replace")}, 2)


def _flat(value: Any, depth: int) -> Any:
    """`value` with what lies deeper than 48 levels as its JSON text."""
    if not isinstance(value, Mapping | list):
        return value
    if depth >= _DEEPEST:
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, Mapping):
        return {key: _flat(item, depth + 1) for key, item in value.items()}
    return [_flat(item, depth + 1) for item in value]
