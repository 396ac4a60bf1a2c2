"""What can be read by address: a project's context, decisions and open tasks, and what all projects share."""

from __future__ import annotations

from typing import Final

from sqlalchemy.engine import Connection

from ghost_core.errors import NotFoundError
from ghost_memory import decisions, tasks
from ghost_memory.limits import cut, plain
from ghost_memory.server import rows
from ghost_memory.server.answer import Page, paged
from ghost_memory.server.catalogue.resources import FIXED, TEMPLATES
from ghost_memory.server.desk import Desk, named_project
from ghost_memory.server.uris import parse
from ghost_memory.values import Project, Task

__all__ = ["context", "read"]

CONTEXT_ROWS: Final = 20
DECISIONS: Final = 20
TASKS: Final = 15
NOTHING: Final = "Nothing is remembered yet. Save what you learn with ghost_memory_save."


def read(desk: Desk, uri: str) -> str:
    """Return the text of a resource. Raises NotFoundError `resource.unknown`, and as `projects.require`."""
    found = parse(uri)
    if found is None:
        raise NotFoundError(
            f"resource {cut(plain(uri), 200).text!r}: does not exist",
            code="resource.unknown",
            hint=f"there are {', '.join(each.uri for each in (*TEMPLATES, *FIXED))}",
        )
    with desk.journal.read() as connection:
        place = named_project(connection, found.project)
        match found.kind:
            case "decisions":
                return _decisions(connection, place.id)
            case "tasks":
                return _tasks(connection, place.id)
            case _:
                return context(desk, connection, place)


def context(desk: Desk, connection: Connection, place: Project) -> str:
    """Return what is shown of a project, or the sentence that says there is nothing."""
    shown = desk.parts.context(connection, place, limit=CONTEXT_ROWS, now=desk.journal.now())
    return NOTHING if shown.empty else shown.text


def _decisions(connection: Connection, place: str) -> str:
    found, total = decisions.listing(connection, place, status="active", limit=DECISIONS)
    entries = [rows.of_decision(each) for each in found]
    page = Page(entries, 0, total, "decisions")
    return _short(paged(page, none="No active decisions.").text, "ghost_decisions_list")


def _tasks(connection: Connection, place: str) -> str:
    found: list[Task] = []
    total = 0
    for status in ("active", "blocked", "pending"):
        some, count = tasks.listing(connection, place, statuses=(status,), limit=TASKS)
        found, total = [*found, *some], total + count
    entries = [rows.of_task(each) for each in found]
    return _short(
        paged(Page(entries, 0, total, "tasks"), none="No open tasks.").text, "ghost_task_list"
    )


def _short(text: str, tool: str) -> str:
    """Name the tool that has the rest, as a resource takes no cursor."""
    before, mark, _ = text.rpartition("; the next with cursor")
    return f"{before}; the rest with {tool})" if mark else text
