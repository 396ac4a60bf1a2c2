"""Tools for decisions."""

from __future__ import annotations

from collections.abc import Sequence

from ghost_memory import decisions
from ghost_memory.journal import Writing
from ghost_memory.limits import ALTERNATIVES, CONTENT_BYTES, TITLE_BYTES
from ghost_memory.server import rows
from ghost_memory.server.answer import Answer, Page, paged, start_of
from ghost_memory.server.desk import Desk, named_project
from ghost_memory.server.losses import losses
from ghost_memory.values import Recorded

__all__ = ["listing", "record"]


def record(
    desk: Desk,
    *,
    project_id: str,
    title: str,
    decision: str,
    rationale: str,
    alternatives: Sequence[str],
    tags: Sequence[str],
    supersedes: str,
    status: str,
) -> Answer:
    """Keep a decision and the memory that speaks of it."""

    def perform(writing: Writing) -> Recorded:
        return decisions.record(
            writing,
            named_project(writing.connection, project_id).id,
            title=title,
            decision=decision,
            rationale=rationale,
            alternatives=alternatives,
            tags=tags,
            supersedes=supersedes,
            status=status,
        )

    made = desk.change(perform)
    desk.parts.saved()
    text = (
        f"Decision recorded (decision_id: {made.decision_id}, memory_id: {made.memory_id})."
        " supersedes of ghost_decision_record wants the decision_id;"
        " ghost_memory_update, _pin, _promote and _delete want the memory_id."
    )
    if made.warning:
        text += f" WARNING: the older decision was not marked: {made.warning}"
    lost = losses(
        (title, TITLE_BYTES),
        (decision, CONTENT_BYTES),
        (rationale, CONTENT_BYTES),
        *((each, TITLE_BYTES) for each in alternatives[:ALTERNATIVES]),
    )
    text += lost.remark
    data = {
        "decision_id": made.decision_id,
        "memory_id": made.memory_id,
        **({"warning": made.warning} if made.warning else {}),
        **lost.data,
    }
    return Answer(text, data)


def listing(desk: Desk, *, project_id: str, status: str, limit: int, cursor: str) -> Answer:
    """List the newest decisions of a project, of these the superseded ones last."""
    start = start_of(cursor)
    with desk.journal.read() as connection:
        place = named_project(connection, project_id)
        page, total = decisions.listing(
            connection, place.id, status=status, limit=limit, offset=start
        )
    entries = [rows.of_decision(each) for each in page]
    return paged(Page(entries, start, total, "decisions"), none="No decisions found.")
