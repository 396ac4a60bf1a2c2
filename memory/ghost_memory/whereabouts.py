"""Which project a directory belongs to, asked of any database connection; loads no ORM, for the hook path."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from ghost_core.errors import UsageError
from ghost_memory import grounds
from ghost_memory.checkout import Checkout
from ghost_memory.limits import shown
from ghost_memory.values import Project

__all__ = ["Ask", "by_path", "chosen", "of_directory", "of_row", "only"]

type Ask = Callable[[str, Mapping[str, object]], Sequence[Mapping[str, Any]]]
"""Runs a statement with named values and returns its rows by column name."""

_ONE: Final = "SELECT p.id, p.name, p.path, p.repo_remote, 0 AS memories FROM projects p"
_BY_PATH: Final = (
    "SELECT path, project_id FROM project_checkouts WHERE path = :path"
    " OR substr(:path, 1, length(path) + 1) = path || '/'"
    " ORDER BY length(path) DESC LIMIT 1"
)


def of_directory(ask: Ask, directory: Path) -> Project | None:
    """Return the project of a directory: bound checkout, remote, common directory, then its own name.

    Raises UsageError `project.ambiguous` where only a name that several have would fit.
    """
    place = Checkout.of(directory)
    bound = by_path(ask, place.path)
    if bound is not None:
        return bound
    if place.remote and (found := chosen(ask, "p.repo_remote = :value", place.remote)):
        return only(found, place.remote)
    if place.common and (found := _sharing(ask, place.common)):
        return only(found, place.common)
    if place.path == str(Path.home()) or grounds.are_shared(place):
        return None
    name = place.name
    return only(chosen(ask, "p.name = :value AND p.path = p.id", name), name)


def by_path(ask: Ask, path: str) -> Project | None:
    """Return the project whose bound directory holds the path, the deepest, compared letter by letter."""
    rows = ask(_BY_PATH, {"path": path.rstrip("/") or "/"})
    return chosen(ask, "p.id = :value", str(rows[0]["project_id"]))[0] if rows else None


def chosen(ask: Ask, where: str, value: str) -> list[Project]:
    """Return the projects that fulfil a condition of ours over `:value`."""
    return [of_row(row) for row in ask(f"{_ONE} WHERE {where} ORDER BY p.id", {"value": value})]


def only(found: Sequence[Project], named: str) -> Project | None:
    """Return the one that is meant; raises UsageError `project.ambiguous` for several."""
    if len(found) > 1:
        raise UsageError(
            f"project {shown(named)}: several are meant: "
            + ", ".join(each.id for each in found[:10]),
            code="project.ambiguous",
            hint="name one by its id, or bind the directory: ghost project bind ID DIR",
        )
    return found[0] if found else None


def _sharing(ask: Ask, common: str) -> list[Project]:
    """Return the projects with a checkout of the same repository: worktrees share one directory."""
    rows = ask("SELECT path, project_id FROM project_checkouts", {})
    owners = {
        str(row["project_id"]) for row in rows if Checkout.of(Path(row["path"])).common == common
    }
    return [each for owner in sorted(owners) for each in chosen(ask, "p.id = :value", owner)]


def of_row(row: Mapping[str, Any]) -> Project:
    """Return the value of a row with id, name, path, repo_remote and memories."""
    remote = row["repo_remote"]
    return Project(
        str(row["id"]),
        str(row["name"]),
        str(row["path"]),
        None if remote is None else str(remote),
        int(row["memories"]),
    )
