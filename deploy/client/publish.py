"""Publish the JSON Schema of every public message and event: `python -m deploy.client.publish` in the project's root.

What is published is generated from the models that judge the messages, so that document and behaviour cannot differ.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import BaseModel

from domain.contracts.approval import ApprovalInput, ApprovalView, Decision, DecisionAnswer
from domain.contracts.extraction import ExtractionAnswer, ExtractionInput
from domain.contracts.imports import ImportAnswer, ImportInput
from domain.contracts.observed_run import (
    Complete,
    CompleteAnswer,
    ObservedRunInput,
    Progress,
    RecordAnswer,
    RecordBatch,
)
from domain.journal.event import EventModel
from domain.projections.catalogue import CATALOGUE

FOLDER: Final = Path(__file__).resolve().parents[2] / "docs" / "contracts"
DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"

TAKEN: Final[tuple[type[BaseModel], ...]] = (
    ObservedRunInput,
    RecordBatch,
    Complete,
    ApprovalInput,
    Decision,
    ImportInput,
    ExtractionInput,
)
"""What callers send: a field with a default may be left out."""

GIVEN: Final[tuple[type[BaseModel], ...]] = (
    RecordAnswer,
    CompleteAnswer,
    Progress,
    DecisionAnswer,
    ApprovalView,
    ImportAnswer,
    ExtractionAnswer,
)
"""What callers get: every field is there."""


def schema_of(model: type[BaseModel], name: str, mode: Literal["validation", "serialization"]) -> dict[str, Any]:
    """The JSON Schema (2020-12) of `model`, named `name`."""
    return {"$schema": DIALECT, "$id": f"urn:temporality:contract:{name}", **model.model_json_schema(mode=mode)}


def published() -> Mapping[str, dict[str, Any]]:
    """Every schema by its file name below `docs/contracts`."""
    documents = {f"{model.__name__}.json": schema_of(model, model.__name__, "validation") for model in TAKEN}
    documents |= {f"{model.__name__}.json": schema_of(model, model.__name__, "serialization") for model in GIVEN}
    documents["EventModel.json"] = schema_of(EventModel, "EventModel", "validation")
    for kind in CATALOGUE:
        name = f"events/{kind.name}/{kind.version}"
        documents[f"events/{kind.name}.json"] = schema_of(kind.payload, name, "validation")
    return documents


def text_of(document: Mapping[str, Any]) -> str:
    """The bytes of a published file: sorted keys, so that a change of a model is the only change of a file."""
    return json.dumps(document, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def publish(folder: Path = FOLDER) -> list[str]:
    """Write every schema below `folder`, drop those that are no longer published, and give the names that changed."""
    documents = {name: text_of(document) for name, document in published().items()}
    (folder / "events").mkdir(parents=True, exist_ok=True)
    present = {str(path.relative_to(folder)): path.read_text(encoding="utf-8") for path in folder.rglob("*.json")}
    for name in present.keys() - documents.keys():
        (folder / name).unlink()
    for name, text in documents.items():
        if present.get(name) != text:
            (folder / name).write_text(text, encoding="utf-8")
    return sorted(name for name in documents.keys() | present.keys() if documents.get(name) != present.get(name))


if __name__ == "__main__":
    changed = publish()
    print(f"{len(changed)} of {len(published())} schemas changed", *changed, sep="\n  ")  # noqa: T201
