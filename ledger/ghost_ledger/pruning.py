"""Pruning: the entries of whole sealed sessions go, below a minimum index, after an entry that says so.

Statement and deletion are one transaction, the statement first: the guards of the database delete nothing
that no entry covers. A long log goes in steps, so that nobody waits for the whole. Seals, tiles, heads and
derived rows stay, so every proof can still be made. What a page still holds afterwards is `scrub`'s.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine, Row

from ghost_core import db, ids
from ghost_core.errors import IntegrityError
from ghost_core.migrations.prune_guards import KEPT
from ghost_ledger import tiles
from ghost_ledger.batch import Batch
from ghost_ledger.canonical import Value
from ghost_ledger.drafts import Draft, Receipt
from ghost_ledger.pruned import Statement, statements

__all__ = ["Plan", "Pruning", "joined", "limit", "look", "scrub"]

TABLES: Final = ("entries", "payloads", "payload_keys", "sessions")
STEP: Final = 4096  # entries of one transaction; a session is never cut
ALL: Final = 2**62

_FULL: Final = sa.text("SELECT coalesce(max(number), -1) + 1 FROM tiles WHERE level = 0")
_FROM: Final = sa.text("SELECT idx, ts FROM entries WHERE idx >= :idx ORDER BY idx LIMIT 1")
_SEALED: Final = (
    " FROM entries s WHERE s.type = 'session.seal' AND s.idx >= :old AND s.idx < :new"  # noqa: S608  # our own names
    " AND NOT EXISTS (SELECT 1 FROM entries k WHERE k.sid = s.sid AND k.type IN ("
    + ", ".join(f"'{name}'" for name in KEPT)
    + "))"
)
_VICTIMS: Final = sa.text(f"SELECT s.sid, s.idx, s.seq{_SEALED} ORDER BY s.idx LIMIT :limit")
_ABOVE_LIVE: Final = (
    sa.text(  # a sum is no range: else SQLite reads all of it instead of these sessions
        "WITH RECURSIVE above(sid) AS (SELECT parent FROM sessions"
        " WHERE status = 'live' AND parent IS NOT NULL"
        " UNION SELECT s.parent FROM sessions s JOIN above a ON s.session_id = a.sid"
        " WHERE s.parent IS NOT NULL)"
        " SELECT min(e.idx) FROM above a JOIN entries e ON e.sid = a.sid"
        " WHERE e.type = 'session.seal' AND e.idx + 0 >= :old AND e.idx + 0 < :new"
    )
)
_LEAVES: Final = sa.text(
    "SELECT idx, leaf_hash FROM entries WHERE sid = :sid AND type <> 'session.seal' ORDER BY seq"
)
_PAYLOADS: Final = sa.text(
    "SELECT count(*) FROM payloads WHERE entry_idx IN (SELECT e.idx FROM entries e"  # noqa: S608  # our own names
    f" WHERE e.sid IN (SELECT s.sid{_SEALED}))"
)
_TILE: Final = sa.text("SELECT hashes FROM tiles WHERE level = 0 AND number = :number")
_DELETES: Final = tuple(
    sa.text(statement)
    for statement in (
        "DELETE FROM payloads WHERE entry_idx IN (SELECT idx FROM entries WHERE sid = :sid)",
        "DELETE FROM payload_keys WHERE sid = :sid",
        "UPDATE sessions SET intent = NULL WHERE session_id = :sid",
        "DELETE FROM entries WHERE sid = :sid AND type <> 'session.seal'",
    )
)


@dataclass(frozen=True, slots=True)
class Plan:
    """What would go or went: entries of these sessions; `before` says what was pruned earlier."""

    old_minimum: int
    new_minimum: int
    sids: tuple[str, ...]
    count: int
    payloads: int
    root: bytes
    before: tuple[Statement, ...]


def limit(connection: Connection, before_us: int) -> int:
    """Return the highest index in full tiles under which all is older than an instant, microseconds UTC.

    Times never fall in the order of the log, so a few of them are asked.
    """
    low, high = 0, tiles.WIDTH * int(connection.execute(_FULL).scalar_one())
    while low < high:
        middle = (low + high) // 2
        row = connection.execute(_FROM, {"idx": middle}).first()
        if row is None or row.ts >= before_us:
            high = middle
        else:
            low = int(row.idx) + 1
    return high - high % tiles.WIDTH


def look(connection: Connection, end: int, *, at_most: int | None = None) -> Plan:
    """Say what below an index can be pruned, which is one that `limit` returned: all, or the next step.

    Raises:
        IntegrityError: codes `ledger.tiles`, `ledger.entries`: what is there is not whole.
    """
    said = tuple(statements(connection))
    old = said[-1].new_minimum if said else 0
    rows, new = _victims(connection, old, end, at_most)
    if not rows:  # a minimum that frees nothing is not entered
        return Plan(old, old, (), 0, 0, b"", said)
    found = _Tiles(connection)
    return Plan(
        old_minimum=old,
        new_minimum=new,
        sids=tuple(str(row.sid) for row in rows),
        count=sum(found.count(str(row.sid), int(row.seq)) for row in rows),
        payloads=int(connection.execute(_PAYLOADS, {"old": old, "new": new}).scalar_one()),
        root=tiles.root_at(connection, new),
        before=said,
    )


def joined(steps: Sequence[Plan]) -> Plan:
    """Return steps that follow each other as one."""
    first, last = steps[0], steps[-1]
    return Plan(
        old_minimum=first.old_minimum,
        new_minimum=last.new_minimum,
        sids=tuple(sid for each in steps for sid in each.sids),
        count=sum(each.count for each in steps),
        payloads=sum(each.payloads for each in steps),
        root=last.root,
        before=first.before,
    )


class Pruning:
    """One step, looked up and carried out in one transaction; `system` signs the entry that says so."""

    weight = 1

    def __init__(self, end: int, system: str) -> None:
        self._end = end
        self._system = system
        self.done: Plan | None = None

    def perform(self, batch: Batch) -> tuple[Receipt, ...]:
        """Append `log.pruned`, then delete what it covers; nothing where another process was first."""
        batch.write_rows()  # what other calls of this transaction wrote is not to be taken back with ours
        with db.nested(batch.connection):
            plan = look(batch.connection, self._end, at_most=STEP)
            if not plan.count:
                return ()
            receipts = batch.append([self._draft(plan)])
            batch.write_rows()
            sids = [{"sid": sid} for sid in plan.sids]
            for statement in _DELETES:
                batch.connection.execute(statement, sids)
        self.done = plan
        return receipts

    def _draft(self, plan: Plan) -> Draft:
        fields: dict[str, Value] = {
            "old_minimum": plan.old_minimum,
            "new_minimum": plan.new_minimum,
            "count": plan.count,
            "root": plan.root.hex(),
        }
        return Draft(self._system, "log.pruned", ids.entry_id(), fields)


def scrub(engine: Engine) -> None:
    """Write anew what held the pruned, so that neither page nor write-ahead log does; see `db.rewrite`."""
    db.rewrite(engine, TABLES)


def _victims(
    connection: Connection, old: int, end: int, at_most: int | None
) -> tuple[Sequence[Row[Any]], int]:
    """Return the seals of sessions that can go, in log order, and the minimum that lies over them."""
    needed = connection.execute(_ABOVE_LIVE, {"old": old, "new": end}).scalar()
    if needed is not None:  # one in quarantine holds for those below it, and its entry says why
        end = int(needed) - int(needed) % tiles.WIDTH
    if at_most is not None:
        span = {"old": old, "new": end, "limit": at_most}
        end = _step(connection.execute(_VICTIMS, span), end, at_most)
    span = {"old": old, "new": end, "limit": ALL}
    return connection.execute(_VICTIMS, span).all(), end


def _step(rows: Iterable[Row[Any]], end: int, at_most: int) -> int:
    """Return the minimum over as many sessions as hold so many entries."""
    total = 0
    for row in rows:
        total += int(row.seq)
        if total >= at_most:
            return (int(row.idx) // tiles.WIDTH + 1) * tiles.WIDTH
    return end


class _Tiles:
    """Demands that the leaf hash of every entry that would go stays in a tile."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._held: tuple[int, bytes] = (-1, b"")

    def count(self, sid: str, seq: int) -> int:
        """Return how many entries are under a seal, which has the place behind them."""
        found = 0
        for idx, leaf in self._leaves(sid):
            number = idx // tiles.WIDTH
            if leaf != tiles.at(self._hashes(number), idx):
                raise _broken(f"idx {idx}: tile {number} does not hold its leaf hash", "tiles")
            found += 1
        if found != seq:
            raise _broken(f"session {sid}: expected {seq} entries under its seal, found {found}")
        return found

    def _leaves(self, sid: str) -> Iterator[tuple[int, bytes]]:
        for idx, leaf in self._connection.execute(_LEAVES, {"sid": sid}):
            yield int(idx), leaf

    def _hashes(self, number: int) -> bytes:
        if self._held[0] != number:
            found = self._connection.execute(_TILE, {"number": number}).scalar()
            self._held = number, found if isinstance(found, bytes) else b""
        return self._held[1]


def _broken(reason: str, of: str = "entries") -> IntegrityError:
    return IntegrityError(reason, code=f"ledger.{of}", hint="ghost ledger verify")
