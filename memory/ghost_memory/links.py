"""Edges between memories. Only `related` has no direction; making one again keeps the greater strength."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from ghost_core.errors import UsageError
from ghost_memory import lineage
from ghost_memory.journal import Change, Writing
from ghost_memory.ranking import Edge

__all__ = ["between", "link", "replacements", "unlink"]


def link(
    writing: Writing, one: str, two: str, relation: str, *, strength: float, source: str
) -> None:
    """Make an edge, or make it live again; raises UsageError `memory.link` for one to itself."""
    if one == two:
        raise UsageError(f"memory {one}: cannot be linked to itself", code="memory.link")
    if relation == "supersedes":
        unlink(writing, two, one, relation)  # two memories that replace each other order nothing
    first, second = sorted((one, two)) if relation == "related" else (one, two)
    writing.connection.execute(
        sa.text(
            "INSERT INTO memory_links (source_id, target_id, relation, strength, source, created_at)"
            " VALUES (:one, :two, :relation, :strength, :source, :now)"
            " ON CONFLICT (source_id, target_id, relation) DO UPDATE SET"
            " strength = CASE WHEN excluded.strength > memory_links.strength THEN excluded.strength"
            " ELSE memory_links.strength END, invalidated_at = NULL"
        ),
        {
            "one": first,
            "two": second,
            "relation": relation,
            "strength": strength,
            "source": source,
            "now": writing.now,
        },
    )
    writing.report(Change(first, f"link.{relation}", reason=second))


def unlink(writing: Writing, one: str, two: str, relation: str) -> bool:
    """End an edge; it stays as history. Tell whether it was live."""
    first, second = sorted((one, two)) if relation == "related" else (one, two)
    done = writing.connection.execute(
        sa.text(
            "UPDATE memory_links SET invalidated_at = :now WHERE source_id = :one AND target_id = :two"
            " AND relation = :relation AND invalidated_at IS NULL"
        ),
        {"one": first, "two": second, "relation": relation, "now": writing.now},
    )
    if done.rowcount:
        writing.report(Change(first, f"unlink.{relation}", reason=second))
    return bool(done.rowcount)


def between(
    connection: Connection, ids: Sequence[str], relation: str, *, at_least: float = 0.0
) -> list[Edge]:
    """Return the live edges of a kind with both ends among these memories."""
    found = connection.execute(
        sa.text(
            "SELECT source_id, target_id FROM memory_links WHERE relation = :relation"
            " AND invalidated_at IS NULL AND strength >= :least"
            " AND source_id IN :ids AND target_id IN :ids ORDER BY source_id, target_id"
        ).bindparams(sa.bindparam("ids", expanding=True, type_=sa.Text())),
        {"relation": relation, "least": at_least, "ids": list(ids)},
    )
    return [(str(row[0]), str(row[1])) for row in found]


def replacements(connection: Connection, ids: Collection[str]) -> dict[str, str]:
    """Return for each of these memories that was replaced the newest one that replaces it.

    Of a chain, that is its end.
    """
    return {old: news[-1] for old, news in lineage.newer(connection, ids).items()}
