"""What is worth knowing when nothing was asked: importance by age, near-duplicates below what they repeat."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from ghost_memory.choice import distinct
from ghost_memory.dialect import DIALECTS
from ghost_memory.reader import OVERFETCH, Rows
from ghost_memory.values import Memory
from ghost_memory.whereabouts import Ask

__all__ = ["asking", "over", "top"]


def top(connection: Connection, project: str, *, limit: int, now: str) -> list[Memory]:
    """Return the memories of a project that matter most, the unresolved that hold, without globals."""
    reader = over(connection)
    found = reader.memories(project, limit=OVERFETCH * limit, now=now).rows
    return distinct(reader, found, limit=limit)[:limit]


def over(connection: Connection) -> Rows:
    """Return a reader over a connection of the engine."""
    return Rows(asking(connection), DIALECTS[connection.dialect.name])


def asking(connection: Connection) -> Ask:
    """Return how to ask a connection of the engine."""

    def ask(statement: str, values: Mapping[str, object]) -> list[dict[str, Any]]:
        return [dict(row) for row in connection.execute(sa.text(statement), values).mappings()]

    return ask
