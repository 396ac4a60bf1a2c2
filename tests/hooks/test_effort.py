"""Steps are counted, and a text has as many as its values make."""

from __future__ import annotations

import pytest

from ghost_hooks import effort
from ghost_hooks.effort import STEPS, STEPS_FOR_EACH, TooMuchError, allowed_for, counted
from ghost_hooks.params import Json


def step() -> str:
    return "done"


def steps_for(values: Json) -> int:
    """Return how many steps the values may take."""
    check, found = counted(step), 0
    with allowed_for(values), pytest.raises(TooMuchError):
        while check():
            found += 1
    return found


@pytest.mark.parametrize(
    ("values", "count"),
    [(1, 1), ([1, [2]], 4), ({"a": {"b": [None]}}, 4)],
    ids=["one", "list", "tree"],
)
def test_each_value_allows_further_steps(values: Json, count: int) -> None:
    assert steps_for(values) == STEPS + count * STEPS_FOR_EACH


def test_there_is_an_end_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(effort, "MOST_STEPS", 7)
    assert steps_for([1, 2]) == 7


def test_outside_nothing_is_counted() -> None:
    check = counted(step)
    with allowed_for(1):
        pass
    assert {check() for _ in range(2 * STEPS)} == {"done"}
