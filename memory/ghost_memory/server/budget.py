"""How much of a host's 25,000 tokens a text may cost, and texts cut so that together they keep that."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from ghost_memory.quotation import MORE

__all__ = ["ANSWER_COST", "LEAST", "clip", "cost", "share"]

ANSWER_COST: Final = 10_000
"""What each form of an answer, text and structured, may cost; together below a host's 25,000 tokens."""

LEAST: Final = 200

_CHEAP: Final = re.compile(r"[A-Za-z ]")


def cost(text: str) -> int:
    """Return a bound for the tokens of a text: half of its letters and spaces, every other byte in full."""
    cheap = len(_CHEAP.findall(text))
    return len(text.encode("utf-8", "replace")) - cheap + (cheap + 1) // 2


def clip(text: str, limit: int) -> str:
    """Return the longest beginning of a text that costs at most `limit`, with an ellipsis if it was cut."""
    if cost(text) <= limit:
        return text
    low, high = 0, min(len(text), 2 * limit)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if cost(text[:middle]) < limit else (low, middle - 1)
    return text[:low].rstrip() + MORE


def share(costs: Sequence[int], budget: int) -> int:
    """Return the most that each may cost so that all together keep the budget: the small ones stay whole."""
    left, level = budget, 0
    for number, each in enumerate(sorted(costs)):
        level = left // (len(costs) - number)
        if each > level:
            return level
        left -= each
    return max(level, *costs) if costs else budget
