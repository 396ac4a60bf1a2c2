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


def full(connection: Connection, table: str, beginning: str) -> str:
    """Return the id that begins like this, in any case.

    Raises NotFoundError `<kind>.unknown`, UsageError `<kind>.ambiguous`.
    """
    kind, wanted = _KINDS[table], plain(beginning).strip()
    if len(wanted) < MIN_PREFIX or not re.fullmatch(r"[A-Za-z0-9_-]+", wanted):
        raise UsageError(
            f"{kind} {shown(wanted)}: expected {MIN_PREFIX} or more characters of its id",
            code=f"{kind}.id",
        )
    found = _exact(connection, table, wanted) or _beginning(connection, table, wanted)
    if not found:
        raise NotFoundError(f"{kind} {shown(wanted)}: does not exist", code=f"{kind}.unknown")
    if len(found) > 1:
        raise UsageError(
            f"{kind} {shown(wanted)}: several begin like this", code=f"{kind}.ambiguous"
        )
    return found[0]


def _exact(connection: Connection, table: str, wanted: str) -> list[str]:
    """Look in the index of ids first: to compare beginnings reads every row."""
    statement = sa.text(f"SELECT id FROM {table} WHERE id = :id")
    return [str(each) for each in connection.execute(statement, {"id": wanted}).scalars()]


def _beginning(connection: Connection, table: str, wanted: str) -> list[str]:
    statement = sa.text(
        f"SELECT id FROM {table} WHERE substr(lower(id), 1, :length) = :beginning LIMIT 2"
    )
    values = {"beginning": wanted.lower(), "length": len(wanted)}
    return [str(each) for each in connection.execute(statement, values).scalars()]
