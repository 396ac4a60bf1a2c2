"""Full-text search in PostgreSQL: the column `memories_fts`, ranked by the rules of bm25 as far as they go.

A word counts by how rare it is, the more the oftener it stands there, and less in a longer text. What
differs from SQLite: the last two are `ts_rank`'s own curves, and words are stemmed by Snowball's English.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Final

import sqlalchemy as sa
from sqlalchemy.engine import Connection

_TERM: Final = re.compile(r'"([^"]*)"(\*?)')
_ALL: Final = "{0.1, 0.2, 0.5, 1.0}"  # of the classes D, C, B (tags) and A (text and pairs)
_TEXT: Final = "{0.1, 0.2, 0.0, 1.0}"
_BY_LENGTH: Final = 1  # divided by 1 + log(length)


def scores(
    connection: Connection,
    match: str,
    *,
    projects: Collection[str] | None,
    category: str,
    limit: int,
) -> dict[str, float]:
    """Return scores by memory id; see `fulltext.scores`."""
    wheres, values = [], dict[str, object]()
    if projects is not None:
        wheres.append("m.project_id IN :projects")
        values["projects"] = sorted(projects)
    if category:
        wheres.append("m.category = :category")
        values["category"] = category
    order = "score DESC, m.importance DESC, m.id"
    statement, terms = _ranked(match, "m.id", _ALL, wheres, order)
    if projects is not None:
        statement = statement.bindparams(sa.bindparam("projects", expanding=True, type_=sa.Text()))
    rows = connection.execute(statement, {**values, **terms, "limit": limit})
    return {str(row.id): float(row.score) for row in rows}


def likely(
    connection: Connection, probe: str, *, project: str, category: str, limit: int
) -> Sequence[tuple[str, str]]:
    """See `fulltext.likely`."""
    wheres = ["m.project_id = :project", "m.category = :category"]
    statement, terms = _ranked(
        probe, "m.id, m.content", _TEXT, wheres, "score DESC, m.importance DESC"
    )
    values = {"project": project, "category": category, "limit": limit}
    rows = connection.execute(statement, {**values, **terms})
    return [(str(row.id), str(row.content)) for row in rows]


def common(connection: Connection, terms: Sequence[str], *, at_least: int) -> frozenset[int]:
    """See `fulltext.common`."""
    asked, values = _asked(" OR ".join(terms))
    counts = " UNION ALL ".join(
        f"SELECT {number} AS term, count(*) AS found FROM"
        f" (SELECT 1 FROM memories WHERE memories_fts @@ {each} LIMIT {at_least}) t{number}"
        for number, each in enumerate(asked)
    )
    rows = connection.execute(sa.text(counts), values)
    return frozenset(row.term for row in rows if row.found >= at_least)


def _ranked(
    match: str, columns: str, weights: str, wheres: Sequence[str], order: str
) -> tuple[sa.TextClause, dict[str, str]]:
    """Build the statement: how many memories have each term first, then the score of those with any."""
    asked, values = _asked(match)
    where = " AND ".join([f"m.memories_fts @@ ({' || '.join(asked)})", *wheres])
    listed = ", ".join(f"({each})" for each in asked)
    statement = (
        "WITH counted AS MATERIALIZED (SELECT query, (SELECT count(*) FROM memories c"
        f" WHERE c.memories_fts @@ query) AS found FROM (VALUES {listed}) asked(query)"
        " WHERE numnode(query) > 0),"
        " weighed AS MATERIALIZED (SELECT query, greatest(ln((total - found + 0.5) / (found + 0.5)), 1e-6)"
        " AS worth FROM counted, (SELECT count(*) AS total FROM memories) everything WHERE found > 0)"
        f" SELECT {columns}, (SELECT coalesce(sum(w.worth * ts_rank('{weights}', m.memories_fts, w.query,"
        f" {_BY_LENGTH})), 0) FROM weighed w WHERE m.memories_fts @@ w.query) AS score"
        f" FROM memories m WHERE {where} ORDER BY {order} LIMIT :limit"
    )
    return sa.text(statement), values


def _asked(match: str) -> tuple[list[str], dict[str, str]]:
    """Return one query for each quoted term, a phrase or a beginning, and the values that it names."""
    found, values = [], {}
    for number, (term, begins) in enumerate(_TERM.findall(match)):
        values[f"t{number}"] = term
        said = f"ghost_words(:t{number})"
        if begins:
            found.append(f"to_tsquery('ghost', quote_literal({said}) || ':*')")
        else:
            found.append(f"phraseto_tsquery('ghost', {said})")
    return found, values
