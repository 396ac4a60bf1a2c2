"""The addresses of resources: which there are, what one names, and every spelling of what a write touched.

Hosts are told of a change by the exact address they asked for, so a project's resources are announced under
its id and under its name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple
from urllib.parse import quote, unquote

from sqlalchemy.engine import Connection

from ghost_memory import projects
from ghost_memory.server.catalogue.resources import GLOBALS, KINDS
from ghost_memory.values import GLOBAL, Project


class Touched(NamedTuple):
    """A project in which something changed; `what` names its resources: context, decisions, tasks.

    `name` is given where the project itself is gone, so that both its addresses can still be told.
    """

    project: str
    what: tuple[str, ...] = ("context",)
    name: str = ""


class Address(NamedTuple):
    """What an address names: a project by id or name, and one of its resources."""

    project: str
    kind: str


def parse(uri: str) -> Address | None:
    """Return what an address names; None where it is none of ours."""
    if uri == GLOBALS:
        return Address(GLOBAL, "memories")
    before, _, rest = uri.partition("ghost://project/")
    named, _, kind = rest.rpartition("/")
    if before or not named or kind not in KINDS:
        return None
    return Address(unquote(named, errors="replace"), kind)


def address(project: str, kind: str) -> str:
    """Return the address of a resource of a project, percent-encoded."""
    return f"ghost://project/{quote(project, safe='')}/{kind}"


def touched(connection: Connection, changes: Iterable[Touched]) -> list[str]:
    """Return the addresses of everything that changes made stale, each spelling once.

    What all projects share is shown in the context of each.
    """
    known = projects.every(connection)
    found: dict[str, None] = {}
    for change in changes:
        if change.project == GLOBAL and "context" in change.what:
            found[GLOBALS] = None
            found.update((uri, None) for each in known for uri in _spelled(each, ("context",)))
        own = [each for each in known if each.id == change.project]
        gone = Project(change.project, change.name or change.project, change.project, None)
        for each in own or [gone]:
            found.update((uri, None) for uri in _spelled(each, change.what))
    return list(found)


def _spelled(project: Project, kinds: Iterable[str]) -> Iterator[str]:
    for kind in kinds:
        for name in dict.fromkeys((project.id, project.name)):
            yield address(name, kind)
            if quote(name, safe="") != name:
                yield f"ghost://project/{name}/{kind}"
