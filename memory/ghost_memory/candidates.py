"""The candidates of a search: what each leg found, mixed, with the little that ranking must know of each.

Words count in full once the best of them has half of what was asked; below that the vectors take over. In the
convex mix importance tells apart what is about as near.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from ghost_core.errors import GhostError
from ghost_core.settings_models import SearchSettings
from ghost_memory import fulltext, ranking, verdict, words
from ghost_memory.asking import Query, Vectors
from ghost_memory.limits import limit_of, plain
from ghost_memory.values import GLOBAL

__all__ = ["Ask", "Legs", "Row", "Scores", "contents", "gather", "mixed", "order", "rows"]

DEPTH: Final = 100
FILTERED_DEPTH: Final = 1000  # the vector leg knows no categories: ask it for more, then filter
IMPORTANCE: Final = 0.05

type Scores = Mapping[str, float]


class Row(NamedTuple):
    """What decides about the place of a memory; its text is read for what is shown alone."""

    id: str
    project_id: str
    category: str
    importance: float
    pinned: bool
    created_at: str
    resolved_at: str | None
    valid_until: str | None


_ROWS: Final = sa.text(
    f"SELECT {', '.join(Row._fields)} FROM memories WHERE id IN :ids"
).bindparams(sa.bindparam("ids", expanding=True, type_=sa.Text()))
_CONTENTS: Final = sa.text("SELECT id, content FROM memories WHERE id IN :ids").bindparams(
    sa.bindparam("ids", expanding=True, type_=sa.Text())
)


@dataclass(frozen=True, slots=True)
class Ask:
    """What is asked, and under which rules."""

    query: Query
    settings: SearchSettings
    now: str

    @property
    def limit(self) -> int:
        """How many hits a page has."""
        return limit_of(self.query.limit, 10)

    @property
    def projects(self) -> set[str] | None:
        """Where to look; None is everywhere."""
        return None if self.query.project is None else {self.query.project, GLOBAL}

    def may_see(self, row: Row) -> bool:
        """Tell whether a row lies where is searched."""
        here = self.projects is None or row.project_id in self.projects
        return here and self.query.category in {"", row.category}

    def holds(self, row: Row) -> bool:
        """Tell whether a row is still valid."""
        return row.valid_until is None or row.valid_until > self.now

    def is_secondary(self, row: Row) -> bool:
        """Tell whether others come first: concluded evidence, and in a project what all share."""
        shared = row.project_id == GLOBAL and self.query.project not in {None, GLOBAL}
        return shared or row.resolved_at is not None


@dataclass(frozen=True, slots=True)
class Legs:
    """What each leg found, and why the vector leg found nothing."""

    text: Scores
    sense: Scores
    weight: float
    degraded: str = ""


def gather(connection: Connection, ask: Ask, vectors: Vectors | None) -> Legs:
    """Ask both legs; a vector leg that cannot be asked is a reason, not an error."""
    text, category = plain(ask.query.text), ask.query.category
    asked = words.query(text)
    found = fulltext.scores(
        connection, asked, projects=ask.projects, category=category, limit=DEPTH
    )
    weight = _weight(ask.settings, vectors)
    if vectors is None or not asked:  # what has no words is near to everything
        return Legs(found, {}, weight)
    try:
        depth = FILTERED_DEPTH if category else DEPTH
        near = vectors.near(text, projects=ask.projects, limit=depth)
    except GhostError as error:
        return Legs(found, {}, weight, error.message)
    return Legs(found, near, weight)


def rows(connection: Connection, ask: Ask, ids: Collection[str]) -> dict[str, Row]:
    """Return the rows of these ids that the query may see."""
    found = map(Row._make, connection.execute(_ROWS, {"ids": sorted(ids)}))
    return {row.id: row for row in found if ask.may_see(row)}


def contents(connection: Connection, ids: Sequence[str]) -> dict[str, str]:
    """Return the texts of memories by id."""
    found = connection.execute(_CONTENTS, {"ids": list(ids)})
    return {str(row[0]): str(row[1]) for row in found}


def mixed(
    connection: Connection, ask: Ask, legs: Legs, known: Mapping[str, Row]
) -> dict[str, float]:
    """Return one score for each candidate that may be seen."""
    if ask.settings.fusion == "rrf":
        orders = ((order(legs.sense), legs.weight), (tuple(legs.text), 1.0 - legs.weight))
        scores = ranking.reciprocal(orders, ask.settings.rrf_k)
        return {each: score for each, score in scores.items() if each in known}
    scores = ranking.convex(legs.text, legs.sense, 1.0 - _share_of_words(connection, ask, legs))
    return {
        each: score + IMPORTANCE * known[each].importance
        for each, score in scores.items()
        if each in known
    }


def order(scores: Scores) -> list[str]:
    """Return the ids, best first; equal scores go by id."""
    return sorted(scores, key=lambda each: (-scores[each], each))


def _share_of_words(connection: Connection, ask: Ask, legs: Legs) -> float:
    best = next(iter(legs.text), None)
    if best is None or not legs.sense:
        return 1.0 - legs.weight
    said = contents(connection, [best])[best]
    return (1.0 - legs.weight) * min(1.0, verdict.coverage(ask.query.text, said) / verdict.FULL)


def _weight(settings: SearchSettings, vectors: Vectors | None) -> float:
    """Return the share of the vectors: what was configured, else what was measured for the embedder."""
    if vectors is None or "vector_weight" in settings.model_fields_set:
        return float(settings.vector_weight)
    return vectors.weight
