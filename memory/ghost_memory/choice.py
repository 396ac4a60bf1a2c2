"""Which rows get the few slots of a block: the pinned, then what changes behaviour, then the rest by rank."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from ghost_memory import ranking
from ghost_memory.reader import Reader
from ghost_memory.values import Memory

__all__ = ["BEHAVIOUR", "CAPS", "FLOOR", "chosen", "distinct"]

BEHAVIOUR: Final = frozenset({"gotcha", "convention", "preference", "decision"})
FLOOR: Final = 8
CAPS: Final[Mapping[str, int]] = {"gotcha": 4}


def distinct(reader: Reader, found: Sequence[Memory], *, limit: int) -> list[Memory]:
    """Sink near-duplicates below everything else, if there are more rows than room."""
    if len(found) <= limit:
        return list(found)
    by_id = {each.id: each for each in found}
    pinned = {each.id for each in found if each.pinned}
    twins = reader.twins(found, at_least=ranking.NEAR_DUPLICATE)
    return [by_id[each] for each in ranking.without_twins(list(by_id), twins, pinned)]


def chosen(ranked: Sequence[Memory], *, limit: int) -> list[Memory]:
    """Return at most `limit` rows in the order of their rank.

    Pinned ones are in. Of the other slots up to `FLOOR` go to rows that tell how to work, of one category no
    more than its cap; what remains goes by rank alone.
    """
    taken = [each for each in ranked if each.pinned][:limit]
    kept = {each.id for each in taken}
    counts: dict[str, int] = {}
    for each in ranked:
        if len(kept) >= limit or sum(counts.values()) >= FLOOR:
            break
        if each.category in BEHAVIOUR and each.id not in kept:
            counts[each.category] = counts.get(each.category, 0) + 1
            if counts[each.category] > CAPS.get(each.category, limit):
                counts[each.category] -= 1
                continue
            kept.add(each.id)
    rest = (each.id for each in ranked if each.id not in kept)
    kept.update(next(rest, "") for _ in range(limit - len(kept)))
    return [each for each in ranked if each.id in kept]
