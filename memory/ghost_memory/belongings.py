"""All that belongs to a project: counted, merged into what belongs to another, deleted with its project."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from ghost_core.errors import UsageError
from ghost_memory import binding, projects
from ghost_memory.journal import Change, Writing
from ghost_memory.values import Project

__all__ = ["OWNED", "counts", "delete", "merge"]

OWNED: Final = ("memories", "tasks", "decisions", "memory_snapshots", "project_checkouts")
_STATE: Final = (
    "INSERT INTO ghost_state (project_id, interaction_count, learned_context, updated_at)"
    " SELECT :new, interaction_count, learned_context, :now FROM ghost_state"
    " WHERE project_id = :old ON CONFLICT (project_id) DO UPDATE SET"
    " interaction_count = ghost_state.interaction_count + excluded.interaction_count,"
    " learned_context = trim(ghost_state.learned_context || :line || excluded.learned_context,"
    " :line)"
)


def counts(connection: Connection, project: Project) -> Mapping[str, int]:
    """Return how many rows of each table belong to a project."""
    found = {
        table: _count(connection, f"{table} WHERE project_id = :id", project.id)
        for table in ("memories", "tasks", "decisions", "memory_snapshots", "token_usage")
    }
    ends = "(SELECT id FROM memories WHERE project_id = :id)"
    links = f"memory_links WHERE source_id IN {ends} OR target_id IN {ends}"
    return {**found, "memory_links": _count(connection, links, project.id)}


def merge(writing: Writing, old: str, new: str) -> Mapping[str, int]:
    """Move everything of one project into another and remove it; returns what moved, by table.

    Ids, links, pins and snapshots survive; learned context is joined. Raises DeniedError
    `project.protected`, UsageError `project.same`.
    """
    connection = writing.connection
    gone, kept = projects.own(connection, old), projects.own(connection, new)
    if gone.id == kept.id:
        raise UsageError(
            f"project {gone.name!r}: cannot be merged into itself", code="project.same"
        )
    moved = counts(connection, gone)
    _move(writing, gone.id, kept.id)
    path = None if gone.path == gone.id else gone.path
    binding.register(writing, kept, path, kept.remote or gone.remote)
    writing.report(Change(gone.id, "project.merged", kept.id, reason=f"into {kept.name}"))
    return moved


def _move(writing: Writing, old: str, new: str) -> None:
    """Give the one project what is the other's, which goes."""
    ends = {"old": old, "new": new, "now": writing.now, "line": "\n"}
    given = [
        f"UPDATE {each} SET project_id = :new WHERE project_id = :old"
        for each in (*OWNED, "token_usage")
    ]
    for statement in (*given, _STATE, "DELETE FROM projects WHERE id = :old"):
        writing.connection.execute(sa.text(statement), ends)


def delete(writing: Writing, named: str) -> Mapping[str, int]:
    """Remove a project with everything under it; returns what went. Raises DeniedError for `_global`."""
    project = projects.own(writing.connection, named)
    found = counts(writing.connection, project)
    for statement in (
        "DELETE FROM token_usage WHERE project_id = :id",
        "DELETE FROM projects WHERE id = :id",
    ):
        writing.connection.execute(sa.text(statement), {"id": project.id})
    writing.remove_words()
    writing.report(Change(project.id, "project.deleted", project.id))
    return found


def _count(connection: Connection, of: str, value: str) -> int:
    return int(
        connection.execute(sa.text(f"SELECT count(*) FROM {of}"), {"id": value}).scalar_one()
    )
