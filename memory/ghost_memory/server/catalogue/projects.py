"""Tools about whole projects, as they are offered."""

from __future__ import annotations

from typing import Final

from ghost_memory.server import shapes
from ghost_memory.server.offer import Tool
from ghost_memory.server.parameters import CURSOR, Parameter, limit, project

__all__ = ["TOOLS"]

APPLY: Final = Parameter(
    "apply", "flag", "true does it; without it only what would happen is told.", default=False
)


TOOLS: Final = (
    Tool(
        "ghost_project_context",
        "Show project context",
        "Show what matters most of a project: its memories by rank, what was learned of it, its"
        " decisions and tasks, and what all projects share. Call it once when you begin to work on"
        " a project whose context is not shown yet; to find one thing, search.",
        (project(), limit(20)),
        "projects.context",
        shapes.of(project_id="text", shown="count", total="count", context="text"),
        reads=True,
    ),
    Tool(
        "ghost_resolve",
        "Resolve concluded memories",
        "Find memories that are evidence of finished work, which then are still found by search but"
        " no longer shown unasked. Without apply it only tells; with apply it marks those that a rule"
        " confirms, never one on a guess.",
        (project("project"), APPLY, limit(30), CURSOR),
        "projects.resolve",
        shapes.page(
            "candidates",
            shapes.of(id="text", category="text", content="text", confirmed="flag", why="text"),
            {"loaded": "count", "resolved": "count"},
        ),
    ),
    Tool(
        "ghost_project_delete",
        "Delete a project",
        "Delete a project with its memories, tasks and decisions, for good. Without apply it only"
        " tells what would go. Ask the user before you apply it.",
        (project("project"), APPLY),
        "projects.delete",
        shapes.of(project_id="text", deleted="flag", counts="counts"),
        destroys=True,
    ),
    Tool(
        "ghost_list_projects",
        "List projects",
        "List the projects that memory knows, with id, path and how many memories each has.",
        (limit(30), CURSOR),
        "projects.listing",
        shapes.page("projects", shapes.PROJECT),
        reads=True,
    ),
    Tool(
        "ghost_health",
        "Show the health of memory",
        "Tell what the store holds, and how many memories are embedded and linked.",
        (),
        "projects.health",
        shapes.of(
            projects="count", memories="count", links="count", scanned="count", embedding="object"
        ),
        reads=True,
    ),
)
