from __future__ import annotations

import pytest

from ghost_memory.bench.fixed import FixedVectors

VECTORS = FixedVectors.of(
    0.5,
    {"a": [2.0, 0.0], "b": [1.0, 1.0], "c": [0.0, 3.0]},
    {"east": [5.0, 0.0]},
    projects={"a": "one", "b": "two", "c": "one"},
)


def test_the_nearest_come_first_whatever_their_length() -> None:
    found = VECTORS.near("east", projects=None, limit=2)
    assert list(found) == ["a", "b"]
    assert found["a"] == pytest.approx(1.0)
    assert found["b"] == pytest.approx(0.5**0.5)


def test_only_the_projects_asked_for_are_near() -> None:
    assert list(VECTORS.near("east", projects={"one"}, limit=9)) == ["a", "c"]


def test_a_text_without_a_vector_is_near_to_nothing() -> None:
    assert VECTORS.near("west", projects=None, limit=9) == {}
