"""The two prompts, as they are offered."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ghost_memory.server.offer import Prompt
from ghost_memory.server.parameters import Parameter, project

__all__ = ["PROMPTS"]

PROMPTS: Final[Mapping[str, Prompt]] = {
    each.name: each
    for each in (
        Prompt(
            "recall_project",
            "Recall a project",
            "Load what is remembered of a project into the conversation.",
            (project(),),
        ),
        Prompt(
            "record_decision",
            "Record a decision",
            "Settle a choice between alternatives, then keep it with its reasons.",
            (project(), Parameter("topic", "text", "What is to be decided.", required=True)),
        ),
    )
}
"""The prompts by name."""
