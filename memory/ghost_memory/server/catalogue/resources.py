"""The resources: three templates for a project, and what all projects share."""

from __future__ import annotations

from typing import Final

from ghost_memory.server.offer import Resource

__all__ = ["FIXED", "GLOBALS", "KINDS", "SCHEME", "TEMPLATES"]

SCHEME: Final = "ghost://"
GLOBALS: Final = "ghost://memories/global"
KINDS: Final = ("context", "decisions", "tasks")

TEMPLATES: Final = (
    Resource(
        "ghost://project/{project_id}/context",
        "project_context",
        "Project context",
        "What matters most of a project, and what all projects share.",
    ),
    Resource(
        "ghost://project/{project_id}/decisions",
        "project_decisions",
        "Project decisions",
        "The newest active decisions of a project, with their reasons.",
    ),
    Resource(
        "ghost://project/{project_id}/tasks",
        "project_tasks",
        "Project tasks",
        "The open tasks of a project: active, then blocked, then pending.",
    ),
)
FIXED: Final = (
    Resource(
        GLOBALS, "global_memories", "Global memories", "What holds in every project, by rank."
    ),
)
