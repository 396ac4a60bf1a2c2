"""The two prompts: recall a project, and settle a decision."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from ghost_memory.quotation import quoted
from ghost_memory.server import resources
from ghost_memory.server.budget import clip
from ghost_memory.server.desk import Desk, named_project

__all__ = ["RENDERED"]

TOPIC_COST: Final = 2000


def recall_project(desk: Desk, *, project_id: str) -> str:
    """Return the context of a project as a message."""
    with desk.journal.read() as connection:
        return resources.context(desk, connection, named_project(connection, project_id))


def record_decision(desk: Desk, *, project_id: str, topic: str) -> str:
    """Return the request to settle a decision and to keep it."""
    with desk.journal.read() as connection:
        place = named_project(connection, project_id)
    about = quoted(clip(topic, TOPIC_COST))
    return (
        f"Help me to settle a decision for project {quoted(place.name)} about {about}.\n"
        "Work out with me: a short title, what is decided, the rationale, and the alternatives that"
        " are rejected and why. Ask where something is open. When we agree, call"
        f" ghost_decision_record with project_id {quoted(place.id)} and these parts."
    )


RENDERED: Final[Mapping[str, Callable[..., str]]] = {
    "recall_project": recall_project,
    "record_decision": record_decision,
}
"""What makes the text of each prompt, by name."""
