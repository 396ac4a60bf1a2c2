"""The keyword leg: full-text search, best match first, in the words of the database at hand.

A match in the tags counts half of one in the text; character pairs count like text, for in scripts without
spaces they are the words. Both databases weigh a word by how rare it is in all of memory.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Final, Protocol

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from ghost_memory import fulltext_postgres, fulltext_sqlite

__all__ = ["Index", "common", "likely", "scores"]


class Index(Protocol):
    """How one database asks its index; what it is asked is what `words` built, and is not empty."""

    def ranked(
        self, match: str, columns: str, wheres: Sequence[str], order: str, *, tags: bool
    ) -> tuple[str, Mapping[str, str]]:
        """Return a statement, and the values that it names beside `limit` and those of `wheres`.

        It selects the columns of memories `m` that match, and their `score`.
        """
        ...

    def holding(self, terms: Sequence[str]) -> tuple[Sequence[str], Mapping[str, str]]:
        """Return for each term what follows a FROM to get the memories with it, and the values named."""
        ...


_INDEXES: Final[Mapping[str, Index]] = MappingProxyType(
    {"sqlite": fulltext_sqlite, "postgresql": fulltext_postgres}
)


def scores(
    connection: Connection,
    match: str,
    *,
    projects: Collection[str] | None,
    category: str = "",
    limit: int,
) -> dict[str, float]:
    """Return scores by memory id, greater is better, the best `limit` of these projects (None: all).

    `match` is a query that `words.query` built; `""` finds nothing. Equal scores go by importance, then id.
    """
    if not match:
        return {}
    wheres, values = [], dict[str, object](limit=limit)
    if projects is not None:
        wheres.append("m.project_id IN :projects")
        values["projects"] = sorted(projects)
    if category:
        wheres.append("m.category = :category")
        values["category"] = category
    order = "score DESC, m.importance DESC, m.id"
    text, named = _index(connection).ranked(match, "m.id", wheres, order, tags=True)
    statement = sa.text(text)
    if projects is not None:
        statement = statement.bindparams(sa.bindparam("projects", expanding=True, type_=sa.Text()))
    rows = connection.execute(statement, {**values, **named})
    return {str(row.id): float(row.score) for row in rows}


def likely(
    connection: Connection, probe: str, *, project: str, category: str, limit: int
) -> Sequence[tuple[str, str]]:
    """Return id and text of those memories of a category that match the probe best; tags do not count."""
    wheres = ["m.project_id = :project", "m.category = :category"]
    order = "score DESC, m.importance DESC"
    text, named = _index(connection).ranked(probe, "m.id, m.content", wheres, order, tags=False)
    values = {"project": project, "category": category, "limit": limit}
    rows = connection.execute(sa.text(text), {**values, **named})
    return [(str(row.id), str(row.content)) for row in rows]


def common(connection: Connection, terms: Sequence[str], *, at_least: int) -> frozenset[int]:
    """Return the places of those terms that stand in at least so many memories."""
    sources, named = _index(connection).holding(terms)
    counts = " UNION ALL ".join(
        f"SELECT {number} AS term, count(*) AS found FROM (SELECT 1 FROM {each} LIMIT {at_least}) t{number}"
        for number, each in enumerate(sources)
    )
    rows = connection.execute(sa.text(counts), named)
    return frozenset(row.term for row in rows if row.found >= at_least)


def _index(connection: Connection) -> Index:
    return _INDEXES[connection.dialect.name]
