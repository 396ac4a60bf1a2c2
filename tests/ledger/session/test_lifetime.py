from __future__ import annotations

from dataclasses import dataclass

from ghost_ledger.session.lifetime import ender, expired, remaining_us
from support.handclock import HandClock


@dataclass(frozen=True, slots=True)
class Row:
    boot: str
    deadline: int


def test_a_session_lives_up_to_its_deadline_and_not_at_it(clock: HandClock) -> None:
    row = Row(clock.boot, clock.boottime + 10)
    assert remaining_us(row, clock) == 10
    clock.boottime += 10
    assert expired(row, clock)


def test_setting_the_wall_clock_neither_ends_nor_prolongs_a_session(clock: HandClock) -> None:
    row = Row(clock.boot, clock.boottime + 10)
    clock.now += 10**15
    assert remaining_us(row, clock) == 10
    clock.boottime += 10
    clock.now = 0
    assert expired(row, clock)


def test_after_a_reboot_every_session_has_ended(clock: HandClock) -> None:
    row = Row("another boot", clock.boottime + 10**12)
    assert expired(row, clock)
    assert remaining_us(row, clock) == 0


def test_what_is_asked_at_every_call_ends_with_the_session(clock: HandClock) -> None:
    ends = ender(Row(clock.boot, clock.boottime + 10), clock)
    assert not ends()
    clock.boottime += 10
    assert ends()
    assert ender(Row("another boot", clock.boottime + 10**12), clock)()
