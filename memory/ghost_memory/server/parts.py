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

__all__ = ["Meaning", "Parts", "plug"]


class Parts(Protocol):
    """What the tools ask of the rest of memory."""

    def search(self, connection: Connection, query: Query, *, now: str) -> Found:
        """Find memories."""
        ...

    def context(self, connection: Connection, project: Project, *, limit: int, now: str) -> Block:
        """Assemble what is shown of a project: its memories by passive rank, and what all share."""
        ...

    def embedding(self) -> Mapping[str, object]:
        """Return what the embedder has done: model, embedded, pending; empty without one."""
        ...

    def saved(self) -> None:
        """Hear that texts came or changed; returns at once."""
        ...

    def close(self) -> None:
        """End what works in the background."""
        ...


class Meaning(Protocol):
    """The embedder at work: the vector leg of search, and the thread that feeds it."""

    @property
    def vectors(self) -> Vectors | None:
        """The vector leg for search, None without an embedder."""
        ...

    def saved(self) -> None:
        """Hear that texts came or changed; returns at once."""
        ...

    def health(self) -> Mapping[str, object]:
        """Return model, how many are embedded and wait, trouble; empty without an embedder."""
        ...

    def close(self) -> None:
        """End the thread."""
        ...


def plug(settings: MemorySettings, meaning: Meaning | None = None) -> Parts:
    """Return the parts of this installation; without a sense of meaning search works on keywords."""
    return _Plugged(settings.search, meaning)


GLOBAL_ROWS: Final = 15


@dataclass(frozen=True, slots=True)
class _Plugged:
    """Search, the assembler and the embedder."""

    settings: SearchSettings
    meaning: Meaning | None

    def search(self, connection: Connection, query: Query, *, now: str) -> Found:
        vectors = self.meaning.vectors if self.meaning else None
        return search(connection, query, vectors=vectors, settings=self.settings, now=now)

    def context(self, connection: Connection, project: Project, *, limit: int, now: str) -> Block:
        reader = passive.over(connection)
        if project.id == GLOBAL:
            return _shared(reader.shared(limit=GLOBAL_ROWS, now=now))
        return block(reader, project, now=now, shape=Shape(memories=limit))

    def embedding(self) -> Mapping[str, object]:
        return self.meaning.health() if self.meaning else {}

    def saved(self) -> None:
        if self.meaning:
            self.meaning.saved()

    def close(self) -> None:
        if self.meaning:
            self.meaning.close()


def _shared(found: Counted[Memory]) -> Block:
    """Return what all projects share by itself, where no project is asked for."""
    entries = [rows.of_memory(each) for each in found.rows]
    page = Page(entries, 0, found.total, "memories")
    text = paged(page, none="", heading="## Global (applies to all projects)").text
    return Block(text, len(entries), found.total, empty=not entries)
