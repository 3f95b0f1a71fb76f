"""The errors of Temporality: one class for each thing a caller can do about it.

A class's docstring is the sentence a user reads, and the one table below says whether asking again may help.
"""

import inspect
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final


class TemporalityError(Exception):
    """Temporality could not do what was asked."""

    def __init__(self, detail: str = "") -> None:
        """Keep `detail`: the part of the sentence that only this occurrence knows (which event, which limit)."""
        super().__init__(detail)
        self.detail = detail

    def __str__(self) -> str:
        sentence = inspect.cleandoc(type(self).__doc__ or "").replace("\n", " ")
        return f"{sentence.removesuffix('.')}: {self.detail}" if self.detail else sentence


class MalformedId(TemporalityError):
    """An id cannot be used."""


class MalformedMessage(TemporalityError):
    """The message is not what this handler takes."""


class EventConflict(TemporalityError):
    """An event of this id is recorded already with other content."""


class RunClosed(TemporalityError):
    """The run is closed and takes no more events."""


class RollingOver(TemporalityError):
    """The run is moving to a new history; send the same batch again in a moment."""


class PayloadTooLarge(TemporalityError):
    """The payload is over the limit."""


class NotPermitted(TemporalityError):
    """This actor may not do this."""


class NotFound(TemporalityError):
    """Nothing of this id is known here."""


class StaleFold(TemporalityError):
    """The journal is folded by a newer version than this worker knows; upgrade the worker."""


class JournalUnavailable(TemporalityError):
    """The database did not answer; nothing was recorded."""


class UnusableSetting(TemporalityError):
    """A setting cannot be used."""


class NoAnswer(TemporalityError):
    """No answer came in time, and what was sent may still take effect: send the same again to learn what became of it."""


class ArtifactMissing(TemporalityError):
    """A body that events name is missing or damaged in the artifact store."""


class ArtifactsUnavailable(TemporalityError):
    """The artifact store did not answer; nothing was recorded."""


class NotATranscript(TemporalityError):
    """The file is not a transcript this version reads."""


class UnreadableTranscript(TemporalityError):
    """The transcript cannot be read."""


class ExtractionRefused(TemporalityError):
    """The extraction cannot run."""


class SandboxUnavailable(TemporalityError):
    """Commands cannot be run on this machine."""


class SandboxDidNotStart(TemporalityError):
    """The sandbox did not start and the command was not run."""


class CommandRefused(TemporalityError):
    """The command cannot be run."""


class PathRefused(TemporalityError):
    """The path cannot be used."""


RETRYABLE: Final[Mapping[type[TemporalityError], bool]] = MappingProxyType(
    {
        TemporalityError: False,
        MalformedId: False,
        MalformedMessage: False,
        EventConflict: False,
        RunClosed: False,
        RollingOver: True,
        PayloadTooLarge: False,
        NotPermitted: False,
        NotFound: False,
        StaleFold: True,
        JournalUnavailable: True,
        UnusableSetting: False,
        NoAnswer: True,
        ArtifactMissing: True,
        ArtifactsUnavailable: True,
        NotATranscript: False,
        UnreadableTranscript: False,
        ExtractionRefused: False,
        SandboxUnavailable: False,
        SandboxDidNotStart: True,
        CommandRefused: False,
        PathRefused: False,
    }
)
"""Every error class, and whether the same request may succeed later without anybody changing it."""


def retryable(kind: type[TemporalityError]) -> bool:
    """Whether Temporal may try again after `kind`; a class that is not listed answers as its nearest listed parent."""
    return next(RETRYABLE[parent] for parent in kind.__mro__ if parent in RETRYABLE)


NON_RETRYABLE_NAMES: Final[tuple[str, ...]] = tuple(
    sorted(kind.__name__ for kind, again in RETRYABLE.items() if not again)
)
"""Class names for a retry policy: Temporal compares names and knows no inheritance."""
