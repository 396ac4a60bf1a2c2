"""Full-text search in SQLite (FTS5), ranked by its bm25."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

import sqlalchemy as sa
from sqlalchemy.engine import Connection

_RANK: Final = "bm25(memories_fts, 1.0, 0.5, 1.0)"
_LIKELY: Final = sa.text(
    "SELECT m.id, m.content FROM memories_fts JOIN memories m ON m.seq = memories_fts.rowid"
    " WHERE memories_fts MATCH :probe AND m.project_id = :project AND m.category = :category"
    " ORDER BY bm25(memories_fts, 1.0, 0.0, 1.0), m.importance DESC LIMIT :limit"
)


def scores(
    connection: Connection,
    match: str,
    *,
    projects: Collection[str] | None,
    category: str,
    limit: int,
) -> dict[str, float]:
    """Return bm25 by memory id; see `fulltext.scores`."""
    values: dict[str, object] = {"match": match, "limit": limit}
    wheres = ["memories_fts MATCH :match"]
    if projects is not None:
        wheres.append("m.project_id IN :projects")
        values["projects"] = sorted(projects)
    if category:
        wheres.append("m.category = :category")
        values["category"] = category
    statement = sa.text(
        f"SELECT m.id, -{_RANK} FROM memories_fts CROSS JOIN memories m ON m.seq = memories_fts.rowid"
        f" WHERE {' AND '.join(wheres)} ORDER BY {_RANK}, m.importance DESC, m.id LIMIT :limit"
    )
    if projects is not None:
        statement = statement.bindparams(sa.bindparam("projects", expanding=True, type_=sa.Text()))
    return {str(row[0]): float(row[1]) for row in connection.execute(statement, values)}


def likely(
    connection: Connection, probe: str, *, project: str, category: str, limit: int
) -> Sequence[tuple[str, str]]:
    """See `fulltext.likely`."""
    values = {"probe": probe, "project": project, "category": category, "limit": limit}
    return [(str(row[0]), str(row[1])) for row in connection.execute(_LIKELY, values)]


def common(connection: Connection, terms: Sequence[str], *, at_least: int) -> frozenset[int]:
    """See `fulltext.common`."""
    counts = " UNION ALL ".join(
        f"SELECT {number} AS term, count(*) AS found FROM"
        f" (SELECT 1 FROM memories_fts WHERE memories_fts MATCH :t{number} LIMIT {at_least})"
        for number in range(len(terms))
    )
    values = {f"t{number}": term for number, term in enumerate(terms)}
    rows = connection.execute(sa.text(counts), values)
    return frozenset(row.term for row in rows if row.found >= at_least)
