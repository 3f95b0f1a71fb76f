"""The data converter with which histories are replayed: it must be the one they were recorded with."""

from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.converter import DataConverter


def converter() -> DataConverter:
    """The project's data converter: the one place the replay gate takes it from."""
    return pydantic_data_converter
