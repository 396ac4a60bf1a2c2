"""Reading memories: one by its id, or a page of those of a project."""

from __future__ import annotations

from typing import Final

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from ghost_memory import ids, projects
from ghost_memory.limits import CATEGORIES, require_one_of
from ghost_memory.paging import Listing
from ghost_memory.values import GLOBAL, Memory, listed

__all__ = ["COLUMNS", "get", "listing", "of_row"]

COLUMNS: Final = (
    "id, project_id, category, content, importance, tags, pinned, source, created_at, updated_at, seq,"
    " access_count, resolved_at, valid_until, agent, session_id"
)

_MEMORIES: Final = Listing("memories", COLUMNS, "importance DESC, seq DESC", 30)


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
    limit: int = _MEMORIES.size,
    offset: int = 0,
) -> tuple[list[Memory], int]:
    """Return memories of a project (None: all), the most important first, and how many there are.

    With a category those of the global project come along.
    """
    wheres, values = [], dict[str, object]()
    if project is not None:
        wheres.append("project_id IN :projects")
        values["projects"] = [project, GLOBAL] if category else [project]
    if category:
        wheres.append("category = :category")
        values["category"] = require_one_of("category", category, CATEGORIES)
    where = " AND ".join(wheres) or "1 = 1"
    rows, total = _MEMORIES.page(connection, where, values, limit=limit, offset=offset)
    return [of_row(row) for row in rows], total


def of_row(row: sa.RowMapping) -> Memory:
    """Return the value of a row with `COLUMNS`."""
    values = {**row}
    values["tags"] = listed(values["tags"])
    values["pinned"] = bool(values["pinned"])
    return Memory(**values)
