from __future__ import annotations

import math

import pytest

from ghost_memory.bench import metrics
from ghost_memory.bench.metrics import Figures


def test_a_perfect_list_has_all_figures() -> None:
    assert metrics.of(["a", "b"], {"a": 3.0}) == Figures(1.0, 1.0, 1.0, 1.0, 1.0)


def test_gain_is_discounted_by_place_and_compared_with_the_ideal() -> None:
    found = metrics.of(["x", "b", "y", "a"], {"a": 3.0, "b": 1.0})
    ideal = 3.0 + 1.0 / math.log2(3)
    got = 1.0 / math.log2(3) + 3.0 / math.log2(5)
    assert found == Figures(0.0, 1.0, 1.0, 0.5, got / ideal)


def test_what_stands_below_the_tenth_place_counts_for_nothing() -> None:
    order = [str(number) for number in range(10)] + ["a"]
    assert metrics.of(order, {"a": 1.0}) == Figures(0.0, 0.0, 0.0, 0.0, 0.0)


def test_a_mean_is_taken_figure_by_figure() -> None:
    one, two = Figures(1.0, 1.0, 1.0, 1.0, 1.0), Figures(0.0, 0.0, 1.0, 0.5, 0.25)
    assert metrics.mean([one, two]) == Figures(0.5, 0.5, 1.0, 0.75, 0.625)


def test_an_interval_holds_the_mean_and_narrows_with_more_data() -> None:
    few, many = metrics.interval([0.0, 1.0] * 5), metrics.interval([0.0, 1.0] * 500)
    assert few.low < few.mean < few.high
    assert many.mean == pytest.approx(0.5)
    assert many.high - many.low < few.high - few.low
    assert metrics.interval([0.0, 1.0] * 5) == few


def test_without_data_there_is_no_interval() -> None:
    assert metrics.interval([]).high == 0.0
