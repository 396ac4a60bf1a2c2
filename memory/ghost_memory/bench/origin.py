"""The search of the public origin, rebuilt from its rules, so that its published figures can be compared.

Its keyword query is the first ten words as phrases over the content alone; both legs are fetched at twice the
limit and fused by reciprocal rank; decay and demotion reorder the window. Nothing of the product calls this.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice
from typing import Final

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from ghost_memory import lineage, ranking
from ghost_memory.ages import days_between
from ghost_memory.asking import Vectors
from ghost_memory.bench.metrics import DEPTH
from ghost_memory.bench.store import NOW

__all__ = ["Rules", "index", "query", "ranked"]

K: Final = 60
WORDS: Final = 10
_EDGE: Final = re.compile(r"^[^A-Za-z0-9]+|[^A-Za-z0-9]+$")


@dataclass(frozen=True, slots=True)
class Rules:
    """Which legs take part and what reorders the window; `decay` 0.02 is a tie-break, 1.0 full."""

    words: bool = True
    vectors: bool = False
    weight: float = 0.7
    decay: float = 0.0
    demote: bool = False


def index(connection: Connection) -> None:
    """Make the origin's index: content only."""
    connection.exec_driver_sql(
        "CREATE VIRTUAL TABLE temp.origin_fts USING fts5(content, tokenize='porter unicode61')"
    )
    connection.exec_driver_sql(
        "INSERT INTO origin_fts (rowid, content) SELECT seq, content FROM memories"
    )


def query(text: str) -> str:
    """Return the origin's keyword query."""
    stripped = (_EDGE.sub("", word) for word in text.split())
    phrases = ('"' + word.replace('"', '""') + '"' for word in stripped if word)
    return " OR ".join(islice(phrases, WORDS))


def ranked(
    connection: Connection, text: str, *, rules: Rules, vectors: Vectors | None = None
) -> list[str]:
    """Return the window, best first."""
    said = _words(connection, text) if rules.words else []
    near = (
        list(vectors.near(text, projects=None, limit=2 * DEPTH))
        if rules.vectors and vectors is not None
        else []
    )
    scores = ranking.reciprocal([(near, rules.weight), (said, 1.0 - rules.weight)], K)
    window = sorted(scores, key=lambda each: (-scores[each], each))[:DEPTH]
    if rules.decay and window:
        factors = _factors(connection, window, rules.decay)
        window.sort(key=lambda each: (-scores[each] * factors[each], each))
    return (
        ranking.demoted(window, lineage.edges(lineage.newer(connection, window)))
        if rules.demote
        else window
    )


def _words(connection: Connection, text: str) -> list[str]:
    match = query(text)
    if not match:
        return []
    found = connection.execute(
        sa.text(
            "SELECT m.id FROM origin_fts JOIN memories m ON m.seq = origin_fts.rowid"
            " WHERE origin_fts MATCH :match ORDER BY bm25(origin_fts), m.importance DESC LIMIT :limit"
        ),
        {"match": match, "limit": 2 * DEPTH},
    )
    return [str(row[0]) for row in found]


def _factors(connection: Connection, window: list[str], span: float) -> dict[str, float]:
    rows = connection.execute(
        sa.text("SELECT id, category, created_at FROM memories WHERE id IN :ids").bindparams(
            sa.bindparam("ids", expanding=True)
        ),
        {"ids": window},
    )
    return {
        str(each.id): 1.0
        - span
        * (1.0 - ranking.decay(each.category, days_between(each.created_at, NOW), pinned=False))
        for each in rows
    }
