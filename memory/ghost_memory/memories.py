"""Saving, changing and deleting memories. Nothing is overwritten by a save, and no likely twin is dropped.

The same text saved again is the row that is there; a likely twin is linked as `duplicate`. Every text passes
the secret detector before it is stored or indexed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from ghost_core.errors import UsageError
from ghost_memory import ids, links, projects, words
from ghost_memory.journal import Change, Writing
from ghost_memory.limits import (
    CATEGORIES,
    CONTENT_BYTES,
    LIST_LIMIT,
    SOURCES,
    Fit,
    importance_of,
    kept_tags,
    limit_of,
    offset_of,
    require_one_of,
    require_text,
    tags_of,
)
from ghost_memory.twins import twin
from ghost_memory.values import GLOBAL, Memory, Saved, listed, stored

__all__ = [
    "Fields",
    "Note",
    "delete",
    "get",
    "listing",
    "pin",
    "promote",
    "resolve",
    "save",
    "update",
]

TWIN_SHARE: Final = 0.2
COLUMNS: Final = (
    "id, project_id, category, content, importance, tags, pinned, source, created_at, updated_at, seq,"
    " access_count, resolved_at, valid_until, agent, session_id"
)


@dataclass(frozen=True, slots=True)
class Note:
    """What is to be kept; `supersedes` names memories that this one replaces."""

    content: str
    category: str = "fact"
    importance: float = 0.7
    tags: Sequence[str] = ()
    source: str = "mcp"
    supersedes: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Fields:
    """What an update changes; None leaves a field as it is."""

    content: str | None = None
    category: str | None = None
    importance: float | None = None
    tags: Sequence[str] | None = None


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


def update(
    writing: Writing, named: str, memory_id: str, fields: Fields
) -> tuple[Memory, list[str]]:
    """Change fields of a memory of this project; returns it and the names of what changed.

    A changed text is embedded and linked anew; any change makes a resolved memory live again.
    """
    before = get(writing.connection, memory_id, named)
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
    return get(writing.connection, before.id), changed


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
    found = get(writing.connection, memory_id, named)
    writing.connection.execute(
        sa.text("UPDATE memories SET pinned = :pinned WHERE id = :id"),
        {"pinned": pinned, "id": found.id},
    )
    kind = "memory.pinned" if pinned else "memory.unpinned"
    writing.report(Change(found.id, kind, found.project_id))
    return get(writing.connection, found.id)


def promote(writing: Writing, named: str, memory_id: str) -> Memory:
    """Move a memory to the global project, with its id, links and pin.

    Raises UsageError `memory.global` for one that is there already.
    """
    found = get(writing.connection, memory_id, named)
    if found.project_id == GLOBAL:
        raise UsageError(f"memory {found.id}: is global already", code="memory.global")
    projects.ensure(writing, GLOBAL)
    _set(writing, found, {"project_id": GLOBAL})
    writing.report(Change(found.id, "memory.promoted", GLOBAL, reason=f"from {found.project_id}"))
    return get(writing.connection, found.id)


def resolve(writing: Writing, named: str, memory_ids: Iterable[str]) -> list[str]:
    """Mark memories as concluded evidence: still found, no longer shown unasked; returns those marked.

    Pinned ones, conventions and preferences stay as they are.
    """
    marked = []
    for each in memory_ids:
        found = get(writing.connection, each, named)
        if found.pinned or found.resolved_at or found.category in {"convention", "preference"}:
            continue
        _set(writing, found, {"resolved_at": writing.now})
        writing.report(Change(found.id, "memory.resolved", found.project_id))
        marked.append(found.id)
    return marked


def delete(writing: Writing, named: str, memory_id: str) -> Memory:
    """Remove a memory with its vector and links; the entry of it stays."""
    found = get(writing.connection, memory_id, named)
    writing.connection.execute(sa.text("DELETE FROM memories WHERE id = :id"), {"id": found.id})
    writing.remove_words()
    writing.report(Change(found.id, "memory.deleted", found.project_id))
    return found


def get(connection: Connection, memory_id: str, named: str | None = None) -> Memory:
    """Return a memory by its id or a unique beginning of 4 or more; of this project, if one is named.

    Raises NotFoundError `memory.unknown` and `memory.project`, UsageError `memory.ambiguous`.
    """
    project = "" if named is None else projects.require(connection, named).id
    full = ids.full(connection, "memories", memory_id, project)
    row = connection.execute(
        sa.text(f"SELECT {COLUMNS} FROM memories WHERE id = :id"),
        {"id": full},
    ).mappings()
    return of_row(row.one())


def listing(
    connection: Connection,
    project: str | None,
    *,
    category: str = "",
    limit: int = 30,
    offset: int = 0,
) -> tuple[list[Memory], int]:
    """Return memories of a project (None: all), the most important first, and how many there are.

    With a category those of the global project come along.
    """
    if category:
        require_one_of("category", category, CATEGORIES)
    places = (":project", ":shared") if category else (":project",)
    where = "1 = 1" if project is None else f"project_id IN ({', '.join(places)})"
    if category:
        where += " AND category = :category"
    values = {"project": project, "shared": GLOBAL, "category": category}
    rows = connection.execute(
        sa.text(
            f"SELECT {COLUMNS} FROM memories WHERE {where}"
            " ORDER BY importance DESC, seq DESC LIMIT :limit OFFSET :offset"
        ),
        {**values, "limit": limit_of(limit, 30), "offset": offset_of(offset)},
    )
    found = [of_row(row) for row in rows.mappings()]
    counted = sa.text(f"SELECT count(*) FROM memories WHERE {where}")
    return found, int(connection.execute(counted, values).scalar_one())


def of_row(row: sa.RowMapping) -> Memory:
    """Return the value of a row with `COLUMNS`."""
    values = {**row}
    values["tags"] = listed(values["tags"])
    values["pinned"] = bool(values["pinned"])
    return Memory(**values)


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
    before = get(writing.connection, memory_id)
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
    project = get(writing.connection, newer).project_id
    replaced = []
    for each in older:
        found = get(writing.connection, each, project)
        if found.id != newer and found.id not in replaced:
            links.link(writing, newer, found.id, "supersedes", strength=1.0, source="manual")
            replaced.append(found.id)
    return tuple(replaced)


def _set(writing: Writing, memory: Memory, values: dict[str, object]) -> None:
    named = ", ".join(f"{name} = :{name}" for name in values)
    writing.connection.execute(
        sa.text(f"UPDATE memories SET {named}, updated_at = :now WHERE id = :id"),
        {**values, "now": writing.now, "id": memory.id},
    )


def _forget_vector(connection: Connection, memory_id: str) -> None:
    for table in ("memory_embeddings", "link_scans"):
        connection.execute(sa.text(f"DELETE FROM {table} WHERE memory_id = :id"), {"id": memory_id})
