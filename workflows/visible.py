"""What an operator sees of a workflow without asking it: search attributes, and details in plain sentences.

Attributes are written only when they change, because each change is an event of the history.
"""

from datetime import datetime
from typing import Final

from temporalio import workflow
from temporalio.common import SearchAttributeKey, SearchAttributePair, SearchAttributeUpdate, TypedSearchAttributes

from domain.contracts.starting import Attributes

DETAILS_CHARACTERS: Final = 4000


def typed(attributes: Attributes) -> TypedSearchAttributes:
    """`attributes` in Temporal's types."""
    return TypedSearchAttributes(
        [
            SearchAttributePair(SearchAttributeKey.for_datetime(name), value)
            if isinstance(value, datetime)
            else SearchAttributePair(SearchAttributeKey.for_keyword(name), value)
            for name, value in attributes.items()
        ]
    )


def show(attributes: Attributes) -> None:
    """Write what differs from the attributes this workflow has."""
    has = workflow.info().typed_search_attributes
    changed: list[SearchAttributeUpdate[str] | SearchAttributeUpdate[datetime]] = []
    for name, value in attributes.items():
        if isinstance(value, datetime):
            instant = SearchAttributeKey.for_datetime(name)
            if has.get(instant) != value:
                changed.append(instant.value_set(value))
        else:
            keyword = SearchAttributeKey.for_keyword(name)
            if has.get(keyword) != value:
                changed.append(keyword.value_set(value))
    if changed:
        # The SDK's own signature leaves the parameter of SearchAttributeUpdate open.
        workflow.upsert_search_attributes(changed)  # pyright: ignore[reportUnknownMemberType]


def show_state(state: str) -> None:
    """Write the state, where it is another one."""
    show({"TemporalityState": state})


def tell(*sentences: str | None) -> None:
    """Say in the current details what there is to know now; None says nothing."""
    text = "\n\n".join(sentence for sentence in sentences if sentence)
    workflow.set_current_details(text[:DETAILS_CHARACTERS])


def quoted(text: str, characters: int = 300) -> str:
    """Text from outside as Markdown that is only text: one line, in a code span."""
    line = " ".join(text.split()).replace("`", "'")
    return f"`{line if len(line) <= characters else line[: characters - 1] + '…'}`"


def clock(at: datetime) -> str:
    """An instant for people, to the second."""
    return f"{at:%Y-%m-%d %H:%M:%S} UTC"
