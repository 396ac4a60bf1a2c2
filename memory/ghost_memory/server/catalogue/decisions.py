"""Tools for decisions, as they are offered."""

from __future__ import annotations

from typing import Final

from ghost_memory.limits import DECISION_STATES, NEW_DECISION_STATES
from ghost_memory.server import shapes
from ghost_memory.server.losses import FIELDS
from ghost_memory.server.offer import Tool
from ghost_memory.server.parameters import CURSOR, Parameter, limit, project

__all__ = ["TOOLS"]


TOOLS: Final = (
    Tool(
        "ghost_decision_record",
        "Record a decision",
        "Keep a choice between alternatives with its reasons; search finds it as a memory too."
        " If it reverses an older decision, name that in supersedes. The project must be known.",
        (
            project(),
            Parameter("title", "text", "What was decided about, in a few words.", required=True),
            Parameter("decision", "text", "What was decided.", required=True),
            Parameter("rationale", "text", "Why.", required=True),
            Parameter("alternatives", "texts", "What was rejected, up to 20.", default=()),
            Parameter("tags", "texts", "Up to 10 short tags.", default=()),
            Parameter("supersedes", "text", "Id of the decision this replaces.", default=""),
            Parameter(
                "status",
                "text",
                "revisit: it holds for now and is to be looked at again.",
                default="active",
                choices=NEW_DECISION_STATES,
            ),
        ),
        "decisions.record",
        shapes.of({"warning": "text", **FIELDS}, decision_id="text", memory_id="text"),
    ),
    Tool(
        "ghost_decisions_list",
        "List decisions",
        "List the decisions of a project, the newest first, superseded ones last, page by page.",
        (
            project(),
            Parameter("status", "text", "Only this status.", default="", choices=DECISION_STATES),
            limit(20),
            CURSOR,
        ),
        "decisions.listing",
        shapes.page("decisions", shapes.DECISION),
        reads=True,
    ),
)
