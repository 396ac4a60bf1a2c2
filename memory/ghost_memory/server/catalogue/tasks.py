"""Tools for tasks, as they are offered."""

from __future__ import annotations

from typing import Final

from ghost_memory.limits import TASK_STATES
from ghost_memory.server import shapes
from ghost_memory.server.losses import FIELDS
from ghost_memory.server.offer import Tool
from ghost_memory.server.parameters import CURSOR, Parameter, limit, project

__all__ = ["TOOLS"]

TASK_ID: Final = Parameter(
    "task_id", "text", "Id of the task, or a unique beginning of it.", required=True
)
OF_PROJECT: Final = project(
    about="Name or id of the project of the task; needed where it is not that of the directory in"
    " which the host works.",
    required=False,
)
_CHANGED: Final = shapes.of(
    {"completed_at": "text", **FIELDS}, id="text", status="text", priority="count"
)
_PRIORITY: Final = "0 critical, 1 high, 2 normal, 3 low, 4 some day."


TOOLS: Final = (
    Tool(
        "ghost_task_create",
        "Create a task",
        "Keep something to be done in a project, so that a later session finds it."
        " The project must be known.",
        (
            project(),
            Parameter("title", "text", "What is to be done.", required=True),
            Parameter("description", "text", "What one must know to do it.", default=""),
            Parameter("priority", "integer", _PRIORITY, default=2),
        ),
        "tasks.create",
        _CHANGED,
    ),
    Tool(
        "ghost_task_list",
        "List tasks",
        "List the tasks of a project, the urgent first, then the newest, page by page.",
        (
            project(),
            Parameter("status", "text", "Only this status.", default="", choices=TASK_STATES),
            limit(30),
            CURSOR,
        ),
        "tasks.listing",
        shapes.page("tasks", shapes.TASK),
        reads=True,
    ),
    Tool(
        "ghost_task_update",
        "Update a task",
        "Change the status, priority or description of a task; what is not given stays.",
        (
            TASK_ID,
            Parameter("status", "text", "The new status.", choices=TASK_STATES),
            Parameter("priority", "integer", _PRIORITY),
            Parameter("description", "text", "The new description."),
            OF_PROJECT,
        ),
        "tasks.update",
        _CHANGED,
        repeats=True,
    ),
    Tool(
        "ghost_task_complete",
        "Complete a task",
        "Mark a task as done; notes are added to those it has.",
        (
            TASK_ID,
            Parameter("notes", "text", "What was done, or what to know.", default=""),
            OF_PROJECT,
        ),
        "tasks.complete",
        _CHANGED,
        repeats=True,
    ),
)
