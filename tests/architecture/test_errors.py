"""One root, one file and one table for errors: a class that is not listed has no answer to "may I try again?"."""

import importlib
import re
from collections.abc import Iterator

from domain.contracts import errors
from domain.contracts.errors import NON_RETRYABLE_NAMES, RETRYABLE, TemporalityError, retryable
from tests.architecture.tree import first_party_modules


def _all(kind: type[TemporalityError] = TemporalityError) -> Iterator[type[TemporalityError]]:
    yield kind
    for child in kind.__subclasses__():
        if not child.__module__.startswith(("tests", "test_")):
            yield from _all(child)


def test_every_error_is_listed_and_says_a_sentence() -> None:
    for module in first_party_modules():
        importlib.import_module(module)
    kinds = set(_all())
    assert {kind for kind in kinds if kind.__module__ != errors.__name__} == set(), "errors live in one file"
    assert kinds == RETRYABLE.keys(), "list each error in RETRYABLE"
    names = [kind.__name__ for kind in kinds]
    assert len(set(names)) == len(names), "errors cross the boundary by name"
    for kind in kinds:
        assert re.fullmatch(r"[A-Z].*\.", str(kind()), re.DOTALL), f"{kind.__name__} needs a sentence as its docstring"


def test_the_sentence_is_the_docstring_and_then_the_detail() -> None:
    assert str(TemporalityError()) == "Temporality could not do what was asked."
    assert str(TemporalityError("the limit is 3")) == "Temporality could not do what was asked: the limit is 3"


def test_an_unlisted_class_answers_as_its_parent() -> None:
    class Special(TemporalityError):
        """A special case."""

    assert retryable(Special) is RETRYABLE[TemporalityError] is False
    assert set(NON_RETRYABLE_NAMES) == {kind.__name__ for kind in RETRYABLE if not RETRYABLE[kind]}
