"""Looks for the likely twin of a text that is to be saved, by its rare words; SQLite only."""

from __future__ import annotations

from typing import Final

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from ghost_memory import words
from ghost_memory.likeness import likeness

__all__ = ["twin"]

CANDIDATES: Final = 15
RARE: Final = 100
"""A word of fewer memories than this is rare: more would be ranked for nothing."""

_FEWEST: Final = 3  # rare words; with fewer, all words are asked
_TWINS: Final = sa.text(
    "SELECT m.id, m.content FROM memories_fts JOIN memories m ON m.seq = memories_fts.rowid"
    " WHERE memories_fts MATCH :probe AND m.project_id = :project AND m.category = :category"
    " ORDER BY bm25(memories_fts, 1.0, 0.0, 1.0), m.importance DESC LIMIT :limit"
)


def twin(connection: Connection, project: str, category: str, text: str) -> tuple[str, float]:
    """Return the likeliest twin of a text in its project and category, and the score; 0 for none."""
    mine = words.tokens(text)
    asked = words.terms(text, limit=words.PROBE_WORDS)
    if not mine or not asked:
        return "", 0.0
    probe = words.either(_rare(connection, asked) or asked)
    values = {"probe": probe, "project": project, "category": category, "limit": CANDIDATES}
    best = ("", 0.0)
    for row in connection.execute(_TWINS, values):
        score = likeness(mine, words.tokens(row.content))
        if score > best[1]:
            best = (str(row.id), score)
    return best


def _rare(connection: Connection, terms: list[str]) -> list[str]:
    """Return the rare ones of the terms, none if they are too few to go by.

    To rank a word that stands in every third memory costs more than all the rest of a save.
    """
    counts = " UNION ALL ".join(
        f"SELECT {number} AS term, count(*) AS found FROM"
        f" (SELECT 1 FROM memories_fts WHERE memories_fts MATCH :t{number} LIMIT {RARE})"
        for number in range(len(terms))
    )
    values = {f"t{number}": term for number, term in enumerate(terms)}
    common = {row.term for row in connection.execute(sa.text(counts), values) if row.found >= RARE}
    rare = [term for number, term in enumerate(terms) if number not in common]
    return rare if len(rare) >= _FEWEST else []
