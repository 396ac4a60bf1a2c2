"""The keyword leg: full-text search in SQLite, best match first. All SQL here is SQLite's own (FTS5).

A match in the tags counts half of one in the text; character pairs count like text, for in scripts without
spaces they are the words.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

import sqlalchemy as sa
from sqlalchemy.engine import Connection

__all__ = ["scores"]

_RANK: Final = "bm25(memories_fts, 1.0, 0.5, 1.0)"


def scores(
    connection: Connection,
    match: str,
    *,
    projects: Collection[str] | None,
    category: str = "",
    limit: int,
) -> dict[str, float]:
    """Return bm25 by memory id, greater is better, the best `limit` of these projects (None: all).

    `match` is a query that `words.query` built; `""` finds nothing. Equal scores go by importance, then id.
    """
    if not match:
        return {}
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
        statement = statement.bindparams(sa.bindparam("projects", expanding=True))
    return {str(row[0]): float(row[1]) for row in connection.execute(statement, values)}
