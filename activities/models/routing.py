"""The routing table: capability class to provider, by version. Code names classes; only a table names what serves them (law 18)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from domain.contracts.errors import ExtractionRefused
from domain.extraction import rules
from domain.extraction.candidate import Proposal
from domain.extraction.context import ExtractionContext

EMBEDDED = Path(__file__).with_name("routing.embedded.v1.json")

Extractor = Callable[[ExtractionContext, Sequence[rules.KnownClaim]], Proposal]


def _by_rules(context: ExtractionContext, existing: Sequence[rules.KnownClaim]) -> Proposal:
    return Proposal(candidates=rules.propose(context, existing), provider=rules.PROVIDER)


EXTRACTORS: Mapping[str, Extractor] = {"rules": _by_rules}


@dataclass(frozen=True, slots=True)
class Routing:
    """A loaded table: its version and the provider of each capability class."""

    version: str
    classes: Mapping[str, str]

    @staticmethod
    def load(path: Path = EMBEDDED) -> Routing:
        """Read a table. Raises `ValueError` for one that is not of this shape."""
        table = json.loads(path.read_text(encoding="utf-8"))
        try:
            return Routing(table["version"], {name: row["provider"] for name, row in table["classes"].items()})
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(
                f"{path.name} is no routing table: it needs `version` and `classes` with a `provider` each"
            ) from error

    def extractor(self, capability: str) -> Extractor:
        """What serves a capability class of extraction. Raises `ExtractionRefused` when the table or the build has none."""
        provider = self.classes.get(capability)
        if provider is None or provider not in EXTRACTORS:
            raise ExtractionRefused(
                f"the routing table {self.version} has no provider this version knows for `{capability}`"
            )
        return EXTRACTORS[provider]
