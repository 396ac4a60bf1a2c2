"""The vector leg of search inside PostgreSQL where pgvector is; else, and once it has gone, numpy's.

Every vector is compared, without an index: an index for near neighbours leaves some out, and which depends
on when it was built. Vectors of another space are never looked at.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final

import sqlalchemy as sa
from sqlalchemy.engine import Engine

from ghost_core import db, log
from ghost_core.errors import DeniedError, GhostError, UnavailableError
from ghost_memory.embedding.embedder import Embedder, Rows
from ghost_memory.matrix import Matrix
from ghost_memory.pgvector_column import ready

__all__ = ["PgVector", "leg"]

# The vector that is asked is read once, in a subquery: a cast beside the column would be done for each row.
# What is no vector, or has another length than its space, is as near as a vector of zeros.
_NEAR: Final = (
    "SELECT e.memory_id, coalesce(CASE WHEN e.dimensions = :dimensions THEN e.vector"
    " OPERATOR({place}.<#>) (SELECT CAST(:asked AS {place}.vector)) END, 0) AS away"
    " FROM memory_embeddings e WHERE e.model = :space{within}"
    " ORDER BY away, e.seq DESC LIMIT :limit"
)
_WITHIN: Final = " AND e.memory_id IN (SELECT id FROM memories WHERE project_id IN :projects)"
_GONE: Final = frozenset({"database.schema", "database.guarded"})


def leg(engine: Engine, embedder: Embedder, matrix: Matrix) -> Matrix | PgVector:
    """Return the leg that this database can have: pgvector's where it is ready, else numpy's."""
    if engine.dialect.name != "postgresql":
        return matrix
    try:
        place = ready(engine)
    except GhostError as error:
        log.events(__name__).info("memory.pgvector_unused", why=error.message)
        return matrix
    return PgVector(engine, embedder, place, matrix) if place else matrix


class PgVector:
    """The vector leg of search, answered by the server; safe to share between threads."""

    def __init__(self, engine: Engine, embedder: Embedder, place: str, matrix: Matrix) -> None:
        self.weight = embedder.weight
        self._engine = engine
        self._embedder = embedder
        self._statement = _NEAR.replace("{place}", place)
        self._matrix: Matrix = matrix
        self._has_gone = False

    @property
    def by(self) -> str:
        """What compares the vectors."""
        return self._matrix.by if self._has_gone else "pgvector"

    def near(
        self, text: str, *, projects: Collection[str] | None, limit: int
    ) -> Mapping[str, float]:
        """Return cosines by memory id, the nearest first; see `asking.Vectors`."""
        if not self._has_gone:
            try:
                return self._near(text, projects, limit)
            except (UnavailableError, DeniedError) as error:
                if error.code not in _GONE:
                    raise
                self._has_gone = True
        return self._matrix.near(text, projects=projects, limit=limit)

    def _near(self, text: str, projects: Collection[str] | None, limit: int) -> dict[str, float]:
        asked = self._embedder.embed([text], query=True)[0]
        if limit < 1 or not asked.any():
            return {}
        space = self._embedder.space()
        values = {
            "asked": _written(asked),
            "space": space.id,
            "dimensions": space.dimensions,
            "limit": limit,
        }
        with db.read(self._engine) as connection:
            rows = connection.execute(*_within(self._statement, values, projects))
            return {str(row[0]): 0.0 - float(row[1]) for row in rows}


def _within(
    statement: str, values: dict[str, object], projects: Collection[str] | None
) -> tuple[sa.TextClause, dict[str, object]]:
    if projects is None:
        return sa.text(statement.format(within="")), values
    chosen = sa.bindparam("projects", expanding=True, type_=sa.Text())
    asked = sa.text(statement.format(within=_WITHIN)).bindparams(chosen)
    return asked, {**values, "projects": sorted(projects)}


def _written(vector: Rows) -> str:
    """Return a vector as pgvector reads it; each number reads back as the same float32."""
    return f"[{','.join(map(repr, vector.tolist()))}]"
