"""How old a row is, from the time text that rows hold."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

_DAY: Final = 86_400.0
_ANCIENT: Final = 1e6


def days_between(then: str, now: str) -> float:
    """Return the days from one time to the other, never negative; what is no time is ancient."""
    try:
        passed = _moment(now) - _moment(then)
    except ValueError:
        return _ANCIENT
    return max(0.0, passed.total_seconds() / _DAY)


def _moment(text: str) -> datetime:
    found = datetime.fromisoformat(text)
    return found if found.tzinfo else found.replace(tzinfo=UTC)
