"""Time comes in from outside: wall clock for stamps, boot clock for lifetimes."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from functools import cache, lru_cache
from pathlib import Path
from typing import Protocol

_BOOT_CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


class Clock(Protocol):
    """What the product asks of time; tests hand in their own."""

    def now_us(self) -> int:
        """Microseconds since the epoch, UTC."""
        ...

    def boottime_us(self) -> int:
        """Microseconds since boot, suspend included."""
        ...

    def boot_id(self) -> str:
        """A name of this boot: another value means that boot clocks do not compare."""
        ...


class SystemClock:
    """The machine's clocks."""

    def now_us(self) -> int:
        """Microseconds since the epoch, UTC."""
        return time.time_ns() // 1000

    def boottime_us(self) -> int:
        """Microseconds since boot; where CLOCK_BOOTTIME is missing, the monotonic clock."""
        return time.clock_gettime_ns(_BOOT_CLOCK) // 1000

    def boot_id(self) -> str:
        """The kernel's random boot id; elsewhere a constant, so that only deadlines count."""
        return _boot_id()


@cache
def _boot_id() -> str:
    """Read it once: no process outlives its boot, and every call of an agent asks."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
    except OSError:
        return "unknown"


def rfc3339(microseconds: int) -> str:
    """Format an instant as RFC 3339 UTC with `Z`, whole seconds, as the outputs show it."""
    return datetime.fromtimestamp(microseconds // 1_000_000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@lru_cache(maxsize=64)  # the entries of a batch share their time
def time_text(microseconds: int) -> str:
    """Return an instant as rows hold it: RFC 3339 with six digits, so text order is time order."""
    return f"{_second_text(microseconds // 1_000_000)}.{microseconds % 1_000_000:06d}Z"


@lru_cache(maxsize=64)
def _second_text(seconds: int) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}"
