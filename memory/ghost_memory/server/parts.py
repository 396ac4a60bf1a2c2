"""Where the rest of memory is plugged into the server: search, the assembler, the embedder.

Everything is imported when the store is opened, so that a start loads nothing of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Protocol

from sqlalchemy.engine import Connection

from ghost_core.settings_models import MemorySettings, SearchSettings
from ghost_memory import passive
from ghost_memory.asking import Found, Query, Vectors
from ghost_memory.assemble import Block, Shape, block
from ghost_memory.reader import Counted
from ghost_memory.search import search
from ghost_memory.server import rows
from ghost_memory.server.answer import Page, paged
from ghost_memory.values import GLOBAL, Memory, Project

__all__ = ["Parts", "plug"]


class Parts(Protocol):
    """What the tools ask of the rest of memory."""

    def search(self, connection: Connection, query: Query, *, now: str) -> Found:
        """Find memories."""
        ...

    def context(self, connection: Connection, project: Project, *, limit: int, now: str) -> Block:
        """Assemble what is shown of a project: its memories by passive rank, and what all share."""
        ...

    def embedding(self, connection: Connection) -> Mapping[str, object]:
        """Return what the embedder has done: model, embedded, pending; empty without one."""
        ...

    def saved(self, project: str) -> None:
        """Hear that texts of a project changed; returns at once."""
        ...

    def close(self) -> None:
        """End what works in the background."""
        ...


def plug(settings: MemorySettings) -> Parts:
    """Return the parts of this installation."""
    return _Plugged(settings.search, None)


GLOBAL_ROWS: Final = 15


@dataclass(frozen=True, slots=True)
class _Plugged:
    """Search and the assembler, over words alone."""

    settings: SearchSettings
    vectors: Vectors | None

    def search(self, connection: Connection, query: Query, *, now: str) -> Found:
        return search(connection, query, vectors=self.vectors, settings=self.settings, now=now)

    def context(self, connection: Connection, project: Project, *, limit: int, now: str) -> Block:
        reader = passive.over(connection)
        if project.id == GLOBAL:
            return _shared(reader.shared(limit=GLOBAL_ROWS, now=now))
        return block(reader, project, now=now, shape=Shape(memories=limit))

    def embedding(self, _connection: Connection) -> Mapping[str, object]:
        return {}

    def saved(self, project: str) -> None:
        """Nobody embeds."""

    def close(self) -> None:
        """Nothing runs."""


def _shared(found: Counted[Memory]) -> Block:
    """Return what all projects share by itself, where no project is asked for."""
    entries = [rows.of_memory(each) for each in found.rows]
    page = Page(entries, 0, found.total, "memories")
    text = paged(page, none="", heading="## Global (applies to all projects)").text
    return Block(text, len(entries), found.total, empty=not entries)
