"""What a view reads beyond one session's entries: who else spoke of it, and what the log counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from ghost_core import db
from ghost_core.errors import GhostError
from ghost_ledger import chain, entry, pruned
from ghost_ledger.entry import Entry
from ghost_ledger.reader import Ledger
from ghost_ledger.stored import StoredEntry

__all__ = ["LogCount", "Mark", "Pruned", "Source", "Witnessed"]

_FOREIGN: Final = sa.text(
    "SELECT idx, sid, seq, type, id, ts, body, sig, leaf_hash FROM entries"
    " WHERE type IN ('action.unknown', 'session.abandoned', 'payload.erased') ORDER BY idx"
)
_SESSIONS: Final = sa.text(
    "SELECT e.sid, e.body FROM entries e"
    " JOIN (SELECT min(idx) AS place FROM entries GROUP BY sid) f ON e.idx = f.place ORDER BY e.idx"
)
_DERIVED: Final = sa.text(
    "SELECT session_id FROM sessions WHERE system = false ORDER BY spawned_at"
)
_ROW: Final = sa.text("SELECT count(*) FROM sessions WHERE session_id = :sid")
_COUNT: Final = sa.text("SELECT count(*), coalesce(max(idx), -1) + 1 FROM entries")
_OVER: Final = sa.text("SELECT count(*) FROM entries WHERE idx >= :minimum")
_SIZES: Final = sa.text(
    f"SELECT coalesce(sum(seq), 0) FROM entries WHERE sid IN ({pruned.SEALS})"  # noqa: S608  # our own names
    " AND type = 'session.seal'"
)
_MARK: Final = sa.text(
    "SELECT (SELECT count(*) FROM entries WHERE sid = :sid), (SELECT count(*) FROM entries"
    " WHERE type IN ('action.unknown', 'session.abandoned', 'payload.erased'))"
)


@dataclass(frozen=True, slots=True)
class Witnessed:
    """An entry of any session, read, with how it is stored."""

    entry: Entry
    stored: StoredEntry


@dataclass(frozen=True, slots=True)
class Pruned:
    """What entries say was pruned: how many entries, of which sessions, below which index."""

    entries: int = 0
    sids: tuple[str, ...] = ()
    minimum: int = 0
    agreed: bool = True

    def view(self) -> dict[str, int]:
        """Return it as views show it."""
        return {"entries": self.entries, "sessions": len(self.sids), "below": self.minimum}


@dataclass(frozen=True, slots=True)
class LogCount:
    """How many entries there are, and how many the highest place and the head speak of."""

    entries: int
    places: int
    head: int
    pruned: Pruned = Pruned()

    @property
    def whole(self) -> bool:
        """Tell whether no entry is missing but those that were pruned."""
        here = self.entries + self.pruned.entries
        return here == self.places == self.head and self.pruned.agreed


@dataclass(frozen=True, slots=True)
class Mark:
    """How far a session has come: its entries, and those that may speak of it."""

    entries: int
    others: int


class Source:
    """Queries of views over the database of a reader."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self._about: list[Witnessed] | None = None
        self._mark = Mark(0, 0)
        self._engine = ledger._engine  # noqa: SLF001  # the same room's reader, on the same database

    @property
    def database(self) -> str:
        """The name under which the head memory knows this database."""
        return db.name(self._engine)

    def mark(self, sid: str) -> Mark:
        """Look how far a session has come; equal marks mean that nothing happened in between."""
        with db.read(self._engine) as connection:
            entries, others = connection.execute(_MARK, {"sid": sid}).one()
        found = Mark(int(entries), int(others))
        if found.others != self._mark.others:
            self._about = None
        self._mark = found
        return found

    def about_others(self) -> list[Witnessed]:
        """Return the entries by which one session speaks of another, or of erased payloads."""
        if self._about is None:
            with db.read(self._engine) as connection:
                stored = [StoredEntry(*row) for row in connection.execute(_FOREIGN)]
            read = [(_parsed(item.body), item) for item in stored]
            self._about = [Witnessed(found, item) for found, item in read if found]
        return self._about

    def sessions(self) -> Sequence[str]:
        """Return the ids of all sessions but the recorder's own, oldest first, as the entries know them.

        A session of which only the derived row is left comes last; those that were pruned are left out.
        """
        with db.read(self._engine) as connection:
            rows = connection.execute(_SESSIONS).all()
            derived = connection.execute(_DERIVED).scalars().all()
            gone = set(_pruned(connection).sids)
        known = {row[0] for row in rows}
        left = [sid for sid in derived if sid not in known]
        return [sid for sid, body in rows if sid not in gone and not _is_system(body)] + left

    def recorders(self) -> Sequence[str]:
        """Return the ids of the sessions that call themselves the recorder's own; nothing is judged."""
        with db.read(self._engine) as connection:
            rows = connection.execute(_SESSIONS).all()
        return [sid for sid, body in rows if _is_system(body)]

    def has_row(self, sid: str) -> bool:
        """Tell whether the derived table knows the session."""
        with db.read(self._engine) as connection:
            return bool(connection.execute(_ROW, {"sid": sid}).scalar())

    def count(self) -> LogCount:
        """Count the entries of the whole log."""
        with db.read(self._engine) as connection:
            state = chain.load_state(connection)
            entries, places = connection.execute(_COUNT).one()
            gone = _pruned(connection)
        return LogCount(int(entries), int(places), state.frontier.size if state else 0, gone)


def _pruned(connection: Connection) -> Pruned:
    """Return what was pruned, and whether seals and gaps agree with what was said of it."""
    said = pruned.statements(connection)
    if not said:
        return Pruned()
    minimum, told = said[-1].new_minimum, sum(each.count for each in said)
    size = int(connection.execute(_COUNT).one()[1])
    over = int(connection.execute(_OVER, {"minimum": minimum}).scalar_one())
    held = int(connection.execute(_SIZES, {"minimum": minimum}).scalar_one())
    sids = tuple(pruned.only_seals(connection, minimum))
    return Pruned(told, sids, minimum, agreed=over == size - minimum and held == told)


def _parsed(body: bytes) -> Entry | None:
    try:
        return entry.parse_envelope(body)
    except GhostError:
        return None


def _is_system(body: bytes) -> bool:
    found = _parsed(body)
    return found is not None and found.fields.get("system") is True
