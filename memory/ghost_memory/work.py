"""Tasks and decisions. A decision has a companion memory, so that search finds it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from ghost_core.errors import GhostError, UsageError
from ghost_memory import ids, links, projects, saving
from ghost_memory.journal import Change, Writing
from ghost_memory.limits import (
    ALTERNATIVES,
    CONTENT_BYTES,
    DECISION_STATES,
    NEW_DECISION_STATES,
    TASK_STATES,
    TITLE_BYTES,
    fit,
    kept_tags,
    limit_of,
    offset_of,
    require_one_of,
    require_text,
)
from ghost_memory.saving import Note
from ghost_memory.values import Decision, Recorded, Task, listed, stored

DECISION_IMPORTANCE: Final = 0.9
_TASK: Final = (
    "id, project_id, title, description, status, priority, notes, created_at, updated_at,"
    " completed_at"
)
_DECISION: Final = (
    "id, project_id, title, decision, rationale, alternatives, status, superseded_by, tags, memory_id,"
    " created_at, updated_at"
)


def create_task(
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
            "description": _kept(description),
            "priority": _priority(priority),
            "now": writing.now,
        },
    )
    writing.report(Change(made, "task.created", project.id, heading))
    return task(writing.connection, made)


def update_task(
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
    before = task(writing.connection, task_id, project)
    values: dict[str, object] = {}
    if status is not None:
        values["status"] = require_one_of("status", status, TASK_STATES)
        done = status == "done"
        values["completed_at"] = (before.completed_at or writing.now) if done else None
    if priority is not None:
        values["priority"] = _priority(priority)
    if description is not None:
        values["description"] = _kept(description)
    if notes is not None:
        values["notes"] = _kept(notes)
    if not values:
        raise UsageError("update: expected status, priority or description", code="task.update")
    named = ", ".join(f"{name} = :{name}" for name in values)
    writing.connection.execute(
        sa.text(f"UPDATE tasks SET {named}, updated_at = :now WHERE id = :id"),
        {**values, "now": writing.now, "id": before.id},
    )
    changed = ", ".join(values)
    writing.report(Change(before.id, "task.updated", before.project_id, reason=changed))
    return task(writing.connection, before.id)


def complete_task(writing: Writing, task_id: str, *, notes: str = "", project: str = "") -> Task:
    """Mark a task as done, of this project if one is given; notes are added to those it has."""
    before = task(writing.connection, task_id, project)
    joined = "\n".join(each for each in (before.notes, notes.strip()) if each)
    return update_task(writing, before.id, status="done", notes=joined if notes else None)


def task(connection: Connection, task_id: str, project: str = "") -> Task:
    """Return a task by its id or a unique beginning of it; raises as `ids.full`."""
    full = ids.full(connection, "tasks", task_id, project)
    statement = sa.text(f"SELECT {_TASK} FROM tasks WHERE id = :id")
    return Task(**connection.execute(statement, {"id": full}).mappings().one())


def tasks(
    connection: Connection,
    project: str,
    *,
    statuses: Sequence[str] = (),
    limit: int = 30,
    offset: int = 0,
) -> tuple[list[Task], int]:
    """Return the tasks of a project, urgent first, then newest, and how many there are."""
    wanted = [require_one_of("status", each, TASK_STATES) for each in statuses] or [*TASK_STATES]
    rows, total = _page(
        connection,
        "tasks",
        _TASK,
        "priority, seq DESC",
        {"project": project, "wanted": wanted},
        limit=limit_of(limit, 30),
        offset=offset,
    )
    return [Task(**row) for row in rows], total


def record_decision(  # the parts of one decision
    writing: Writing,
    named: str,
    *,
    title: str,
    decision: str,
    rationale: str,
    alternatives: Sequence[str] = (),
    tags: Sequence[str] = (),
    supersedes: str = "",
    status: str = "active",
) -> Recorded:
    """Keep a decision and the memory that speaks of it, both or neither; `revisit` holds for now.

    What a `supersedes` cannot do is a warning, for the decision itself is worth more.
    """
    require_one_of("status", status, NEW_DECISION_STATES)
    project = projects.require(writing.connection, named)
    parts = (
        require_text("title", title, TITLE_BYTES),
        require_text("decision", decision, CONTENT_BYTES),
        require_text("rationale", rationale, CONTENT_BYTES),
    )
    heading, text, reasons = (each.text for each in parts)
    said = f"{heading}: {text}. Rationale: {reasons}"
    note = Note(said, "decision", DECISION_IMPORTANCE, tags, "decision_log")
    saved = saving.save(writing, project.id, note)
    made = ids.new()
    writing.connection.execute(
        sa.text(
            "INSERT INTO decisions (id, project_id, title, decision, alternatives, rationale, tags,"
            " status, memory_id, created_at, updated_at) VALUES (:id, :project, :title, :decision,"
            " :alternatives, :rationale, :tags, :status, :memory, :now, :now)"
        ),
        {
            "id": made,
            "project": project.id,
            "title": heading,
            "decision": text,
            "alternatives": stored(
                [fit(each, TITLE_BYTES).text for each in alternatives[:ALTERNATIVES]]
            ),
            "rationale": reasons,
            "tags": stored(kept_tags(tags)),
            "status": status,
            "memory": saved.id,
            "now": writing.now,
        },
    )
    writing.report(Change(made, "decision.recorded", project.id, text))
    warning = _supersede(writing, made, saved.id, project.id, supersedes) if supersedes else ""
    return Recorded(made, saved.id, warning, sum(each.removed for each in parts))


def decision(connection: Connection, decision_id: str, project: str = "") -> Decision:
    """Return a decision by its id or a unique beginning of it; raises as `ids.full`."""
    full = ids.full(connection, "decisions", decision_id, project)
    statement = sa.text(f"SELECT {_DECISION} FROM decisions WHERE id = :id")
    return _decision(connection.execute(statement, {"id": full}).mappings().one())


def decisions(
    connection: Connection, project: str, *, status: str = "", limit: int = 20, offset: int = 0
) -> tuple[list[Decision], int]:
    """Return the newest decisions, of these the superseded ones last, and how many there are."""
    wanted = [require_one_of("status", status, DECISION_STATES)] if status else [*DECISION_STATES]
    rows, total = _page(
        connection,
        "decisions",
        _DECISION,
        "seq DESC",
        {"project": project, "wanted": wanted},
        limit=limit_of(limit, 20),
        offset=offset,
    )
    found = sorted((_decision(row) for row in rows), key=lambda each: each.status == "superseded")
    return found, total


def _page(  # the parts of one statement
    connection: Connection,
    table: str,
    columns: str,
    order: str,
    values: Mapping[str, object],
    *,
    limit: int,
    offset: int,
) -> tuple[Sequence[sa.RowMapping], int]:
    """Return the rows of a project in the wanted states, a page of them, and how many there are."""
    where = "WHERE project_id = :project AND status IN :wanted"
    page = _expanding(
        f"SELECT {columns} FROM {table} {where} ORDER BY {order} LIMIT :limit OFFSET :offset"
    )
    shown = {**values, "limit": limit, "offset": offset_of(offset)}
    total = _expanding(f"SELECT count(*) FROM {table} {where}")
    counted = connection.execute(total, values).scalar_one()
    return connection.execute(page, shown).mappings().all(), int(counted)


def _supersede(writing: Writing, made: str, memory: str, project: str, old: str) -> str:
    """Mark the older decision and link the memories of both; returns what went wrong."""
    try:
        before = decision(writing.connection, old, project)
    except GhostError as error:
        return error.message
    writing.connection.execute(
        sa.text(
            "UPDATE decisions SET status = 'superseded', superseded_by = :new, updated_at = :now"
            " WHERE id = :old"
        ),
        {"new": made, "old": before.id, "now": writing.now},
    )
    writing.report(Change(before.id, "decision.superseded", project, reason=made))
    if before.memory_id and before.memory_id != memory:
        links.link(writing, memory, before.memory_id, "supersedes", strength=1.0, source="manual")
    return ""


def _decision(row: sa.RowMapping) -> Decision:
    values = {**row}
    values["alternatives"], values["tags"] = listed(values["alternatives"]), listed(values["tags"])
    return Decision(**values)


def _kept(text: str) -> str:
    return fit(text, CONTENT_BYTES).text


def _priority(value: int) -> int:
    return value if value in range(5) else 2


def _expanding(statement: str) -> sa.TextClause:
    return sa.text(statement).bindparams(sa.bindparam("wanted", expanding=True, type_=sa.Text()))
