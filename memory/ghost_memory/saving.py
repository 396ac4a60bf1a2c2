"""Saving a memory. Nothing is overwritten by a save, and no likely twin is dropped.

The same text saved again is the row that is there; a likely twin is linked as `duplicate`. Every text passes
the secret detector before it is stored or indexed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from ghost_core.errors import UsageError
from ghost_memory import ids, links, memories, projects, words
from ghost_memory.journal import Change, Writing
from ghost_memory.limits import (
    CATEGORIES,
    CONTENT_BYTES,
    LIST_LIMIT,
    SOURCES,
    Fit,
    importance_of,
    kept_tags,
    require_one_of,
    require_text,
    tags_of,
)
from ghost_memory.twins import twin
from ghost_memory.values import Saved, stored

__all__ = ["Note", "save"]

TWIN_SHARE: Final = 0.2


@dataclass(frozen=True, slots=True)
class Note:
    """What is to be kept; `supersedes` names memories that this one replaces."""

    content: str
    category: str = "fact"
    importance: float = 0.7
    tags: Sequence[str] = ()
    source: str = "mcp"
    supersedes: Sequence[str] = ()


def save(writing: Writing, named: str, note: Note) -> Saved:
    """Keep a text in a project, which is made if it is new.

    Raises UsageError for an unknown category or an empty text, NotFoundError for an unknown `supersedes`.
    """
    require_one_of("category", note.category, CATEGORIES)
    require_one_of("source", note.source, SOURCES)
    kept = require_text("content", note.content, CONTENT_BYTES)
    project = projects.ensure(writing, named).id
    same = _same(writing.connection, project, note.category, words.digest(kept.text))
    if same is not None:
        _strengthen(writing, same, note.importance)
        _add_tags(writing, same, note.tags)
        writing.report(Change(same, "memory.seen", project))
        replaced = _replace(writing, same, note.supersedes)
        return Saved(same, True, "", 0.0, kept.shortened, kept.removed, replaced)
    likely, score = twin(writing.connection, project, note.category, kept.text)
    made = _insert(writing, project, note, kept)
    writing.report(Change(made, "memory.saved", project, kept.text))
    if likely:
        _strengthen(writing, likely, note.importance)
        links.link(writing, made, likely, "duplicate", strength=score, source="auto")
    replaced = _replace(writing, made, note.supersedes)
    return Saved(made, False, likely, score, kept.shortened, kept.removed, replaced)


def _insert(writing: Writing, project: str, note: Note, kept: Fit) -> str:
    made = ids.new()
    tags = stored(kept_tags(note.tags))
    writing.connection.execute(
        sa.text(
            "INSERT INTO memories (id, project_id, category, content, importance, source, tags, pinned,"
            " created_at, updated_at, pairs, digest, agent, session_id) VALUES (:id, :project, :category,"
            " :content, :importance, :source, :tags, :pinned, :now, :now, :pairs, :digest, :agent, :session)"
        ),
        {
            "id": made,
            "project": project,
            "category": note.category,
            "content": kept.text,
            "importance": importance_of(note.importance),
            "source": note.source,
            "tags": tags,
            "pinned": False,
            "now": writing.now,
            "pairs": words.pairs(f"{kept.text} {tags}"),
            "digest": words.digest(kept.text),
            "agent": writing.who.host or None,
            "session": writing.who.session or None,
        },
    )
    return made


def _same(connection: Connection, project: str, category: str, digest: str) -> str | None:
    found = connection.execute(
        sa.text(
            "SELECT id FROM memories WHERE project_id = :project AND digest = :digest"
            " AND category = :category ORDER BY seq LIMIT 1"
        ),
        {"project": project, "digest": digest, "category": category},
    ).scalar()
    return None if found is None else str(found)


def _strengthen(writing: Writing, memory_id: str, importance: float) -> None:
    """Count that something was said again; neither text nor `updated_at` of the older row change."""
    writing.connection.execute(
        sa.text(
            "UPDATE memories SET importance = CASE WHEN importance + :more > 1.0 THEN 1.0"
            " ELSE importance + :more END,"
            " access_count = access_count + 1, resolved_at = NULL WHERE id = :id"
        ),
        {"more": TWIN_SHARE * importance_of(importance), "id": memory_id},
    )


def _add_tags(writing: Writing, memory_id: str, tags: Sequence[str]) -> None:
    """Keep the tags with which a text is said again beside those it has."""
    before = memories.get(writing.connection, memory_id)
    joined = stored(tags_of([*before.tags, *kept_tags(tags)]))
    if joined != stored(before.tags):
        values = {"tags": joined, "pairs": words.pairs(f"{before.content} {joined}")}
        writing.connection.execute(
            sa.text("UPDATE memories SET tags = :tags, pairs = :pairs WHERE id = :id"),
            {**values, "id": memory_id},
        )


def _replace(writing: Writing, newer: str, older: Sequence[str]) -> tuple[str, ...]:
    """Link what a memory replaces. It must be of the same project: what all share is theirs, not one's."""
    if len(older) > LIST_LIMIT:
        raise UsageError(
            f"supersedes: expected at most {LIST_LIMIT} ids, found {len(older)}",
            code="memory.supersedes",
        )
    if not older:
        return ()
    project = memories.get(writing.connection, newer).project_id
    replaced = []
    for each in older:
        found = memories.get(writing.connection, each, project)
        if found.id != newer and found.id not in replaced:
            links.link(writing, newer, found.id, "supersedes", strength=1.0, source="manual")
            replaced.append(found.id)
    return tuple(replaced)
