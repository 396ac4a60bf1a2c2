"""Ids of memories, tasks and decisions: 32 random hex digits, found by any unique beginning of 4 or more."""

from __future__ import annotations

import re
import secrets
from typing import Final

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from ghost_core.errors import NotFoundError, UsageError
from ghost_memory.limits import plain, shown

MIN_PREFIX: Final = 4
_KINDS: Final = {"memories": "memory", "tasks": "task", "decisions": "decision"}


def new() -> str:
    """Return a new id."""
    return secrets.token_hex(16)


def full(connection: Connection, table: str, beginning: str, project: str = "") -> str:
    """Return the id that begins like this, in any case; of the project with this id, if one is given.

    Raises NotFoundError `<kind>.unknown` and `<kind>.project`, UsageError `<kind>.id` and `<kind>.ambiguous`.
    """
    kind, wanted = _KINDS[table], plain(beginning).strip()
    if len(wanted) < MIN_PREFIX or not re.fullmatch(r"[A-Za-z0-9_-]+", wanted):
        raise UsageError(
            f"{kind} {shown(wanted)}: expected {MIN_PREFIX} or more characters of its id",
            code=f"{kind}.id",
        )
    found = _found(connection, table, wanted, project)
    if not found:
        raise NotFoundError(f"{kind} {shown(wanted)}: does not exist", code=f"{kind}.unknown")
    owners = {owner for _, owner in found}
    if project and project not in owners:
        raise NotFoundError(
            f"{kind} {shown(wanted)}: is not of project {shown(project)}",
            code=f"{kind}.project",
            hint=f"it belongs to {shown(owners.pop())}; only a call for that project changes it",
        )
    if len(found) > 1:
        raise UsageError(
            f"{kind} {shown(wanted)}: several begin like this", code=f"{kind}.ambiguous"
        )
    return found[0][0]


type _Owned = list[tuple[str, str]]


def _found(connection: Connection, table: str, wanted: str, project: str) -> _Owned:
    """Return ids with their projects: those of the project, if it has any, else those of the others."""
    own = _exact(connection, table, wanted) or _beginning(connection, table, wanted, project)
    return own or (_beginning(connection, table, wanted) if project else [])


def _exact(connection: Connection, table: str, wanted: str) -> _Owned:
    """Look in the index of ids first: to compare beginnings reads every row."""
    statement = sa.text(f"SELECT id, project_id FROM {table} WHERE id = :id")
    return _rows(connection, statement, {"id": wanted})


def _beginning(connection: Connection, table: str, wanted: str, project: str = "") -> _Owned:
    statement = sa.text(
        f"SELECT id, project_id FROM {table} WHERE substr(lower(id), 1, :length) = :beginning"
        + (" AND project_id = :project LIMIT 2" if project else " LIMIT 2")
    )
    values = {"beginning": wanted.lower(), "length": len(wanted), "project": project}
    return _rows(connection, statement, values)


def _rows(connection: Connection, statement: sa.TextClause, values: dict[str, object]) -> _Owned:
    return [(str(row[0]), str(row[1])) for row in connection.execute(statement, values)]
