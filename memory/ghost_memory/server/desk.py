"""What every tool works at: a journal under the caller's name, and the parts of memory it may ask."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sqlalchemy.engine import Connection

from ghost_core.errors import UsageError
from ghost_memory import projects
from ghost_memory.journal import Journal, Writing
from ghost_memory.limits import cut
from ghost_memory.server.parts import Parts
from ghost_memory.values import GLOBAL, Project

__all__ = ["Desk", "named_project", "project_to_write"]

_PATHS: Final = ("/", "~", ".", "\\")


@dataclass(frozen=True, slots=True)
class Desk:
    """One caller's place: changes are entered under its name; `folder` is where its host started us."""

    journal: Journal
    parts: Parts
    folder: Path | None = None

    def change[T](self, work: Callable[[Writing], T]) -> T:
        """Run one change; it is durable when this returns."""
        return self.journal.write(work)

    def owner(self, connection: Connection, named: str) -> str:
        """Return the project for which a call speaks: the one it names, else that of the folder, else none.

        Raises as `projects.require`, and UsageError `project.ambiguous`.
        """
        if named:
            return named_project(connection, named).id
        found = projects.of_directory(connection, self.folder) if self.folder else None
        return found.id if found else ""


def named_project(connection: Connection, named: str) -> Project:
    """Return a project that is named; what all share is there even while it holds nothing."""
    if named.strip() == GLOBAL and projects.find(connection, GLOBAL) is None:
        return Project(GLOBAL, GLOBAL, GLOBAL, None)
    return projects.require(connection, named)


def project_to_write(writing: Writing, named: str) -> Project:
    """Return a project, made if it is new; raises UsageError `project.path` for an unknown directory."""
    text = named.strip()
    if text.startswith(_PATHS) and projects.find(writing.connection, text) is None:
        raise UsageError(
            f"project {cut(text, 80).text!r}: expected a name, found a path that no project has",
            code="project.path",
            hint="pass the name of the project, such as the name of its repository",
        )
    return projects.ensure(writing, text)
