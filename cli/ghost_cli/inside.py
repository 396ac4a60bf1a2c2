"""The session that this process runs in, as its environment names it, and what comes below it.

No boundary: who unsets the variable is a process like any other of the user. It keeps an agent from
widening what it has by accident, and leaves a trace where it makes sessions of its own.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ghost_cli import output
from ghost_core.clock import Clock
from ghost_core.errors import DeniedError
from ghost_core.ids import is_session_id

if TYPE_CHECKING:
    from ghost_ledger.reader import Ledger
    from ghost_ledger.store import SessionRow

_INDEPENDENT = "for one that is independent, a human unsets GHOST_SESSION_ID first"


def session() -> str:
    """Return its id; empty where there is none, or none that could be one."""
    named = os.environ.get("GHOST_SESSION_ID", "")  # noqa: TID251  # reserved, never a setting
    return named if is_session_id(named) else ""


def parent_of(ledger: Ledger, named: str | None, clock: Clock) -> str | None:
    """Return the parent of a new session: the one that was named, else the live one around us, and say so.

    Raises DeniedError `session.outside` where one is named that is not below the live one.
    """
    if named:
        require_within(ledger, named, clock)
        return named
    around = _live(ledger, clock)
    if not around:
        return None
    output.note(f"a child of {around}, which GHOST_SESSION_ID names; {_INDEPENDENT}")
    return around


def require_within(ledger: Ledger, sid: str, clock: Clock) -> None:
    """Refuse a session that is neither the live one around us nor below it.

    Raises DeniedError `session.outside`; one that nobody knows is for its user to miss.
    """
    around = _live(ledger, clock)
    if not around or ledger.session(sid) is None or around in _line(ledger, sid):
        return
    raise DeniedError(
        f"session {sid}: is neither {around}, which GHOST_SESSION_ID names, nor below it",
        code="session.outside",
        hint=_INDEPENDENT,
    )


def _live(ledger: Ledger, clock: Clock) -> str:
    from ghost_ledger.session import lifetime

    sid = session()
    row = ledger.session(sid) if sid else None
    lives = row is not None and not row.system and row.status == "live"
    return sid if row is not None and lives and not lifetime.expired(row, clock) else ""


def _line(ledger: Ledger, sid: str) -> list[str]:
    """Return a session and those above it; a loop in a broken table ends."""
    found: list[str] = []
    row: SessionRow | None = ledger.session(sid)
    while row is not None and row.session_id not in found:
        found.append(row.session_id)
        row = ledger.session(row.parent) if row.parent else None
    return found
