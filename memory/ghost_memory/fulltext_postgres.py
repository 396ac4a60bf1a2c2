"""Full-text search in PostgreSQL: the column `memories_fts`, ranked by the rules of bm25 as far as they go.

A word counts by how rare it is, the more the oftener it stands there, and less in a longer text. What
differs from SQLite: the last two are `ts_rank`'s own curves, and words are stemmed by Snowball's English.
See `fulltext.Index`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

_TERM: Final = re.compile(r'"([^"]*)"(\*?)')
_ALL: Final = "{0.1, 0.2, 0.5, 1.0}"  # of the classes D, C, B (tags) and A (text and pairs)
_TEXT: Final = "{0.1, 0.2, 0.0, 1.0}"
_BY_LENGTH: Final = 1  # divided by 1 + log(length)


def ranked(
    match: str, columns: str, wheres: Sequence[str], order: str, *, tags: bool
) -> tuple[str, dict[str, str]]:
    """Build the search: how many memories have each term first, then the score of those with any."""
    asked, named = _asked(match)
    weights = _ALL if tags else _TEXT
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
    return statement, named


def holding(terms: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """Build the sources of a count."""
    asked, named = _asked(" OR ".join(terms))
    return [f"memories WHERE memories_fts @@ {each}" for each in asked], named


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
