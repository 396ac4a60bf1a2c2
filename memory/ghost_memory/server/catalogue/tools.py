"""Every tool, in the order in which it is listed; names and parameters are those of the public origin."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ghost_memory.server.catalogue import decisions, memories, projects, shared, tasks
from ghost_memory.server.offer import Tool

__all__ = ["TOOLS"]

_ORDER: Final = (
    "ghost_memory_search",
    "ghost_memory_save",
    "ghost_project_context",
    "ghost_memories_list",
    "ghost_memory_delete",
    "ghost_memory_update",
    "ghost_memory_promote",
    "ghost_search_all",
    "ghost_save_global",
    "ghost_memory_pin",
    "ghost_task_create",
    "ghost_task_list",
    "ghost_task_update",
    "ghost_task_complete",
    "ghost_decision_record",
    "ghost_decisions_list",
    "ghost_resolve",
    "ghost_project_delete",
    "ghost_list_projects",
    "ghost_health",
)
_EVERY: Final = {
    tool.name: tool
    for module in (memories, shared, tasks, decisions, projects)
    for tool in module.TOOLS
}

TOOLS: Final[Mapping[str, Tool]] = {name: _EVERY[name] for name in _ORDER}
"""The tools by name."""
