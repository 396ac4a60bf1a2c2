"""After a crash: what the dead owner left unanswered is written down as unknown, never sent again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from ghost_core import db, ids
from ghost_ledger import tree
from ghost_ledger.batch import Batch
from ghost_ledger.canonical import Value
from ghost_ledger.drafts import Draft, Receipt

__all__ = ["Closing", "Orphan", "Recovered", "find"]

_LIVE: Final = sa.text(
    "SELECT session_id, EXISTS (SELECT 1 FROM actions a WHERE a.session_id = s.session_id"
    " AND a.status = 'pending') AS pending"
    " FROM sessions s WHERE status = 'live' ORDER BY spawned_at"
)
_STATUS: Final = sa.text("SELECT status FROM sessions WHERE session_id = :sid")
_PENDING: Final = sa.text(
    "SELECT action_id, entry_hash FROM actions"
    " WHERE session_id = :sid AND status = 'pending' ORDER BY intent_idx"
)
_LEAVES: Final = sa.text("SELECT leaf_hash FROM entries WHERE sid = :sid ORDER BY seq")
_REASON: Final = "the owner ended without an answer"


@dataclass(frozen=True, slots=True)
class Orphan:
    """A live session without owner; `lost` if nobody can go on with it."""

    sid: str
    pending: bool
    lost: bool


@dataclass(frozen=True, slots=True)
class Recovered:
    """What was written down: the actions that became unknown, and whether the session ended."""

    sid: str
    unknown: tuple[str, ...]
    abandoned: bool


def find(
    engine: Engine,
    *,
    skip: Callable[[str], bool],
    is_orphaned: Callable[[str], bool],
    can_continue: Callable[[str], bool],
) -> list[Orphan]:
    """Return live sessions, oldest first, that have no owner and something to be written down."""
    with db.read(engine) as connection:
        live = [(str(row.session_id), bool(row.pending)) for row in connection.execute(_LIVE)]
    orphans = [
        Orphan(sid, pending=pending, lost=not can_continue(sid))
        for sid, pending in live
        if not skip(sid) and is_orphaned(sid)
    ]
    return [orphan for orphan in orphans if orphan.pending or orphan.lost]


class Closing:
    """One orphan's last entries, looked up and written in one transaction."""

    weight = 2

    def __init__(self, orphan: Orphan, system: str, boot: str) -> None:
        self._sid = orphan.sid
        self._system = system
        self._boot = boot
        self._abandon = orphan.lost
        self._unknown: tuple[str, ...] = ()

    def perform(self, batch: Batch) -> tuple[Receipt, ...]:
        """Append `action.unknown` per unanswered intent, then `session.abandoned`.

        Nothing, if another process was first.
        """
        batch.write_rows()
        connection = batch.connection
        if connection.execute(_STATUS, {"sid": self._sid}).scalar() != "live":
            return ()
        pending = connection.execute(_PENDING, {"sid": self._sid}).all()
        self._unknown = tuple(str(row.action_id) for row in pending)
        drafts = [self._unanswered(str(row.action_id), str(row.entry_hash)) for row in pending]
        if self._abandon:
            drafts.append(self._abandoned(connection))
        return batch.append(drafts)

    def recovered(self) -> Recovered:
        """Return what `perform` wrote."""
        return Recovered(self._sid, self._unknown, self._abandon)

    def _unanswered(self, action: str, intent: str) -> Draft:
        fields: dict[str, Value] = {
            "intent": intent,
            "session": self._sid,
            "action": action,
            "reason": _REASON,
            "boot": self._boot,
        }
        return Draft(self._system, "action.unknown", ids.entry_id(), fields)

    def _abandoned(self, connection: Connection) -> Draft:
        leaves: Sequence[bytes] = connection.execute(_LEAVES, {"sid": self._sid}).scalars().all()
        fields: dict[str, Value] = {
            "session": self._sid,
            "root": tree.root(leaves).hex(),
            "size": len(leaves),
            "reason": _REASON,
        }
        return Draft(self._system, "session.abandoned", ids.entry_id(), fields)
