"""Tasks of a project: made, changed, listed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from ghost_core.errors import UsageError
from ghost_memory import ids, projects
from ghost_memory.journal import Change, Writing
from ghost_memory.limits import (
    CONTENT_BYTES,
    TASK_STATES,
    TITLE_BYTES,
    fit,
    require_one_of,
    require_text,
)
from ghost_memory.paging import Listing
from ghost_memory.values import Task

__all__ = ["complete", "create", "get", "listing", "update"]

_TASKS: Final = Listing(
    "tasks",
    "id, project_id, title, description, status, priority, notes, created_at, updated_at,"
    " completed_at",
    "priority, seq DESC",
    30,
)


def create(
    writing: Writing, named: str, title: str, *, description: str = "", priority: int = 2
) -> Task:
    """Add a task to a project that exists; a priority outside 0 to 4 becomes 2."""
    project = projects.require(writing.connection, named)
    made = ids.new()
    heading = require_text("title", title, TITLE_BYTES).text
    writing.connection.execute(
        sa.text(
            "INSERT INTO tasks (id, project_id, title, description, priority, created_at, updated_at)"
            " VALUES (:id, :project, :title, :description, :priority, :now, :now)"
        ),
        {
            "id": made,
            "project": project.id,
            "title": heading,
            "description": _text(description),
            "priority": _priority(priority),
            "now": writing.now,
        },
    )
    writing.report(Change(made, "task.created", project.id, heading))
    return get(writing.connection, made)


def update(
    writing: Writing,
    task_id: str,
    *,
    status: str | None = None,
    priority: int | None = None,
    description: str | None = None,
    notes: str | None = None,
    project: str = "",
) -> Task:
    """Change what is given of a task, of this project if one is given.

    Done sets the time of completion, anything else clears it.
    """
    before = get(writing.connection, task_id, project)
    values: dict[str, object] = {}
    if status is not None:
        values["status"] = require_one_of("status", status, TASK_STATES)
        done = status == "done"
        values["completed_at"] = (before.completed_at or writing.now) if done else None
    if priority is not None:
        values["priority"] = _priority(priority)
    if description is not None:
        values["description"] = _text(description)
    if notes is not None:
        values["notes"] = _text(notes)
    if not values:
        raise UsageError("update: expected status, priority or description", code="task.update")
    named = ", ".join(f"{name} = :{name}" for name in values)
    writing.connection.execute(
        sa.text(f"UPDATE tasks SET {named}, updated_at = :now WHERE id = :id"),
        {**values, "now": writing.now, "id": before.id},
    )
    changed = ", ".join(values)
    writing.report(Change(before.id, "task.updated", before.project_id, reason=changed))
    return get(writing.connection, before.id)


def complete(writing: Writing, task_id: str, *, notes: str = "", project: str = "") -> Task:
    """Mark a task as done, of this project if one is given; notes are added to those it has."""
    before = get(writing.connection, task_id, project)
    joined = "\n".join(each for each in (before.notes, notes.strip()) if each)
    return update(writing, before.id, status="done", notes=joined if notes else None)


def get(connection: Connection, task_id: str, project: str = "") -> Task:
    """Return a task by its id or a unique beginning of it; raises as `ids.full`."""
    full = ids.full(connection, "tasks", task_id, project)
    statement = sa.text(f"SELECT {_TASKS.columns} FROM tasks WHERE id = :id")
    return Task(**connection.execute(statement, {"id": full}).mappings().one())


def listing(
    connection: Connection,
    project: str,
    *,
    statuses: Sequence[str] = (),
    limit: int = _TASKS.size,
    offset: int = 0,
) -> tuple[list[Task], int]:
    """Return the tasks of a project, urgent first, then newest, and how many there are."""
    wanted = [require_one_of("status", each, TASK_STATES) for each in statuses] or [*TASK_STATES]
    where, values = (
        "project_id = :project AND status IN :wanted",
        {"project": project, "wanted": wanted},
    )
    rows, total = _TASKS.page(connection, where, values, limit=limit, offset=offset)
    return [Task(**row) for row in rows], total


def _text(text: str) -> str:
    return fit(text, CONTENT_BYTES).text


def _priority(value: int) -> int:
    return value if value in range(5) else 2
