"""What is published is what is judged: current files, and one verdict from the schema and from the model."""

import json
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from pydantic import BaseModel, ValidationError

from deploy.client.publish import FOLDER, GIVEN, TAKEN, publish, published, text_of
from domain.contracts import approval, extraction, imports, observed_run
from domain.contracts.errors import MalformedMessage, PayloadTooLarge
from domain.contracts.messages import Message, understand
from domain.journal.event import EventModel
from domain.projections.catalogue import CATALOGUE
from tests.contracts.vectors import ACCEPTED, REFUSED

MODELS: dict[str, type[BaseModel]] = {
    **{model.__name__: model for model in (*TAKEN, *GIVEN)},
    "EventModel": EventModel,
    **{f"events/{kind.name}": kind.payload for kind in CATALOGUE},
}


def schema(name: str) -> Any:
    return json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))


def validator(name: str) -> jsonschema_rs.Draft202012Validator:
    return jsonschema_rs.Draft202012Validator(schema(name), validate_formats=True)


def test_the_committed_files_are_current() -> None:
    present = {str(path.relative_to(FOLDER)): path.read_text(encoding="utf-8") for path in FOLDER.rglob("*.json")}
    wanted = {name: text_of(document) for name, document in published().items()}
    changed = sorted(name for name in present.keys() | wanted.keys() if present.get(name) != wanted.get(name))
    assert not changed, "run `python -m deploy.client.publish` and commit docs/contracts"


def test_publishing_writes_what_is_missing_and_drops_what_is_gone(tmp_path: Path) -> None:
    assert len(publish(tmp_path)) == len(published())
    (tmp_path / "events" / "gone.json").write_text("{}")
    (tmp_path / "Complete.json").write_text("{}")
    assert publish(tmp_path) == ["Complete.json", "events/gone.json"]
    assert publish(tmp_path) == []


def test_every_message_of_the_contracts_is_published() -> None:
    found = {
        value.__name__
        for module in (approval, extraction, imports, observed_run)
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, Message) and value is not Message
    }
    named = {model.__name__ for model in (*TAKEN, *GIVEN)}
    inner = {name for document in published().values() for name in document.get("$defs", {})}
    assert found <= named | inner


@pytest.mark.parametrize("name", sorted(published()))
def test_every_file_is_a_schema(name: str) -> None:
    jsonschema_rs.meta.validate(json.loads((FOLDER / name).read_text(encoding="utf-8")))


@pytest.mark.parametrize(("name", "value"), ACCEPTED, ids=lambda part: part if isinstance(part, str) else "")
def test_schema_and_model_take_it(name: str, value: Any) -> None:
    assert [error.message for error in validator(name).iter_errors(value)] == []
    MODELS[name].model_validate_json(json.dumps(value))


@pytest.mark.parametrize(("name", "value", "field"), REFUSED, ids=lambda part: part if isinstance(part, str) else "")
def test_schema_and_model_refuse_it(name: str, value: Any, field: str) -> None:
    said = [error.message + str(error.instance_path) for error in validator(name).iter_errors(value)]
    assert any(field in one for one in said), said
    with pytest.raises(ValidationError) as refused:
        MODELS[name].model_validate_json(json.dumps(value))
    assert field in {str(error["loc"][0]) for error in refused.value.errors()}


@pytest.mark.parametrize("model", TAKEN, ids=lambda model: model.__name__)
@pytest.mark.parametrize("raw", [None, "text", [], 5, True])
def test_what_is_no_object_gets_a_sentence_that_names_the_schema(model: type[Message], raw: Any) -> None:
    with pytest.raises(MalformedMessage, match=rf"takes a JSON object, not .*docs/contracts/{model.__name__}\.json"):
        understand(model, raw, "record")
    assert not validator(model.__name__).is_valid(raw)


def test_a_batch_of_too_many_events_is_over_the_limit_by_schema_and_by_handler() -> None:
    batch = {"events": [1] * 501}
    assert not validator("RecordBatch").is_valid(batch)
    with pytest.raises(PayloadTooLarge, match=r"501 events and `record` takes 500.*temporality-client"):
        observed_run.batch_of(batch)


@pytest.mark.parametrize("model", GIVEN, ids=lambda model: model.__name__)
def test_an_answer_has_every_field(model: type[BaseModel]) -> None:
    document = schema(model.__name__)
    assert set(document["required"]) == set(model.model_fields) == set(document["properties"])
