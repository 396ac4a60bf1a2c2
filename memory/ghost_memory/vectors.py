"""Vectors as they are stored: which memories have none, keeping them, counting them, letting old ones go.

Vectors are derived data: they follow from the text and a model, so no entry tells of them. Vectors of
several spaces lie side by side, and no statement here mixes two.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from ghost_memory.embedding.embedder import Space

__all__ = ["Counts", "Text", "Vector", "counts", "drop_disused", "keep", "texts", "waiting"]

BATCH: Final = 50

_BARE: Final = (
    "SELECT m.seq, m.project_id FROM memories m WHERE NOT EXISTS"
    " (SELECT 1 FROM memory_embeddings e WHERE e.memory_id = m.id AND e.model = :space)"
)


class Text(NamedTuple):
    """A memory as far as its vector goes."""

    id: str
    content: str


class Vector(NamedTuple):
    """A vector to keep, and the text that it was made from."""

    id: str
    content: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Counts:
    """How many memories have a vector in this space and how many wait; vectors of other spaces by name."""

    embedded: int
    pending: int
    others: Mapping[str, int]


def waiting(connection: Connection, space: Space) -> dict[str, list[int]]:
    """Return by project the memories without a vector in this space, their `seq`, the newest first.

    Looks no further back than the oldest of them, so what was just saved is found at once.
    """
    missing = counts(connection, space).pending
    found: dict[str, list[int]] = {}
    if missing > 0:
        rows = connection.execute(
            sa.text(f"{_BARE} ORDER BY m.seq DESC LIMIT :missing"),
            {"space": space.id, "missing": missing},
        )
        for seq, project in rows:
            found.setdefault(str(project), []).append(int(seq))
    return found


def texts(connection: Connection, seqs: Sequence[int]) -> list[Text]:
    """Return those of these memories that are still there, the newest first."""
    rows = connection.execute(
        sa.text("SELECT id, content FROM memories WHERE seq IN :seqs ORDER BY seq DESC").bindparams(
            sa.bindparam("seqs", expanding=True, type_=sa.BigInteger())
        ),
        {"seqs": list(seqs)},
    )
    return [Text(str(row[0]), str(row[1])) for row in rows]


def keep(connection: Connection, space: Space, made: Iterable[Vector], now: str) -> None:
    """Store vectors, but none of a text that has changed meanwhile, and none beside one of this space."""
    values = [
        {
            "id": each.id,
            "content": each.content,
            "embedding": each.data,
            "space": space.id,
            "dimensions": space.dimensions,
            "now": now,
        }
        for each in made
    ]
    if values:
        connection.execute(
            sa.text(
                "INSERT INTO memory_embeddings (memory_id, embedding, model, dimensions, created_at)"
                " SELECT m.id, :embedding, :space, :dimensions, :now FROM memories m"
                " WHERE m.id = :id AND m.content = :content ON CONFLICT (memory_id, model) DO NOTHING"
            ),
            values,
        )


def drop_disused(connection: Connection, space: Space, *, before: str) -> int:
    """Remove the vectors of spaces in which nobody has written since `before`; returns how many."""
    done = connection.execute(
        sa.text(
            "DELETE FROM memory_embeddings WHERE model <> :space AND model NOT IN"
            " (SELECT model FROM memory_embeddings WHERE created_at >= :before)"
        ),
        {"space": space.id, "before": before},
    )
    return done.rowcount


def counts(connection: Connection, space: Space) -> Counts:
    """Count vectors by space, and the memories that wait for one in this space."""
    found = connection.execute(
        sa.text("SELECT model, count(*) FROM memory_embeddings GROUP BY model ORDER BY model")
    )
    by_model = {str(row[0]): int(row[1]) for row in found}
    memories = int(connection.execute(sa.text("SELECT count(*) FROM memories")).scalar_one())
    embedded = by_model.pop(space.id, 0)
    return Counts(embedded, memories - embedded, by_model)
