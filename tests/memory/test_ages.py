from __future__ import annotations

import pytest

from ghost_memory.ages import days_between

NOW = "2026-09-11T12:00:00.000000Z"


@pytest.mark.parametrize(
    ("then", "days"),
    [
        ("2026-09-01T12:00:00.000000Z", 10.0),
        ("2026-09-11T00:00:00.000000Z", 0.5),
        ("2026-09-01 12:00:00", 10.0),
        ("2027-01-01T00:00:00.000000Z", 0.0),
    ],
)
def test_an_age_is_in_days_and_never_negative(then: str, days: float) -> None:
    assert days_between(then, NOW) == days


@pytest.mark.parametrize("then", ["", "yesterday", "2026-13-01"])
def test_what_is_no_time_is_ancient(then: str) -> None:
    assert days_between(then, NOW) > 100_000
