"""What entries say was pruned: up to which index, how many entries, and which sessions are gone with them.

Of a session that was pruned the seal is left, as the only entry; nothing here is judged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from ghost_core.errors import GhostError, NotFoundError
from ghost_ledger import entry

__all__ = ["SEALS", "Statement", "only_seals", "refuse", "statements"]

_SAID: Final = sa.text(  # sorted here, so that SQLite reads the index that holds only these
    "SELECT idx, sid, body, leaf_hash FROM entries WHERE type = 'log.pruned'"
)
SEALS: Final = (
    "SELECT s.sid FROM entries s WHERE s.type = 'session.seal' AND s.idx < :minimum AND s.seq > 0"
    " AND NOT EXISTS (SELECT 1 FROM entries e WHERE e.sid = s.sid AND e.seq = 0)"
)
"""The sessions below a minimum of which only the seal is left."""
_SEALS: Final = sa.text(f"{SEALS} ORDER BY s.idx")


@dataclass(frozen=True, slots=True)
class Statement:
    """An entry `log.pruned`: that `count` entries of sessions sealed below `new_minimum` were deleted."""

    idx: int
    sid: str
    leaf_hash: str
    ts: int
    old_minimum: int
    new_minimum: int
    count: int
    root: str


def statements(connection: Connection) -> list[Statement]:
    """Return what was said, in log order; an entry that cannot be read says nothing here."""
    found = (_said(*row) for row in sorted(connection.execute(_SAID)))
    return [each for each in found if each is not None]


def only_seals(connection: Connection, minimum: int) -> Sequence[str]:
    """Return the sessions sealed below a minimum of which nothing else is left, oldest first."""
    return connection.execute(_SEALS, {"minimum": minimum}).scalars().all()


def refuse(connection: Connection, sid: str, seal: int) -> None:
    """Say that a session is pruned, of which nothing but the seal is there at this index.

    Raises:
        NotFoundError: code `ledger.pruned`, naming the entry; where none says so, nothing is raised.
    """
    said = next((each for each in statements(connection) if each.new_minimum > seal), None)
    if said is not None:
        raise NotFoundError(
            f"session {sid}: its entries were pruned, says log.pruned at idx {said.idx},"
            f" sha256_{said.leaf_hash}",
            code="ledger.pruned",
            hint="its seal, its leaf hashes and bundles that were made before are left",
        )


def _said(idx: int, sid: str, body: bytes, leaf_hash: bytes) -> Statement | None:
    try:
        read = entry.parse(body)
    except GhostError:
        return None
    old, new, count, root = (
        read.fields[name] for name in ("old_minimum", "new_minimum", "count", "root")
    )
    return Statement(
        idx, sid, leaf_hash.hex(), read.ts, int(str(old)), int(str(new)), int(str(count)), str(root)
    )
