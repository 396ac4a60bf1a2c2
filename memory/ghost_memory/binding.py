"""Binding a directory to a project: it, and what lies below, is found as that project from then on."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from ghost_core.errors import UsageError
from ghost_memory import grounds, projects
from ghost_memory.checkout import Checkout
from ghost_memory.journal import Change, Writing
from ghost_memory.limits import shown
from ghost_memory.passive import asking
from ghost_memory.values import Project
from ghost_memory.whereabouts import by_path, chosen

__all__ = ["bind", "register"]

_CHECK_OUT: Final = (
    "INSERT INTO project_checkouts (path, project_id, bound_at) VALUES (:path, :id, :now)"
    " ON CONFLICT (path) DO NOTHING"
)
_REGISTER: Final = (
    "UPDATE projects SET path = CASE WHEN path = id THEN coalesce(:path, path) ELSE path END,"
    " repo_remote = coalesce(:remote, repo_remote), updated_at = :now WHERE id = :id"
)


def bind(writing: Writing, named: str, directory: Path) -> Project:
    """Say that a directory is a checkout of a project; it and what lies below is found as that project.

    Raises DeniedError `project.protected`, UsageError `project.path` for one that all share or another
    project has, and as `grounds.require_directory`.
    """
    projects.refuse_shared(named)
    grounds.require_directory(directory)
    project = projects.ensure(writing, named)
    projects.refuse_shared(project.id)
    place = Checkout.of(directory)
    path = grounds.require(place)
    _require_free(writing.connection, project, path, place.remote)
    checked_out = {"id": project.id, "path": path, "now": writing.now}
    writing.connection.execute(sa.text(_CHECK_OUT), checked_out)
    register(writing, project, path, place.remote or None)
    writing.report(Change(project.id, "project.bound", project.id))
    return projects.require(writing.connection, project.id)


def register(writing: Writing, project: Project, path: str | None, remote: str | None) -> None:
    """Know a project by a remote too, and by a path if it has none yet; None leaves either as it is."""
    values = {"id": project.id, "path": path, "remote": remote, "now": writing.now}
    writing.connection.execute(sa.text(_REGISTER), values)


def _require_free(connection: Connection, project: Project, path: str, remote: str) -> None:
    """Refuse a checkout that another project has, or a remote under which another is known."""
    ask = asking(connection)
    holder = by_path(ask, path)
    others = chosen(ask, "p.repo_remote = :value", remote) if remote else []
    for other in (*([holder] if holder else []), *others):
        if other.id != project.id:
            raise UsageError(
                f"project {project.name!r}: {shown(path)} belongs to {other.name!r}",
                code="project.path",
                hint=f"ghost project merge {other.name} {project.name}",
            )
