"""Changing and deleting memories. What a change says anew passes the secret detector as a save does."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from ghost_core.errors import UsageError
from ghost_memory import memories, projects, words
from ghost_memory.journal import Change, Writing
from ghost_memory.limits import (
    CATEGORIES,
    CONTENT_BYTES,
    importance_of,
    kept_tags,
    require_one_of,
    require_text,
)
from ghost_memory.values import GLOBAL, Memory, stored

__all__ = ["Fields", "delete", "pin", "promote", "resolve", "update"]


@dataclass(frozen=True, slots=True)
class Fields:
    """What an update changes; None leaves a field as it is."""

    content: str | None = None
    category: str | None = None
    importance: float | None = None
    tags: Sequence[str] | None = None


def update(
    writing: Writing, named: str, memory_id: str, fields: Fields
) -> tuple[Memory, list[str]]:
    """Change fields of a memory of this project; returns it and the names of what changed.

    A changed text is embedded and linked anew; any change makes a resolved memory live again.
    """
    before = memories.get(writing.connection, memory_id, named)
    values = _values(fields)
    changed = [name for name in values if name != "digest"]
    if {"content", "tags"} & values.keys():
        text = str(values.get("content", before.content))
        values["pairs"] = words.pairs(f"{text} {values.get('tags', stored(before.tags))}")
    _set(writing, before, {**values, "resolved_at": None})
    if "content" in values:
        _forget_vector(writing.connection, before.id)
    if "pairs" in values:
        writing.remove_words()
    content = str(values["content"]) if "content" in values else None
    reason = ", ".join(changed)
    writing.report(Change(before.id, "memory.updated", before.project_id, content, reason))
    return memories.get(writing.connection, before.id), changed


def _values(fields: Fields) -> dict[str, object]:
    """Return the columns that an update sets; raises UsageError `memory.update` where there are none."""
    values: dict[str, object] = {}
    if fields.content is not None:
        kept = require_text("content", fields.content, CONTENT_BYTES)
        values |= {"content": kept.text, "digest": words.digest(kept.text)}
    if fields.category is not None:
        values["category"] = require_one_of("category", fields.category, CATEGORIES)
    if fields.importance is not None:
        values["importance"] = importance_of(fields.importance)
    if fields.tags is not None:
        values["tags"] = stored(kept_tags(fields.tags))
    if not values:
        raise UsageError(
            "update: expected content, category, importance or tags", code="memory.update"
        )
    return values


def pin(writing: Writing, named: str, memory_id: str, *, pinned: bool) -> Memory:
    """Exempt a memory from decay and consolidation, or end that."""
    found = memories.get(writing.connection, memory_id, named)
    writing.connection.execute(
        sa.text("UPDATE memories SET pinned = :pinned WHERE id = :id"),
        {"pinned": pinned, "id": found.id},
    )
    kind = "memory.pinned" if pinned else "memory.unpinned"
    writing.report(Change(found.id, kind, found.project_id))
    return memories.get(writing.connection, found.id)


def promote(writing: Writing, named: str, memory_id: str) -> Memory:
    """Move a memory to the global project, with its id, links and pin.

    Raises UsageError `memory.global` for one that is there already.
    """
    found = memories.get(writing.connection, memory_id, named)
    if found.project_id == GLOBAL:
        raise UsageError(f"memory {found.id}: is global already", code="memory.global")
    projects.ensure(writing, GLOBAL)
    _set(writing, found, {"project_id": GLOBAL})
    writing.report(Change(found.id, "memory.promoted", GLOBAL, reason=f"from {found.project_id}"))
    return memories.get(writing.connection, found.id)


def resolve(writing: Writing, named: str, memory_ids: Iterable[str]) -> list[str]:
    """Mark memories as concluded evidence: still found, no longer shown unasked; returns those marked.

    Pinned ones, conventions and preferences stay as they are.
    """
    marked = []
    for each in memory_ids:
        found = memories.get(writing.connection, each, named)
        if found.pinned or found.resolved_at or found.category in {"convention", "preference"}:
            continue
        _set(writing, found, {"resolved_at": writing.now})
        writing.report(Change(found.id, "memory.resolved", found.project_id))
        marked.append(found.id)
    return marked


def delete(writing: Writing, named: str, memory_id: str) -> Memory:
    """Remove a memory with its vector and links; the entry of it stays."""
    found = memories.get(writing.connection, memory_id, named)
    writing.connection.execute(sa.text("DELETE FROM memories WHERE id = :id"), {"id": found.id})
    writing.remove_words()
    writing.report(Change(found.id, "memory.deleted", found.project_id))
    return found


def _set(writing: Writing, memory: Memory, values: dict[str, object]) -> None:
    named = ", ".join(f"{name} = :{name}" for name in values)
    writing.connection.execute(
        sa.text(f"UPDATE memories SET {named}, updated_at = :now WHERE id = :id"),
        {**values, "now": writing.now, "id": memory.id},
    )


def _forget_vector(connection: Connection, memory_id: str) -> None:
    for table in ("memory_embeddings", "link_scans"):
        connection.execute(sa.text(f"DELETE FROM {table} WHERE memory_id = :id"), {"id": memory_id})
