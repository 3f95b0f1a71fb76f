"""Aider chat histories: Markdown with several chats in a file, each a run of its own.

A chat tells one time, that of its beginning, in local time. Records are Aider's own messages, so a longer copy of a
history holds the shorter; only a block that the shorter copy ended within stands there twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

from activities.importers.peek import peek
from activities.importers.readers.aider_blocks import Blocks
from activities.importers.readers.aider_chat import Chat
from domain.runs.transcript import Item, Limits, Refused

_BEGINNING = "# aider chat started at "


class Aider:
    """Reader of `.aider.chat.history.md` files."""

    format = "aider"
    version = "1"

    def sniff(self, head: bytes) -> bool:
        return peek(head).text.lstrip("\ufeff \t\r\n").startswith(_BEGINNING)

    def read(self, stream: BinaryIO, limits: Limits) -> Iterator[Item]:
        chat: Chat | None = None
        for block in Blocks(stream, limits):
            if isinstance(block, Refused):
                yield block
                continue
            if block.kind == "header" and chat is not None:
                yield from chat.close()
                chat = None
            if chat is None:
                chat = Chat()
            yield from chat.block(block)
        if chat is not None:
            yield from chat.close()
