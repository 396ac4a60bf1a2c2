from __future__ import annotations

from pathlib import Path

import pytest

from ghost_core import clock
from ghost_core.clock import SystemClock, rfc3339


@pytest.mark.parametrize(
    ("instant", "text"),
    [
        (0, "1970-01-01T00:00:00Z"),
        (999_999, "1970-01-01T00:00:00Z"),
        (1_781_278_320_000_000, "2026-06-12T15:32:00Z"),
    ],
)
def test_an_instant_is_shown_in_whole_seconds_of_utc(instant: int, text: str) -> None:
    assert rfc3339(instant) == text


def test_the_machines_clocks_do_not_run_backwards() -> None:
    ours = SystemClock()
    first = (ours.boottime_us(), ours.now_us())
    assert ours.boottime_us() >= first[0]
    assert first[1] > 1_700_000_000_000_000


def test_the_boot_id_stays_while_the_machine_runs() -> None:
    assert SystemClock().boot_id() == SystemClock().boot_id()


def test_without_the_kernels_boot_id_there_is_a_constant(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clock, "Path", lambda _: tmp_path / "absent")
    assert clock._boot_id.__wrapped__() == "unknown"
