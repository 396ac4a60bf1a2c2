"""Who is in quarantine, and why: a session that a hook put there, and every session below it.

Nothing but its end takes a session out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ghost_core.errors import NotFoundError
from ghost_ledger import entry
from ghost_ledger.reader import Ledger
from ghost_ledger.store import SessionRow

__all__ = ["Imposed", "imposed", "source"]

_DEPTH: Final = 64  # more generations than anybody spawns; a loop in a broken table ends here


@dataclass(frozen=True, slots=True)
class Imposed:
    """What an entry `session.quarantined` tells; `action` may be empty, `ts` microseconds UTC."""

    by: str
    reason: str
    action: str
    ts: int


def source(ledger: Ledger, row: SessionRow) -> str:
    """Return the session in quarantine that holds for this one: itself, one above it, or none ("")."""
    found: SessionRow | None = row
    for _ in range(_DEPTH):
        if found is None:
            return ""
        if found.quarantined:
            return found.session_id
        found = ledger.session(found.parent) if found.parent else None
    return row.session_id


def imposed(ledger: Ledger, sid: str) -> Imposed | None:
    """Return what the first quarantine entry of a session tells, or None; a pruned one tells nothing."""
    try:
        entries = ledger.entries(sid)
    except NotFoundError:
        return None
    for stored in entries:
        if stored.type == "session.quarantined":
            fields = entry.parse_envelope(stored.body).fields
            by, reason = str(fields.get("by")), str(fields.get("reason"))
            return Imposed(by, reason, str(fields.get("action", "")), stored.ts)
    return None
