"""The figures of retrieval: recall, reciprocal rank, graded gain, and how sure they are.

Gain is linear and the ideal is the gains in falling order; a query that nothing answers has no figures.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

__all__ = ["DEPTH", "Figures", "Interval", "interval", "mean", "of"]

DEPTH: Final = 10
SAMPLES: Final = 2000
SEED: Final = 20260827


@dataclass(frozen=True, slots=True)
class Figures:
    """What one ranked list is worth, or the mean over many."""

    recall_at_1: float
    recall_at_5: float
    recall_at_10: float
    mrr_at_10: float
    ndcg_at_10: float

    def rounded(self) -> dict[str, float]:
        """Return them by name with four digits."""
        return {name: round(getattr(self, name), 4) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean and the bounds of 95 % of its bootstrap samples."""

    mean: float
    low: float
    high: float


def of(order: Sequence[str], gains: Mapping[str, float]) -> Figures:
    """Return the figures of one list; `gains` must hold at least one positive gain."""
    right = {key for key, gain in gains.items() if gain > 0}
    places = [number for number, key in enumerate(order[:DEPTH], start=1) if key in right]
    ideal = sorted((gain for gain in gains.values() if gain > 0), reverse=True)[:DEPTH]
    best = sum(gain / math.log2(place + 1) for place, gain in enumerate(ideal, start=1))
    got = sum(gains[order[place - 1]] / math.log2(place + 1) for place in places)
    one, five, ten = (sum(place <= depth for place in places) / len(right) for depth in (1, 5, 10))
    return Figures(one, five, ten, 1.0 / places[0] if places else 0.0, got / best)


def mean(figures: Sequence[Figures]) -> Figures:
    """Return the mean of each figure; zeros for none."""
    count = max(1, len(figures))
    return Figures(
        *(sum(getattr(each, name) for each in figures) / count for name in Figures.__slots__)
    )


def interval(values: Sequence[float]) -> Interval:
    """Return the mean with its 95 % interval from samples with a fixed seed; pass differences to pair."""
    if not values:
        return Interval(0.0, 0.0, 0.0)
    data = np.asarray(values, dtype=np.float64)
    chosen = np.random.default_rng(SEED).integers(0, len(data), size=(SAMPLES, len(data)))
    low, high = np.quantile(data[chosen].mean(axis=1), (0.025, 0.975))
    return Interval(float(data.mean()), float(low), float(high))
