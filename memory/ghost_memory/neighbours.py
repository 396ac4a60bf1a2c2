"""Edges `related` between memories that are near in meaning, made and mended without anybody's doing.

They are derived data as vectors are, so no entry tells of them. An edge that somebody made or ended stays
as it is; one that was made here follows the text.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from ghost_memory.embedding.embedder import Space
from ghost_memory.matrix import Matrix
from ghost_memory.values import GLOBAL

__all__ = ["LIKE", "NEAREST", "Bond", "Unlinked", "bonds", "link", "unlinked"]

LIKE: Final = 0.70
NEAREST: Final = 6

_RELATE: Final = (
    "INSERT INTO memory_links (source_id, target_id, relation, strength, source, created_at)"
    " SELECT :one, :two, 'related', :strength, 'auto', :now"
    " WHERE EXISTS (SELECT 1 FROM memories WHERE id = :one)"
    " AND EXISTS (SELECT 1 FROM memories WHERE id = :two)"
    " ON CONFLICT (source_id, target_id, relation) DO UPDATE SET strength = excluded.strength"
    " WHERE memory_links.source = 'auto' AND memory_links.invalidated_at IS NULL"
)
_PART: Final = (
    "DELETE FROM memory_links WHERE source_id = :one AND target_id = :two AND relation = 'related'"
    " AND source = 'auto' AND invalidated_at IS NULL"
)
_SCANNED: Final = (
    "INSERT INTO link_scans (memory_id, model, scanned_at) SELECT e.memory_id, e.model, :now"
    " FROM memory_embeddings e WHERE e.seq = :vector"
    " ON CONFLICT (memory_id, model) DO UPDATE SET scanned_at = excluded.scanned_at"
)
_BONDS_OF: Final = (
    "SELECT source_id, target_id FROM memory_links WHERE :id IN (source_id, target_id)"
    " AND relation = 'related' AND source = 'auto' AND invalidated_at IS NULL"
)


class Unlinked(NamedTuple):
    """A memory whose neighbours have not been looked for since its vector was made."""

    vector: int
    id: str
    project: str


class Bond(NamedTuple):
    """How near two memories are, the smaller id first."""

    one: str
    two: str
    strength: float


def unlinked(connection: Connection, space: Space, *, limit: int) -> list[Unlinked]:
    """Return memories with a vector in this space that were not scanned in it, the newest vectors first."""
    found = connection.execute(
        sa.text(
            "SELECT e.seq, m.id, m.project_id FROM memory_embeddings e JOIN memories m ON m.id = e.memory_id"
            " WHERE e.model = :space AND NOT EXISTS (SELECT 1 FROM link_scans s"
            " WHERE s.memory_id = e.memory_id AND s.model = e.model) ORDER BY e.seq DESC LIMIT :limit"
        ),
        {"space": space.id, "limit": limit},
    )
    return [Unlinked(int(row[0]), str(row[1]), str(row[2])) for row in found]


def bonds(
    connection: Connection, matrix: Matrix, found: Sequence[Unlinked]
) -> list[tuple[Unlinked, list[Bond]]]:
    """Return for each memory the nearest of its project and `_global`, and those linked before."""
    near: dict[str, dict[str, float]] = {}
    for project in {each.project for each in found}:
        mine = [each.id for each in found if each.project == project]
        near |= matrix.around(mine, projects={project, GLOBAL}, limit=NEAREST)
    return [(each, _bonds(connection, matrix, each.id, near.get(each.id, {}))) for each in found]


def _bonds(
    connection: Connection, matrix: Matrix, memory_id: str, near: Mapping[str, float]
) -> list[Bond]:
    found = {_pair(memory_id, each): score for each, score in near.items() if score >= LIKE}
    for row in connection.execute(sa.text(_BONDS_OF), {"id": memory_id}):
        pair = _pair(str(row[0]), str(row[1]))
        strength = matrix.cosine(*pair)
        if pair not in found and strength is not None:
            found[pair] = strength
    return [Bond(one, two, strength) for (one, two), strength in sorted(found.items())]


def link(connection: Connection, scanned: Iterable[tuple[Unlinked, list[Bond]]], now: str) -> None:
    """Write the bonds: those near enough as edges, the others away; then say that the memory was looked at.

    A memory that has gone or changed meanwhile is not marked, so the next pass takes it.
    """
    for memory, found in scanned:
        for bond in found:
            statement = _RELATE if bond.strength >= LIKE else _PART
            strength = min(1.0, bond.strength)
            values = {"one": bond.one, "two": bond.two, "strength": strength, "now": now}
            connection.execute(sa.text(statement), values)
        connection.execute(sa.text(_SCANNED), {"vector": memory.vector, "now": now})


def _pair(one: str, two: str) -> tuple[str, str]:
    return (one, two) if one < two else (two, one)
