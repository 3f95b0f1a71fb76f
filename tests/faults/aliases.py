"""Names for ids that hang on a clock, so that the same work on two days can be compared.

A run recorded live begins when it begins; its trajectory, its extraction, their approvals and the events that tell of them are
named by hashes that hold this time. Each gets the name of what it is: the third event of its kind about this node in this run.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Final

import orjson

_ID: Final = re.compile(r"node_[0-9A-HJKMNP-TV-Z]{26}|[0-9a-f]{64}|[0-9a-f]{32}")


class Aliases:
    """The names of one project's ids, gathered from its events in order."""

    def __init__(self, documents: Iterable[Mapping[str, Any]]) -> None:
        self._names: dict[str, str] = {}
        self._seen: Counter[str] = Counter()
        for document in documents:
            self._gather(document)

    def name(self, identity: str, name: str) -> None:
        """Call `identity` by `name`, unless it has one."""
        self._names.setdefault(identity, name)

    def of(self, text: str) -> str:
        """`text` with every id that has a name replaced by it."""
        return _ID.sub(lambda found: self._names.get(found.group(), found.group()), text)

    def within(self, value: Any) -> Any:
        """A JSON value likewise; lists of texts are sorted, because ids order them."""
        return _settled(orjson.loads(self.of(orjson.dumps(value, option=orjson.OPT_SORT_KEYS, default=str).decode())))

    def _gather(self, document: Mapping[str, Any]) -> None:
        source, data, kind = document["source"]["id"], document["data"], document["type"]
        if not source.startswith("temporality/"):
            return
        run = document["context"].get("run")
        if kind == "run.closed":
            self.name(data["trajectory"], self._numbered(f"trajectory of {run}"))
        if "extraction" in data:
            self.name(data["extraction"], f"extraction of {self.of(data['trajectory'])}")
        if kind == "approval.requested":
            self.name(data["approval"], self._numbered(f"approval of {data['proposed_action']['target']} for {run}"))
        about = self.of(str(data.get("knowledge") or data.get("approval") or data.get("extraction") or ""))
        if source != "temporality/import":
            self.name(document["event_id"], self._numbered(f"{kind} of {about} in {run}"))

    def _numbered(self, name: str) -> str:
        self._seen[name] += 1
        return f"<{name} #{self._seen[name]}>"


def _settled(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _settled(item) for key, item in value.items()}
    if isinstance(value, list):
        settled = [_settled(item) for item in value]
        return sorted(settled) if all(isinstance(item, str) for item in settled) else settled
    return value
