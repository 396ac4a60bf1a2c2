"""A clock that only moves when a test moves it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class HandClock:
    """Wall clock and boot clock in microseconds, and the name of the boot."""

    now: int = 1_780_000_000_000_000
    boottime: int = 1_000_000_000
    boot: str = "boot-1"

    def now_us(self) -> int:
        return self.now

    def boottime_us(self) -> int:
        return self.boottime

    def boot_id(self) -> str:
        return self.boot

    def pass_seconds(self, seconds: float) -> None:
        """Let both clocks go on, as they do."""
        self.now += int(seconds * 1_000_000)
        self.boottime += int(seconds * 1_000_000)
