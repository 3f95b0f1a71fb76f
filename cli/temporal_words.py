"""Search attributes of a start in Temporal's types."""

from datetime import datetime

from temporalio.common import SearchAttributeKey, SearchAttributePair, TypedSearchAttributes

from domain.contracts.starting import Attributes


def typed(attributes: Attributes) -> TypedSearchAttributes:
    """`attributes` as a client sends them."""
    return TypedSearchAttributes(
        [
            SearchAttributePair(SearchAttributeKey.for_datetime(name), value)
            if isinstance(value, datetime)
            else SearchAttributePair(SearchAttributeKey.for_keyword(name), value)
            for name, value in attributes.items()
        ]
    )
