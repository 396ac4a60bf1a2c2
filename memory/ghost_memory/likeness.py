"""How alike two texts are in their words: whether a new memory is a likely twin of an old one."""

from __future__ import annotations

from typing import Final

JACCARD: Final = 0.5
OVERLAP: Final = 0.5
OVERLAP_TOKENS: Final = 5
OVERLAP_RATIO: Final = 0.6


def likeness(one: frozenset[str], two: frozenset[str]) -> float:
    """Return the share of common words, 0 where they are no likely twins.

    Jaccard from 0.5 on; else, of two texts of similar length with 5 words or more, the overlap coefficient
    from 0.5 on. Without words nothing is alike.
    """
    if not one or not two:
        return 0.0
    common = len(one & two)
    jaccard = common / len(one | two)
    if jaccard >= JACCARD:
        return jaccard
    small, large = sorted((len(one), len(two)))
    overlap = common / small
    comparable = small >= OVERLAP_TOKENS and small / large >= OVERLAP_RATIO
    return overlap if comparable and overlap >= OVERLAP else 0.0
