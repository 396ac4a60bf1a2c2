"""Tools for the memories of one project."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ghost_memory import changing, memories, saving
from ghost_memory.asking import Found, Query
from ghost_memory.changing import Fields
from ghost_memory.journal import Writing
from ghost_memory.limits import CONTENT_BYTES
from ghost_memory.saving import Note
from ghost_memory.server import rows
from ghost_memory.server.answer import Answer, Entry, Page, paged, start_of
from ghost_memory.server.desk import Desk, named_project, project_to_write
from ghost_memory.server.losses import losses
from ghost_memory.values import Memory, Saved

__all__ = [
    "delete",
    "found",
    "keep",
    "listing",
    "pin",
    "promote",
    "save",
    "saved",
    "search",
    "update",
]


def search(
    desk: Desk, *, project_id: str, query: str, category: str, limit: int, cursor: str
) -> Answer:
    """Search one project and what all share."""
    start = start_of(cursor)
    with desk.journal.read() as connection:
        place = named_project(connection, project_id)
        asked = Query(query, place.id, category, limit, start)
        result = desk.parts.search(connection, asked, now=desk.journal.now())
    return found(result, start, own=place.id)


def found(result: Found, start: int, *, own: str | None) -> Answer:
    """Return what a search found; a row that is not of the project asked names its own."""
    entries = [rows.of_hit(hit, labelled=hit.memory.project_id != own) for hit in result.hits]
    known = {
        "verdict": result.verdict,
        **({"reason": result.reason} if result.reason else {}),
        **({"withheld": result.withheld} if result.withheld else {}),
        **({"degraded": result.degraded} if result.degraded else {}),
    }
    none = "No matching memories found." + (f" {result.reason}" if result.reason else "")
    answer = paged(Page(entries, start, result.total, "memories"), none=none, more=known)
    said = [answer.text]
    if result.hits and result.verdict == "weak":
        said.append(f"(weak match: {result.reason})" if result.reason else "(weak match)")
    if result.degraded:
        said.append(f"(keywords only: {result.degraded})")
    return Answer("\n".join(said), answer.data)


def save(
    desk: Desk,
    *,
    project_id: str,
    content: str,
    category: str,
    importance: float,
    tags: Sequence[str],
    supersedes: Sequence[str],
) -> Answer:
    """Keep a text in a project, which is made if it is new."""
    note = Note(content, category, importance, tags, supersedes=supersedes)
    return keep(desk, note, lambda each: project_to_write(each, project_id).id, "Memory saved")


def keep(desk: Desk, note: Note, project: Callable[[Writing], str], done: str) -> Answer:
    """Keep a note in the project with this id; says that it is done, and what the save did."""
    result = desk.change(lambda writing: saving.save(writing, project(writing), note))
    desk.parts.saved()
    return saved(result, done)


def saved(result: Saved, done: str) -> Answer:
    """Return what a save did."""
    parts = [f"{done} (id: {result.id})"]
    if result.existing:
        parts.append("existing: the same text was there")
    if result.twin:
        parts.append(f"linked as a likely duplicate of {result.twin} (score {result.likeness:.2f})")
    if result.superseded:
        parts.append(f"replaces {', '.join(result.superseded)}")
    text = ", ".join(parts)
    if result.shortened:
        text += f" (content truncated to {CONTENT_BYTES} bytes)"
    if result.removed:
        text += f" ({result.removed} secret{'s' * (result.removed > 1)} removed before saving)"
    data = {
        "id": result.id,
        "existing": result.existing,
        "shortened": result.shortened,
        **({"twin": result.twin, "likeness": round(result.likeness, 3)} if result.twin else {}),
        **({"superseded": list(result.superseded)} if result.superseded else {}),
        **({"removed_secrets": result.removed} if result.removed else {}),
    }
    return Answer(text, data)


def listing(desk: Desk, *, project_id: str, category: str, limit: int, cursor: str) -> Answer:
    """List a project's memories; with a category, those that all share too."""
    start = start_of(cursor)
    with desk.journal.read() as connection:
        place = named_project(connection, project_id)
        page, total = memories.listing(
            connection, place.id, category=category, limit=limit, offset=start
        )
    entries = [_row(each, place.id) for each in page]
    return paged(Page(entries, start, total, "memories"), none="No memories found.")


def _row(memory: Memory, own: str) -> Entry:
    project = "" if memory.project_id == own else memory.project_id
    return rows.of_memory(memory, project=project, note="resolved" if memory.resolved_at else "")


def delete(desk: Desk, *, project_id: str, memory_id: str) -> Answer:
    """Remove a memory of a project."""
    gone = desk.change(lambda writing: changing.delete(writing, project_id, memory_id))
    return Answer("Memory deleted.", {"id": gone.id, "deleted": True})


def update(
    desk: Desk,
    *,
    project_id: str,
    memory_id: str,
    content: str | None,
    category: str | None,
    importance: float | None,
    tags: Sequence[str] | None,
) -> Answer:
    """Change fields of a memory of a project."""
    fields = Fields(content, category or None, importance, tags)
    changed, names = desk.change(
        lambda writing: changing.update(writing, project_id, memory_id, fields)
    )
    if "content" in names:
        desk.parts.saved()
    lost = losses((content, CONTENT_BYTES))
    text = f"Memory updated (id: {changed.id}): {', '.join(_plain(names))}.{lost.remark}"
    data = {"id": changed.id, "changed": _plain(names), **lost.data}
    return Answer(text, data)


def _plain(names: Sequence[str]) -> list[str]:
    """Name the fields that a caller gave, not those that follow from them."""
    return [name for name in names if name in {"content", "category", "importance", "tags"}]


def promote(desk: Desk, *, project_id: str, memory_id: str) -> Answer:
    """Move a memory to what all projects share."""
    moved = desk.change(lambda writing: changing.promote(writing, project_id, memory_id))
    data = {"id": moved.id, "promoted": True}
    text = f"Memory promoted to global (id: {moved.id})."
    return Answer(text, data)


def pin(desk: Desk, *, project_id: str, memory_id: str, pinned: bool) -> Answer:
    """Exempt a memory from decay and consolidation, or end that."""
    done = desk.change(lambda writing: changing.pin(writing, project_id, memory_id, pinned=pinned))
    text = "Memory pinned." if pinned else "Memory unpinned."
    return Answer(text, {"id": done.id, "pinned": done.pinned})
