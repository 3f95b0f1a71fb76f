"""Times as transcripts write them: an instant in UTC and how it is known, or the name of what was wrong with it.

A record is never lost for its time: what cannot be read takes its neighbour's, `order_only`, and keeps its text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime

from domain.journal.event import TimeBasis

FIRST_YEAR, LAST_YEAR = 1970, 2100
_DATE_ONLY = re.compile(r"\s*\d{4}-?(\d{2}-?\d{2}|W\d{2}(-?\d)?|\d{3})\s*\Z")
_NUMBER = re.compile(r"\s*\d{9,19}(\.\d+)?\s*\Z")


@dataclass(frozen=True, slots=True)
class Told:
    """A time as told: `at` is None where it could not be used; `anomaly` names what was odd."""

    at: datetime | None
    basis: TimeBasis = "source"
    anomaly: str | None = None


def told(raw: str | float | None) -> Told:
    """Reads ISO 8601 with or without zone, or seconds (milliseconds, microseconds) since 1970.

    Nothing to read is no anomaly.
    """
    if raw is None:
        return Told(None)
    if isinstance(raw, str):
        if _NUMBER.match(raw):
            return _since_epoch(float(raw))
        if _DATE_ONLY.match(raw):
            return Told(None, anomaly="date_without_time")
        try:
            at = datetime.fromisoformat(raw.strip())
        except ValueError:
            return Told(None, anomaly="unparsable_time")
        if at.tzinfo is None:
            return _bounded(at.replace(tzinfo=UTC), "assumed_utc")
        return _bounded(at, "source")
    return _since_epoch(raw)


def _since_epoch(value: float) -> Told:
    if not -1e20 < value < 1e20:
        return Told(None, anomaly="absurd_time")
    for scale in (1.0, 1e3, 1e6, 1e9):
        seconds = value / scale
        # a small number counts steps or seconds since a start nobody knows
        if 100_000_000 < seconds < 4_102_444_800:
            return _bounded(datetime.fromtimestamp(seconds, UTC), "source")
    return Told(None, anomaly="absurd_time")


def _bounded(at: datetime, basis: TimeBasis) -> Told:
    try:
        utc = at.astimezone(UTC)
    except OverflowError:
        return Told(None, anomaly="absurd_time")
    if not FIRST_YEAR <= utc.year < LAST_YEAR:
        return Told(None, anomaly="absurd_time")
    return Told(utc, basis, "time_without_zone" if basis == "assumed_utc" else None)
