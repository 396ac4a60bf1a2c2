"""Equal values of a list are found, whatever their kind, and quickly."""

from __future__ import annotations

import time

import pytest

from ghost_hooks.params import parse_json
from ghost_hooks.unique import has_doubles


@pytest.mark.parametrize(
    "text",
    [
        b"[1, 1]",
        b"[1, 1.0]",
        b"[100, 1e2]",
        b"[0, -0.0]",
        b"[null, null]",
        b'["a", "\\u0061"]',
        b'[{"a": 1, "b": [2]}, {"b": [2.0], "a": 1}]',
        b"[[], []]",
        b"[true, false, true]",
    ],
)
def test_equal_values_are_found(text: bytes) -> None:
    values = parse_json(text)
    assert isinstance(values, list)
    assert has_doubles(values)


def test_other_values_are_told_apart() -> None:
    values = parse_json(
        b'[1, "1", true, "true", null, 0, false, "", [], {}, [1], [[1]], {"a": 1}, {"a": [1]}, {"a": "1"},'
        b' -1, 10, 0.1, 1.1, 11, 100, ["a", "b"], ["b", "a"], [true], ["true"], [[], []], [{}]]'
    )
    assert isinstance(values, list)
    assert not has_doubles(values)


@pytest.mark.parametrize("step", [1, 2**61 - 1], ids=["objects", "equal hashes"])
def test_each_is_not_compared_with_each(step: int) -> None:
    began = time.monotonic()
    assert not has_doubles([{"a": number * step} for number in range(10_000)])
    assert not has_doubles([number * step for number in range(10_000)])
    assert time.monotonic() - began < 2
