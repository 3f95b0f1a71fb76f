"""What an extractor returns: 0..N candidates, and what of a model's answer is no candidate.

A model's answer is data: whatever it holds, reading it yields candidates and a list of what was invalid, and changes
nothing else.
"""

from __future__ import annotations

import json
from typing import Any, Literal, TypeGuard

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from domain.extraction.events import Invalid

MAX_CITATIONS = 20
_SHOWN = 200


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Citation(_Strict):
    """An event of the run that a candidate rests on. `quote`, where given, must occur in it word for word."""

    event_id: str = Field(min_length=1, max_length=512)
    quote: str | None = Field(default=None, min_length=1, max_length=1000)


class Candidate(_Strict):
    """One proposition worth keeping beyond its run (spec/2 section 8).

    `confidence` is a decimal from 0 to 1 written as a string: information only. `provenance` is the event the
    proposition was written in. `rule` names the rule that found it, where rules did.
    """

    kind: Literal["claim", "observation"]
    proposition: str = Field(min_length=1, max_length=2000)
    evidence: list[Citation] = Field(max_length=MAX_CITATIONS)
    confidence: str | None = Field(default=None, pattern=r"^(0(\.[0-9]{1,6})?|1(\.0{1,6})?)$")
    provenance: str | None = Field(default=None, max_length=512)
    rule: str | None = Field(default=None, max_length=128)


class Proposal(_Strict):
    """A provider's whole answer."""

    candidates: list[Candidate] = Field(default_factory=list[Candidate])
    provider: str = Field(default="", max_length=128)


def answer_schema() -> dict[str, Any]:
    """JSON Schema of the answer a model is asked for: `{"candidates": [...]}`."""
    return Proposal.model_json_schema()


def parse_candidates(raw: str | bytes) -> tuple[tuple[Candidate, ...], tuple[Invalid, ...]]:
    """The candidates of a model's raw answer, and each thing in it that is none with its reason.

    The answer is `{"candidates": [...]}` or the bare list. Reason codes: `not_json`, `wrong_shape`,
    `invalid_candidate`.
    """
    try:
        answer = json.loads(raw)
    except (ValueError, RecursionError) as error:
        return (), (_invalid("not_json", f"the answer is not JSON: {error}", raw),)
    listed = answer.get("candidates") if _is_object(answer) else answer
    if not _is_list(listed):
        return (), (
            _invalid("wrong_shape", "the answer is neither a list of candidates nor an object with `candidates`", raw),
        )
    valid: list[Candidate] = []
    invalid: list[Invalid] = []
    for item in listed:
        try:
            valid.append(Candidate.model_validate_json(json.dumps(item)))
        except ValidationError as error:
            invalid.append(_invalid("invalid_candidate", _sentence(error), _said(item)))
    return tuple(valid), tuple(invalid)


def _is_object(value: object) -> TypeGuard[dict[str, Any]]:
    return isinstance(value, dict)


def _is_list(value: object) -> TypeGuard[list[Any]]:
    return isinstance(value, list)


def _said(item: Any) -> str:
    proposition = item.get("proposition") if _is_object(item) else None
    return proposition if isinstance(proposition, str) else json.dumps(item, ensure_ascii=False)


def _invalid(code: str, reason: str, shown: str | bytes) -> Invalid:
    text = shown.decode("utf-8", "replace") if isinstance(shown, bytes) else shown
    return Invalid(
        reason_code=code, reason=reason[:1000], proposition=text.encode("utf-8", "replace").decode()[:_SHOWN]
    )


def _sentence(error: ValidationError) -> str:
    problems = error.errors(include_url=False, include_input=False)
    return "; ".join(f"{'.'.join(map(str, item['loc'])) or 'candidate'}: {item['msg']}" for item in problems[:5])
