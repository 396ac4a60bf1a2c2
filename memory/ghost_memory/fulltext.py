"""The keyword leg: full-text search, best match first, in the words of the database at hand.

A match in the tags counts half of one in the text; character pairs count like text, for in scripts without
spaces they are the words. Both databases weigh a word by how rare it is in all of memory.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Final, Protocol

from sqlalchemy.engine import Connection

from ghost_memory import fulltext_postgres, fulltext_sqlite

__all__ = ["Index", "common", "likely", "scores"]


class Index(Protocol):
    """One kind of full-text index; a query is what `words` built, and is not empty."""

    def scores(
        self,
        connection: Connection,
        match: str,
        *,
        projects: Collection[str] | None,
        category: str,
        limit: int,
    ) -> dict[str, float]:
        """See `fulltext.scores`."""
        ...

    def likely(
        self, connection: Connection, probe: str, *, project: str, category: str, limit: int
    ) -> Sequence[tuple[str, str]]:
        """See `fulltext.likely`."""
        ...

    def common(
        self, connection: Connection, terms: Sequence[str], *, at_least: int
    ) -> frozenset[int]:
        """See `fulltext.common`."""
        ...


_INDEXES: Final[Mapping[str, Index]] = MappingProxyType(
    {"sqlite": fulltext_sqlite, "postgresql": fulltext_postgres}
)


def scores(
    connection: Connection,
    match: str,
    *,
    projects: Collection[str] | None,
    category: str = "",
    limit: int,
) -> dict[str, float]:
    """Return scores by memory id, greater is better, the best `limit` of these projects (None: all).

    `match` is a query that `words.query` built; `""` finds nothing. Equal scores go by importance, then id.
    """
    if not match:
        return {}
    return _index(connection).scores(
        connection, match, projects=projects, category=category, limit=limit
    )


def likely(
    connection: Connection, probe: str, *, project: str, category: str, limit: int
) -> Sequence[tuple[str, str]]:
    """Return id and text of those memories of a category that match the probe best; tags do not count."""
    return _index(connection).likely(
        connection, probe, project=project, category=category, limit=limit
    )


def common(connection: Connection, terms: Sequence[str], *, at_least: int) -> frozenset[int]:
    """Return the places of those terms that stand in at least so many memories."""
    return _index(connection).common(connection, terms, at_least=at_least)


def _index(connection: Connection) -> Index:
    return _INDEXES[connection.dialect.name]
