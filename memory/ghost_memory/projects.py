"""Which project is meant, by id, name or directory; and binding, merging and deleting projects.

A directory is known by its git remote, else by its git common directory (so worktrees join), else by its
physical path. A name that two projects share is reported, never guessed.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from ghost_core.errors import DeniedError, NotFoundError, UsageError
from ghost_core.look import is_dir
from ghost_memory import whereabouts
from ghost_memory.checkout import Checkout
from ghost_memory.journal import Change, Writing
from ghost_memory.limits import plain, shown
from ghost_memory.passive import asking
from ghost_memory.quotation import label
from ghost_memory.screen import screen
from ghost_memory.values import GLOBAL, Project
from ghost_memory.whereabouts import MIN_PATH, by_path, chosen, of_row, only

__all__ = [
    "bind",
    "counts",
    "delete",
    "ensure",
    "every",
    "find",
    "merge",
    "of_directory",
    "own",
    "refuse_shared",
    "require",
]

NAME_BYTES: Final = 200
OWNED: Final = ("memories", "tasks", "decisions", "memory_snapshots", "project_checkouts")

_CHECK_OUT: Final = (
    "INSERT INTO project_checkouts (path, project_id, bound_at) VALUES (:path, :id, :now)"
    " ON CONFLICT (path) DO NOTHING"
)
_REGISTER: Final = (
    "UPDATE projects SET path = CASE WHEN path = id THEN coalesce(:path, path) ELSE path END,"
    " repo_remote = coalesce(:remote, repo_remote), updated_at = :now WHERE id = :id"
)
_ALL: Final = (
    "SELECT p.id, p.name, p.path, p.repo_remote,"
    " (SELECT count(*) FROM memories m WHERE m.project_id = p.id) AS memories FROM projects p"
)


def every(connection: Connection) -> list[Project]:
    """Return all projects, `_global` last, then by name."""
    rows = connection.execute(
        sa.text(f"{_ALL} ORDER BY p.id = :shared, p.name, p.id"), {"shared": GLOBAL}
    )
    return [of_row({**row}) for row in rows.mappings()]


def find(connection: Connection, named: str) -> Project | None:
    """Return the project of an id, a name or a path; None where none is meant.

    A name is known as it was given too, although it is kept as a label.
    Raises UsageError `project.ambiguous` for a name that several have.
    """
    text = plain(named).strip()
    found = _known(connection, text)
    kept = label(text, NAME_BYTES)
    return found if found or kept == text else _known(connection, kept)


def _known(connection: Connection, text: str) -> Project | None:
    ask = asking(connection)
    by_id = chosen(ask, "p.id = :value", text)
    if by_id:
        return by_id[0]
    by_name = chosen(ask, "p.name = :value", text)
    if not by_name and "/" in text:
        held = by_path(ask, text)
        if held is not None:
            return held
        by_name = chosen(ask, "p.name = :value", text.rstrip("/").rpartition("/")[2])
    return only(by_name, text)


def require(connection: Connection, named: str) -> Project:
    """Return the project that is named; raises NotFoundError `project.unknown` listing those there are."""
    found = find(connection, named)
    if found is not None:
        return found
    names = [each.name for each in every(connection) if each.id != GLOBAL][:20]
    raise NotFoundError(
        f"project {shown(named)}: is not known",
        code="project.unknown",
        hint=f"known: {', '.join(names)}"
        if names
        else "there is none yet; saving a memory makes one",
    )


def of_directory(connection: Connection, directory: Path) -> Project | None:
    """Return the project of a directory; see `whereabouts.of_directory`, which hooks ask too."""
    return whereabouts.of_directory(asking(connection), directory)


def ensure(writing: Writing, named: str) -> Project:
    """Return the project that is named, made with the name as its id if there is none yet."""
    found = find(writing.connection, named)
    if found is not None:
        return found
    name = _fit(named)
    writing.connection.execute(
        sa.text(
            "INSERT INTO projects (id, path, name, created_at, updated_at)"
            " VALUES (:name, :name, :name, :now, :now)"
        ),
        {"name": name, "now": writing.now},
    )
    if name != GLOBAL:
        writing.report(Change(name, "project.created", name))
    return Project(name, name, name, None)


def bind(writing: Writing, named: str, directory: Path) -> Project:
    """Say that a directory is a checkout of a project; it and what lies below is found as that project.

    Raises DeniedError `project.protected`, UsageError `project.path` for a path that is too short, does not
    exist or belongs to another project.
    """
    refuse_shared(named)
    project = ensure(writing, named)
    refuse_shared(project.id)
    place = Checkout.of(directory)
    path = place.root or place.path
    if len(path) <= MIN_PATH or not is_dir(Path(path)):
        raise UsageError(
            f"project {project.name!r}: expected a directory with a path longer than {MIN_PATH} characters, "
            f"found {shown(path)}",
            code="project.path",
        )
    _require_free(writing.connection, project, path, place.remote)
    values = {"id": project.id, "path": path, "remote": place.remote or None, "now": writing.now}
    for statement in (_CHECK_OUT, _REGISTER):
        writing.connection.execute(sa.text(statement), values)
    writing.report(Change(project.id, "project.bound", project.id))
    return require(writing.connection, project.id)


def merge(writing: Writing, old: str, new: str) -> Mapping[str, int]:
    """Move everything of one project into another and remove it; returns what moved, by table.

    Ids, links, pins and snapshots survive; learned context is joined. Raises DeniedError
    `project.protected`, UsageError `project.same`.
    """
    connection = writing.connection
    gone, kept = own(connection, old), own(connection, new)
    if gone.id == kept.id:
        raise UsageError(
            f"project {gone.name!r}: cannot be merged into itself", code="project.same"
        )
    moved = counts(connection, gone)
    ends = {"old": gone.id, "new": kept.id, "now": writing.now}
    for table in (*OWNED, "token_usage"):
        connection.execute(
            sa.text(f"UPDATE {table} SET project_id = :new WHERE project_id = :old"),
            ends,
        )
    connection.execute(
        sa.text(
            "INSERT INTO ghost_state (project_id, interaction_count, learned_context, updated_at)"
            " SELECT :new, interaction_count, learned_context, :now FROM ghost_state"
            " WHERE project_id = :old ON CONFLICT (project_id) DO UPDATE SET"
            " interaction_count = ghost_state.interaction_count + excluded.interaction_count,"
            " learned_context = trim(ghost_state.learned_context || :line || excluded.learned_context,"
            " :line)"
        ),
        {**ends, "line": "\n"},
    )
    connection.execute(sa.text("DELETE FROM projects WHERE id = :old"), ends)
    path = None if gone.path == gone.id else gone.path
    known = {"path": path, "remote": kept.remote or gone.remote, "id": kept.id}
    connection.execute(sa.text(_REGISTER), {**known, "now": writing.now})
    writing.report(Change(gone.id, "project.merged", kept.id, reason=f"into {kept.name}"))
    return moved


def counts(connection: Connection, project: Project) -> Mapping[str, int]:
    """Return how many rows of each table belong to a project."""
    found = {
        table: _count(connection, f"{table} WHERE project_id = :id", project.id)
        for table in ("memories", "tasks", "decisions", "memory_snapshots", "token_usage")
    }
    ends = "(SELECT id FROM memories WHERE project_id = :id)"
    links = f"memory_links WHERE source_id IN {ends} OR target_id IN {ends}"
    return {**found, "memory_links": _count(connection, links, project.id)}


def delete(writing: Writing, named: str) -> Mapping[str, int]:
    """Remove a project with everything under it; returns what went. Raises DeniedError for `_global`."""
    project = own(writing.connection, named)
    found = counts(writing.connection, project)
    for statement in (
        "DELETE FROM token_usage WHERE project_id = :id",
        "DELETE FROM projects WHERE id = :id",
    ):
        writing.connection.execute(sa.text(statement), {"id": project.id})
    writing.remove_words()
    writing.report(Change(project.id, "project.deleted", project.id))
    return found


def _fit(named: str) -> str:
    """Return a name as it may be kept: a label, for an id is shown bare; no secret, for entries stay."""
    text = plain(named).strip()
    kept = label(text, NAME_BYTES)
    if not kept:
        raise UsageError("project: expected a name, found nothing", code="project.name")
    if screen(text).found:
        raise UsageError(
            "project: the name holds what looks like a secret",
            code="project.name",
            hint="replace that secret, then name the project otherwise",
        )
    return kept


def own(connection: Connection, named: str) -> Project:
    """Return a project that may be changed as a whole; raises as `require`, DeniedError for `_global`."""
    refuse_shared(named)
    found = require(connection, named)
    refuse_shared(found.id)
    return found


def refuse_shared(named: str) -> None:
    """Raise DeniedError `project.protected` for the project that all others share."""
    if plain(named).strip() == GLOBAL:
        raise DeniedError(
            f"project {GLOBAL}: is shared by all others and stays as it is",
            code="project.protected",
            hint="name another project",
        )


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


def _count(connection: Connection, of: str, value: str) -> int:
    return int(
        connection.execute(sa.text(f"SELECT count(*) FROM {of}"), {"id": value}).scalar_one()
    )
