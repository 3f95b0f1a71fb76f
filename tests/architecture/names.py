"""The names by which others call us: workflows, their messages, and activities.

They are a public contract: a name may be added, and none may be changed or taken away.
"""

import json
import sys
from pathlib import Path

from temporalio.workflow import _Definition

from domain.ports.registry import REFS
from workflows.registry import WORKFLOWS

BASELINE = Path(__file__).with_name("names.json")


def names() -> list[str]:
    """Every name, one a line: the kind, then `workflow`, or `workflow.message`, or the activity."""
    found = [f"activity {ref.name}" for ref in REFS]
    for workflow in WORKFLOWS:
        definition = _Definition.must_from_class(workflow)
        found.append(f"workflow {definition.name}")
        for kind, handlers in (
            ("update", definition.updates),
            ("signal", definition.signals),
            ("query", definition.queries),
        ):
            found += [f"{kind} {definition.name}.{name}" for name in handlers]
    return sorted(found)


if __name__ == "__main__":
    BASELINE.write_text(json.dumps(names(), indent=1) + "\n")
    print(f"{len(names())} names pinned", file=sys.stderr)
