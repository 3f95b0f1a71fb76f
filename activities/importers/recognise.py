"""Which format a file is in, told by its content alone, or why it is no transcript this version reads.

The readers exclude each other; formats of other kinds are named, so that a file that is skipped says what it seems to
be.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from activities.importers.peek import HEAD_BYTES, Peek, peek
from activities.importers.readers.aider import Aider
from activities.importers.readers.claude_code import ClaudeCode
from activities.importers.readers.codex import Codex
from activities.importers.readers.mini_swe_agent import MiniSweAgent
from activities.importers.readers.openai_chat import OpenAiChat
from activities.importers.readers.openhands import OpenHandsV0
from activities.importers.readers.otlp import OtlpTraces
from activities.importers.readers.pi import Pi
from activities.importers.readers.swe_agent import SweAgent
from activities.importers.readers.tau_bench import TauBench
from activities.importers.readers.who_and_when import WhoAndWhen
from activities.importers.sidecar import is_sidecar
from domain.runs.transcript import TranscriptReader

READERS: tuple[TranscriptReader, ...] = (
    ClaudeCode(),
    SweAgent(),
    TauBench(),
    OpenHandsV0(),
    OpenAiChat(),
    Aider(),
    Codex(),
    MiniSweAgent(),
    OtlpTraces(),
    Pi(),
    WhoAndWhen(),
)

SIDECAR = "it is a sidecar with outcomes, no transcript: it is read with the Aider history beside it that has its name"


@dataclass(frozen=True, slots=True)
class NotATranscript:
    """No reader takes the file: `skipped` when it is something else, `refused` when it is damaged.

    `reason` is one sentence.
    """

    reason: str
    verdict: Literal["skipped", "refused"] = "skipped"


def recognise(head: bytes) -> TranscriptReader | NotATranscript:
    """The reader of a file that begins with `head` (its first 64 KB; of a shorter file all of it)."""
    if not head:
        return NotATranscript("the file is empty (0 bytes)", "refused")
    seen = peek(head)
    if seen.binary:
        return NotATranscript("the file is binary, not text", "refused")
    if is_sidecar(head):
        return NotATranscript(SIDECAR)
    foreign = _foreign(seen)
    if foreign is None:
        for reader in READERS:
            if reader.sniff(head):
                return reader
    return NotATranscript(*_why(seen, foreign, ended=len(head) < HEAD_BYTES))


def _why(seen: Peek, foreign: str | None, *, ended: bool) -> tuple[str, Literal["skipped", "refused"]]:
    if foreign is not None:
        return f"it looks like {foreign}, not a format this version reads", "skipped"
    begin = seen.text.lstrip("﻿ \t\r\n")[:1]
    if not begin:
        return "the file holds only white space", "refused"
    if begin not in ("{", "[") and not seen.records:
        return "it is plain text, not a transcript of a format this version reads", "skipped"
    if seen.deep:
        return "it is nested too deep to be read", "refused"
    if (seen.document is None and not seen.records) or (seen.cut and ended):
        return "it begins like JSON but is truncated or damaged; copy the file again", "refused"
    return "it is JSON, but not a transcript of a format this version reads", "skipped"


def _foreign(seen: Peek) -> str | None:
    """The name of another kind of transcript, as far as the first bytes show it."""
    shape = seen.document
    if not isinstance(shape, Mapping):
        return None
    if isinstance(shape.get("kind"), str) and "source" in shape and "timestamp" in shape:
        return "an OpenHands V1 event"
    return None
