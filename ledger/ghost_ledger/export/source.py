"""What a view reads beyond one session's entries: who else spoke of it, and what the log counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import sqlalchemy as sa

from ghost_core import db
from ghost_core.errors import GhostError
from ghost_ledger import entry, opening
from ghost_ledger.entry import Entry
from ghost_ledger.reader import Ledger
from ghost_ledger.stored import StoredEntry

__all__ = ["LogCount", "Source", "Witnessed"]

_FOREIGN: Final = sa.text(
    "SELECT idx, sid, seq, type, id, ts, body, sig, leaf_hash FROM entries"
    " WHERE type IN ('action.unknown', 'session.abandoned', 'payload.erased') ORDER BY idx"
)
_SESSIONS: Final = sa.text(
    "SELECT e.sid, e.body FROM entries e"
    " JOIN (SELECT min(idx) AS place FROM entries GROUP BY sid) f ON e.idx = f.place ORDER BY e.idx"
)
_COUNT: Final = sa.text("SELECT count(*), coalesce(max(idx), -1) + 1 FROM entries")


@dataclass(frozen=True, slots=True)
class Witnessed:
    """An entry of any session, read, with how it is stored."""

    entry: Entry
    stored: StoredEntry


@dataclass(frozen=True, slots=True)
class LogCount:
    """How many entries there are, and how many the highest place and the head speak of."""

    entries: int
    places: int
    head: int

    @property
    def whole(self) -> bool:
        """Tell whether no entry is missing."""
        return self.entries == self.places == self.head


class Source:
    """Queries of views over the database of a reader."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self._engine = ledger._engine  # noqa: SLF001  # the same room's reader, on the same database

    @property
    def database(self) -> str:
        """The name under which the head memory knows this database."""
        return opening.database_name(self._engine)

    def about_others(self) -> list[Witnessed]:
        """Return the entries by which one session speaks of another, or of erased payloads."""
        with db.read(self._engine) as connection:
            stored = [StoredEntry(*row) for row in connection.execute(_FOREIGN)]
        return [Witnessed(found, item) for item in stored if (found := _parsed(item.body))]

    def sessions(self) -> Sequence[str]:
        """Return the ids of all sessions but the recorder's own, oldest first, as the entries know them.

        A session of which only the derived row is left comes last.
        """
        with db.read(self._engine) as connection:
            rows = connection.execute(_SESSIONS).all()
        known = {row[0] for row in rows}
        left = [row.session_id for row in self.ledger.sessions() if row.session_id not in known]
        return [sid for sid, body in rows if not _is_system(body)] + left

    def count(self) -> LogCount:
        """Count the entries of the whole log."""
        head = self.ledger.head()
        with db.read(self._engine) as connection:
            entries, places = connection.execute(_COUNT).one()
        return LogCount(int(entries), int(places), head.size if head else 0)


def _parsed(body: bytes) -> Entry | None:
    try:
        return entry.parse_envelope(body)
    except GhostError:
        return None


def _is_system(body: bytes) -> bool:
    found = _parsed(body)
    return found is not None and found.fields.get("system") is True
