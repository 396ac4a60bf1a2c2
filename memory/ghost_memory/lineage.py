"""What replaced what: the newer memories behind an older one, over every live `supersedes` edge.

A memory is replaced by one of its own project or by one that all projects share, never by a stranger's.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from ghost_memory.ranking import Edge
from ghost_memory.values import GLOBAL

__all__ = ["edges", "newer", "newest"]

_NEWER: Final = sa.text(
    "WITH RECURSIVE up (old, new) AS ("
    " SELECT target_id, source_id FROM memory_links"
    " WHERE relation = 'supersedes' AND invalidated_at IS NULL AND target_id IN :ids"
    " UNION"
    " SELECT up.old, l.source_id FROM up JOIN memory_links l ON l.target_id = up.new"
    " WHERE l.relation = 'supersedes' AND l.invalidated_at IS NULL)"
    " SELECT up.old, up.new FROM up JOIN memories m ON m.id = up.new JOIN memories o ON o.id = up.old"
    " WHERE up.old <> up.new AND m.project_id IN (o.project_id, :shared) ORDER BY up.old, m.seq"
).bindparams(sa.bindparam("ids", expanding=True, type_=sa.Text()))


def newer(connection: Connection, ids: Collection[str]) -> dict[str, tuple[str, ...]]:
    """Return for each of these that was replaced all that replace it, directly or not, the newest last.

    Edges that lead in a circle end where they began.
    """
    found: dict[str, list[str]] = {}
    for old, new in connection.execute(_NEWER, {"ids": sorted(ids), "shared": GLOBAL}):
        found.setdefault(str(old), []).append(str(new))
    return {old: tuple(news) for old, news in found.items()}


def newest(lines: Mapping[str, tuple[str, ...]], memory_id: str) -> str:
    """Return the last of those that replace a memory; `""` where it holds or they go in a circle."""
    last = lines.get(memory_id, ("",))[-1]
    return "" if memory_id in lines.get(last, ()) else last


def edges(lines: Mapping[str, tuple[str, ...]]) -> list[Edge]:
    """Return every pair newer, older."""
    return [(new, old) for old, news in lines.items() for new in news]
