"""When a long-lived workflow moves to a new history: early, because replay is paid by the event (DESIGN law 5)."""

from typing import Final

from temporalio import workflow

HISTORY_BYTES: Final = 500_000
"""From here on a workflow moves to a new history."""
HISTORY_BYTES_AT_MOST: Final = 750_000
"""Nothing is taken in that would make a history longer, as far as it is known: what other tasks have under way comes on top."""


def history_is_full(events: int) -> bool:
    """Whether the history has `events` events, or too many bytes."""
    info = workflow.info()
    return (
        info.get_current_history_length() >= events
        or info.get_current_history_size() >= HISTORY_BYTES
        or info.is_continue_as_new_suggested()
    )
