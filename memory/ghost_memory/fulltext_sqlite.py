"""Full-text search in SQLite (FTS5), ranked by its bm25; see `fulltext.Index`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

_ALL: Final = "-bm25(memories_fts, 1.0, 0.5, 1.0)"  # text, tags and pairs
_TEXT: Final = "-bm25(memories_fts, 1.0, 0.0, 1.0)"


def ranked(
    match: str, columns: str, wheres: Sequence[str], order: str, *, tags: bool
) -> tuple[str, dict[str, str]]:
    """Build the search; CROSS JOIN has the index asked first."""
    where = " AND ".join(["memories_fts MATCH :match", *wheres])
    statement = (
        f"SELECT {columns}, {_ALL if tags else _TEXT} AS score"
        " FROM memories_fts CROSS JOIN memories m ON m.seq = memories_fts.rowid"
        f" WHERE {where} ORDER BY {order} LIMIT :limit"
    )
    return statement, {"match": match}


def holding(terms: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """Build the sources of a count."""
    named = {f"t{number}": term for number, term in enumerate(terms)}
    return [f"memories_fts WHERE memories_fts MATCH :{name}" for name in named], named
