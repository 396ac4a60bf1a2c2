"""Decisions of a project. Each has a companion memory, so that search finds it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from ghost_core.errors import GhostError
from ghost_memory import ids, links, projects, saving
from ghost_memory.journal import Change, Writing
from ghost_memory.limits import (
    ALTERNATIVES,
    CONTENT_BYTES,
    DECISION_STATES,
    NEW_DECISION_STATES,
    TITLE_BYTES,
    fit,
    kept_tags,
    require_one_of,
    require_text,
)
from ghost_memory.paging import Listing
from ghost_memory.saving import Note
from ghost_memory.values import Decision, Recorded, listed, stored

__all__ = ["get", "listing", "record"]

DECISION_IMPORTANCE: Final = 0.9

_DECISIONS: Final = Listing(
    "decisions",
    "id, project_id, title, decision, rationale, alternatives, status, superseded_by, tags, memory_id,"
    " created_at, updated_at",
    "seq DESC",
    20,
)


def record(  # the parts of one decision
    writing: Writing,
    named: str,
    *,
    title: str,
    decision: str,
    rationale: str,
    alternatives: Sequence[str] = (),
    tags: Sequence[str] = (),
    supersedes: str = "",
    status: str = "active",
) -> Recorded:
    """Keep a decision and the memory that speaks of it, both or neither; `revisit` holds for now.

    What a `supersedes` cannot do is a warning, for the decision itself is worth more.
    """
    require_one_of("status", status, NEW_DECISION_STATES)
    project = projects.require(writing.connection, named)
    parts = (
        require_text("title", title, TITLE_BYTES),
        require_text("decision", decision, CONTENT_BYTES),
        require_text("rationale", rationale, CONTENT_BYTES),
    )
    heading, text, reasons = (each.text for each in parts)
    said = f"{heading}: {text}. Rationale: {reasons}"
    note = Note(said, "decision", DECISION_IMPORTANCE, tags, "decision_log")
    saved = saving.save(writing, project.id, note)
    made = ids.new()
    writing.connection.execute(
        sa.text(
            "INSERT INTO decisions (id, project_id, title, decision, alternatives, rationale, tags,"
            " status, memory_id, created_at, updated_at) VALUES (:id, :project, :title, :decision,"
            " :alternatives, :rationale, :tags, :status, :memory, :now, :now)"
        ),
        {
            "id": made,
            "project": project.id,
            "title": heading,
            "decision": text,
            "alternatives": stored(
                [fit(each, TITLE_BYTES).text for each in alternatives[:ALTERNATIVES]]
            ),
            "rationale": reasons,
            "tags": stored(kept_tags(tags)),
            "status": status,
            "memory": saved.id,
            "now": writing.now,
        },
    )
    writing.report(Change(made, "decision.recorded", project.id, text))
    warning = _supersede(writing, made, saved.id, project.id, supersedes) if supersedes else ""
    return Recorded(made, saved.id, warning, sum(each.removed for each in parts))


def get(connection: Connection, decision_id: str, project: str = "") -> Decision:
    """Return a decision by its id or a unique beginning of it; raises as `ids.full`."""
    full = ids.full(connection, "decisions", decision_id, project)
    statement = sa.text(f"SELECT {_DECISIONS.columns} FROM decisions WHERE id = :id")
    return _of_row(connection.execute(statement, {"id": full}).mappings().one())


def listing(
    connection: Connection,
    project: str,
    *,
    status: str = "",
    limit: int = _DECISIONS.size,
    offset: int = 0,
) -> tuple[list[Decision], int]:
    """Return the newest decisions, of these the superseded ones last, and how many there are."""
    wanted = [require_one_of("status", status, DECISION_STATES)] if status else [*DECISION_STATES]
    where, values = (
        "project_id = :project AND status IN :wanted",
        {"project": project, "wanted": wanted},
    )
    rows, total = _DECISIONS.page(connection, where, values, limit=limit, offset=offset)
    found = sorted((_of_row(row) for row in rows), key=lambda each: each.status == "superseded")
    return found, total


def _supersede(writing: Writing, made: str, memory: str, project: str, old: str) -> str:
    """Mark the older decision and link the memories of both; returns what went wrong."""
    try:
        before = get(writing.connection, old, project)
    except GhostError as error:
        return error.message
    writing.connection.execute(
        sa.text(
            "UPDATE decisions SET status = 'superseded', superseded_by = :new, updated_at = :now"
            " WHERE id = :old"
        ),
        {"new": made, "old": before.id, "now": writing.now},
    )
    writing.report(Change(before.id, "decision.superseded", project, reason=made))
    if before.memory_id and before.memory_id != memory:
        links.link(writing, memory, before.memory_id, "supersedes", strength=1.0, source="manual")
    return ""


def _of_row(row: sa.RowMapping) -> Decision:
    values = {**row}
    values["alternatives"], values["tags"] = listed(values["alternatives"]), listed(values["tags"])
    return Decision(**values)
