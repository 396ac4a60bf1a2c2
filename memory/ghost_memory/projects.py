"""Which project is meant, by id, name or directory; a name that is new becomes one.

A directory is known by its git remote, else by its git common directory (so worktrees join), else by its
physical path. A name that two projects share is reported, never guessed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from ghost_core.errors import DeniedError, NotFoundError, UsageError
from ghost_memory import whereabouts
from ghost_memory.journal import Change, Writing
from ghost_memory.limits import plain, shown
from ghost_memory.passive import asking
from ghost_memory.quotation import label
from ghost_memory.screen import screen
from ghost_memory.values import GLOBAL, Project
from ghost_memory.whereabouts import by_path, chosen, of_row, only

__all__ = [
    "ensure",
    "every",
    "find",
    "of_directory",
    "own",
    "refuse_shared",
    "require",
]

NAME_BYTES: Final = 200

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
