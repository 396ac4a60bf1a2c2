"""Search: words and vectors mixed, then what is known of each hit: replaced, resolved, expired, global.

Order is relevance first. A status halves a score, a replacement is put above what it replaces, age only
breaks ties. What a reader must know of a hit is a label on it, never a silent demotion.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Final

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from ghost_core.settings_models import SearchSettings
from ghost_memory import candidates, lineage, ranking, verdict
from ghost_memory.ages import days_between
from ghost_memory.asking import Found, Hit, Query, Vectors, Verdict
from ghost_memory.candidates import Ask, Legs, Row, Scores, order
from ghost_memory.limits import CATEGORIES, CONTENT_BYTES, cut, plain, require_one_of
from ghost_memory.memories import COLUMNS, of_row

__all__ = ["search"]

STATUS: Final = 0.5
RESERVED: Final = 5  # one slot in five is safe from the other leg, and one from the status
CUT_OFF: Final = {
    "convex": 0.1,
    "rrf": 0.63,
}  # of the best score; reciprocal ranks lie closer together

_SHOWN: Final = sa.text(f"SELECT {COLUMNS} FROM memories WHERE id IN :ids").bindparams(
    sa.bindparam("ids", expanding=True, type_=sa.Text())
)
_NAMES: Final = sa.text("SELECT id, name FROM projects WHERE id IN :ids").bindparams(
    sa.bindparam("ids", expanding=True, type_=sa.Text())
)

type Lines = Mapping[str, tuple[str, ...]]
type Known = Mapping[str, Row]


@dataclass(frozen=True, slots=True)
class _Ranked:
    """Everything that may be shown, most relevant first, and what was left out on purpose."""

    order: tuple[str, ...]
    scores: Scores
    withheld: int


def search(
    connection: Connection,
    query: Query,
    *,
    vectors: Vectors | None,
    settings: SearchSettings,
    now: str,
) -> Found:
    """Find the memories that answer a text, a page of them, and say how good the answer is.

    A project's search covers the global project too. Without vectors, or where they cannot be asked, words
    alone decide. Raises UsageError for an unknown category.
    """
    if query.category:
        require_one_of("category", query.category, CATEGORIES)
    query = replace(
        query, text=cut(plain(query.text), CONTENT_BYTES).text
    )  # longer than any memory
    ask = Ask(query, settings, now)
    legs = candidates.gather(connection, ask, vectors)
    lines = lineage.newer(connection, legs.text.keys() | legs.sense.keys())
    wanted = {*legs.text, *legs.sense, *chain.from_iterable(lines.values())}
    known = candidates.rows(connection, ask, wanted)
    mixed = candidates.mixed(connection, ask, legs, known)
    ranked = _ranked(ask, _lifted(ask, mixed, lines, known), legs, known)
    page = _page(ask, ranked, lines, known)
    said, reason = _judged(connection, query.text, ranked, legs)
    hits = tuple(_hits(connection, page, ranked.scores, legs, lines))
    return Found(hits, said, reason, len(ranked.order), ranked.withheld, legs.degraded)


def _judged(connection: Connection, text: str, ranked: _Ranked, legs: Legs) -> tuple[Verdict, str]:
    first = ranked.order[: verdict.LOOKED_AT]
    best = tuple(candidates.contents(connection, first).values())
    by_words = not legs.text.keys().isdisjoint(first)
    return verdict.judge(text, best, withheld=ranked.withheld, by_words=by_words)


def _lifted(ask: Ask, mixed: Scores, lines: Lines, known: Known) -> Scores:
    """Give what replaces a hit at least its score: who asks for the old must see the new."""
    scores = dict(mixed)
    for old, news in lines.items():
        live = [each for each in news if each in known and ask.holds(known[each])]
        if live and old in mixed:
            scores[live[-1]] = max(scores.get(live[-1], 0.0), mixed[old])
    return scores


def _ranked(ask: Ask, mixed: Scores, legs: Legs, known: Known) -> _Ranked:
    """Order by relevance and status, give the safe ones their slots, cut off what is too weak."""
    valid = {each: score for each, score in mixed.items() if ask.holds(known[each])}
    halved = {each for each in valid if ask.is_secondary(known[each])}
    scores = {each: s * (STATUS if each in halved else 1.0) for each, s in valid.items()}
    slots = max(1, ask.limit // RESERVED)
    lone = [each for each in legs.text if each in valid and each not in legs.sense]
    reserved = lone[:slots] if legs.sense else []
    rescued = [each for each in order(valid)[:slots] if each in halved]
    safe = {*reserved, *rescued}
    placed = _with_slots(order(scores), safe, ask.limit)
    floor = CUT_OFF[ask.settings.fusion] * max(scores.values(), default=0.0)
    kept = (e for e in placed if scores[e] >= floor or known[e].pinned or e in safe)
    return _Ranked(tuple(kept), scores, len(mixed) - len(valid))


def _with_slots(ranked: Sequence[str], safe: Collection[str], limit: int) -> list[str]:
    """Move the safe ones into the first `limit`, in place of the weakest there that are not."""
    window = ranked[:limit]
    late = [each for each in ranked[limit:] if each in safe]
    others = [each for each in window if each not in safe]
    given = min(len(late), len(others))
    out, entered = set(others[len(others) - given :]), late[:given]
    kept = [each for each in window if each not in out]
    first = {*kept, *entered}
    return [*kept, *entered, *(each for each in ranked if each not in first)]


def _page(ask: Ask, ranked: _Ranked, lines: Lines, known: Known) -> list[str]:
    """Return the page in the order in which it is shown: age breaks ties, the replaced sink."""
    start = max(0, ask.query.offset)
    aged = {
        each: ranking.aged(ranked.scores[each], _decay(ask, known[each]), ask.settings.decay)
        for each in ranked.order[start : start + ask.limit]
    }
    return ranking.demoted(order(aged), lineage.edges(lines))


def _decay(ask: Ask, row: Row) -> float:
    age = days_between(row.created_at, ask.now)
    return ranking.decay(row.category, age, pinned=bool(row.pinned))


def _hits(
    connection: Connection, page: Sequence[str], scores: Scores, legs: Legs, lines: Lines
) -> list[Hit]:
    """Read the page, and say of each hit where it is from and what its reader must know."""
    found = map(of_row, connection.execute(_SHOWN, {"ids": list(page)}).mappings())
    by_id = {memory.id: memory for memory in found}
    ids = sorted({memory.project_id for memory in by_id.values()})
    names = {str(row[0]): str(row[1]) for row in connection.execute(_NAMES, {"ids": ids})}
    both = (("words", legs.text), ("vector", legs.sense))
    hits = []
    for each in page:
        memory, newest = by_id[each], lineage.newest(lines, each)
        label = "replaced" if newest else "resolved" if memory.resolved_at else ""
        said = {name: leg[each] for name, leg in both if each in leg}
        hits.append(Hit(memory, names[memory.project_id], scores[each], newest, label, said))
    return hits
