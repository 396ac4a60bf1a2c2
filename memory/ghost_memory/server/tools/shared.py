"""Tools across projects: search everywhere, and save what all projects share."""

from __future__ import annotations

from collections.abc import Sequence

from ghost_memory import projects
from ghost_memory.asking import Query
from ghost_memory.saving import Note
from ghost_memory.server.answer import Answer, start_of
from ghost_memory.server.desk import Desk
from ghost_memory.server.tools.memories import found, keep
from ghost_memory.values import GLOBAL

__all__ = ["save_global", "search_all"]


def search_all(desk: Desk, *, query: str, limit: int, cursor: str) -> Answer:
    """Search every project; each row names its own."""
    start = start_of(cursor)
    with desk.journal.read() as connection:
        asked = Query(query, None, "", limit, start)
        result = desk.parts.search(connection, asked, now=desk.journal.now())
    return found(result, start, own=None)


def save_global(
    desk: Desk,
    *,
    content: str,
    category: str,
    importance: float,
    tags: Sequence[str],
    supersedes: Sequence[str],
) -> Answer:
    """Keep a text that every project shows."""
    note = Note(content, category, importance, tags, supersedes=supersedes)
    return keep(desk, note, lambda each: projects.ensure(each, GLOBAL).id, "Global memory saved")
