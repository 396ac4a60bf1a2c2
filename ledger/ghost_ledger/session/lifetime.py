"""How long a session lives (contract §3): this boot, and its deadline on the boot clock.

The wall clock is only shown, never asked: setting it neither prolongs nor ends a session.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from ghost_core.clock import Clock


class Lived(Protocol):
    """What a lifetime is judged by: the boot's name and CLOCK_BOOTTIME microseconds."""

    @property
    def boot(self) -> str:
        """The boot in which the session was spawned."""
        ...

    @property
    def deadline(self) -> int:
        """Microseconds since that boot, suspend included, at which it ends."""
        ...


def remaining_us(row: Lived, clock: Clock) -> int:
    """Return the microseconds that are left, 0 once it has ended or the machine was rebooted."""
    if row.boot != clock.boot_id():
        return 0
    return max(0, row.deadline - clock.boottime_us())


def ender(row: Lived, clock: Clock) -> Callable[[], bool]:
    """Return what tells, at every call of an agent, whether the session's time is over."""
    deadline = row.deadline if row.boot == clock.boot_id() else 0
    return lambda: clock.boottime_us() >= deadline  # no process outlives its boot


def expired(row: Lived, clock: Clock) -> bool:
    """Tell whether the session's time is over."""
    return remaining_us(row, clock) == 0
