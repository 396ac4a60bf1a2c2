"""Order of memories: by age where nothing was asked, by replacement where something was; pure functions.

Decay and demotion only reorder what relevance chose. In a search, decay is a tie-break: adjacent ranks differ
by less than two percent, and any wider span would put new above right.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final

from ghost_memory.dialect import Dialect

TIE_BREAK: Final = 0.02
NEAR_DUPLICATE: Final = 0.90

_NEVER: Final = frozenset({"preference", "convention", "fact"})
_SLOW: Final = frozenset({"pattern", "architecture"})
_FORMS: Final = {True: (45.0, 0.30), False: (30.0, 0.15)}

type Edge = tuple[str, str]


def decay(category: str, age_days: float, *, pinned: bool) -> float:
    """Return the factor of an age: 1 for what stays true, else down to a floor; future dates are new."""
    if pinned or category in _NEVER:
        return 1.0
    scale, floor = _FORMS[category in _SLOW]
    return max(floor, 1.0 / (1.0 + max(0.0, age_days) / scale))


def decay_sql(dialect: Dialect) -> str:
    """Return the same factor as SQL, over the age in days."""
    slow, fast, most = _FORMS[True], _FORMS[False], dialect.greatest
    age = f"{most}(0.0, {dialect.age})"
    names = ", ".join(f"'{name}'" for name in sorted(_SLOW))
    never = ", ".join(f"'{name}'" for name in sorted(_NEVER))
    return (
        f"CASE WHEN pinned OR category IN ({never}) THEN 1.0"
        f" WHEN category IN ({names}) THEN {most}({slow[1]}, 1.0 / (1.0 + {age} / {slow[0]}))"
        f" ELSE {most}({fast[1]}, 1.0 / (1.0 + {age} / {fast[0]})) END"
    )


def aged(score: float, factor: float, how: str) -> float:
    """Return a score of a search after decay: `off`, `tie-break` (within two percent) or `full`."""
    if how == "off":
        return score
    return score * (factor if how == "full" else 1.0 - TIE_BREAK * (1.0 - factor))


def demoted(order: Sequence[str], replaced: Iterable[Edge]) -> list[str]:
    """Sink what is replaced below its replacements, keeping the order otherwise.

    `replaced` are edges newer to older; one counts only if both ends are in the window.
    """
    present = set(order)
    penalty = dict.fromkeys(order, 0)
    for newer, older in replaced:
        if newer in present and older in present:
            penalty[older] += 1
    return sorted(order, key=lambda each: penalty[each])


def without_twins(
    order: Sequence[str], related: Iterable[Edge], pinned: Collection[str]
) -> list[str]:
    """Sink the lower of two near-duplicates; a pinned one stays and the other sinks."""
    place = {each: number for number, each in enumerate(order)}
    penalty = dict.fromkeys(order, 0)
    for one, two in related:
        if one not in place or two not in place:
            continue
        higher, lower = sorted((one, two), key=place.__getitem__)
        sinks = higher if lower in pinned and higher not in pinned else lower
        penalty[sinks] += 1
    return sorted(order, key=lambda each: penalty[each])


def convex(
    words: Mapping[str, float], vectors: Mapping[str, float], weight: float
) -> dict[str, float]:
    """Mix two legs: words as a share of the best, cosines between worst and best (weight: of the vectors).

    Without a leg the other one counts in full.
    """
    best = max(words.values(), default=0.0)
    text = {each: score / best for each, score in words.items()} if best > 0 else {}
    low, high = min(vectors.values(), default=0.0), max(vectors.values(), default=0.0)
    span = (high - low) or 1.0
    sense = {each: (score - low) / span if high > low else 1.0 for each, score in vectors.items()}
    if not text or not sense:
        return text or sense
    return {
        each: (1.0 - weight) * text.get(each, 0.0) + weight * sense.get(each, 0.0)
        for each in text.keys() | sense.keys()
    }


def reciprocal(legs: Sequence[tuple[Sequence[str], float]], k: int) -> dict[str, float]:
    """Mix ordered legs by reciprocal rank (RRF): the sum of weight / (k + rank), ranks from 1.

    A leg alone counts with weight 1.
    """
    full = [leg for leg in legs if leg[0]]
    scores: dict[str, float] = {}
    for order, weight in full:
        share = weight if len(full) > 1 else 1.0
        for number, each in enumerate(order, start=1):
            scores[each] = scores.get(each, 0.0) + share / (k + number)
    return scores
