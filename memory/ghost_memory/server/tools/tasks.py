"""Tools for tasks."""

from __future__ import annotations

from ghost_memory import tasks
from ghost_memory.limits import CONTENT_BYTES, TITLE_BYTES
from ghost_memory.server import rows
from ghost_memory.server.answer import Answer, Page, paged, start_of
from ghost_memory.server.desk import Desk, named_project
from ghost_memory.server.losses import Losses, losses
from ghost_memory.values import Task

__all__ = ["complete", "create", "listing", "update"]


def create(desk: Desk, *, project_id: str, title: str, description: str, priority: int) -> Answer:
    """Add a task to a project that exists."""
    made = desk.change(
        lambda writing: tasks.create(
            writing, project_id, title, description=description, priority=priority
        )
    )
    lost = losses((title, TITLE_BYTES), (description, CONTENT_BYTES))
    return _changed(made, f"Task created (id: {made.id})", lost)


def listing(desk: Desk, *, project_id: str, status: str, limit: int, cursor: str) -> Answer:
    """List the tasks of a project, the urgent first."""
    start = start_of(cursor)
    with desk.journal.read() as connection:
        place = named_project(connection, project_id)
        page, total = tasks.listing(
            connection, place.id, statuses=(status,) if status else (), limit=limit, offset=start
        )
    entries = [rows.of_task(each) for each in page]
    return paged(Page(entries, start, total, "tasks"), none="No tasks found.")


def update(
    desk: Desk,
    *,
    task_id: str,
    status: str | None,
    priority: int | None,
    description: str | None,
    project_id: str,
) -> Answer:
    """Change what is given of a task."""
    changed = desk.change(
        lambda writing: tasks.update(
            writing,
            task_id,
            status=status or None,
            priority=priority,
            description=description,
            project=desk.owner(writing.connection, project_id),
        )
    )
    return _changed(changed, "Task updated.", losses((description, CONTENT_BYTES)))


def complete(desk: Desk, *, task_id: str, notes: str, project_id: str) -> Answer:
    """Mark a task as done."""
    done = desk.change(
        lambda writing: tasks.complete(
            writing, task_id, notes=notes, project=desk.owner(writing.connection, project_id)
        )
    )
    return _changed(done, "Task completed.", losses((notes, CONTENT_BYTES)))


def _changed(task: Task, text: str, lost: Losses) -> Answer:
    data = {
        "id": task.id,
        "status": task.status,
        "priority": task.priority,
        **({"completed_at": task.completed_at} if task.completed_at else {}),
        **lost.data,
    }
    return Answer(text + lost.remark, data)
