"""The audit of a whole ledger: every entry, the tree over them, and all that is stored beside them.

One read transaction sees one state; entries pass by a page at a time. The rules are the verifier's
(`verify.log`), the derived rows those of `projections`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from ghost_core import db
from ghost_core.errors import IncompleteError, IntegrityError
from ghost_core.paths import Home
from ghost_ledger import (
    bundling,
    chain,
    heads,
    identity,
    opening,
    payload_check,
    projections,
    pruned,
    tiles,
    tree,
)
from ghost_ledger.chain import LogState
from ghost_ledger.checkpoint import open_checkpoint
from ghost_ledger.note import Vkey
from ghost_ledger.verify import Axis
from ghost_ledger.verify.log import BadEntryError, Log, Row
from ghost_ledger.verify.pruning import Gaps, UnstatedError
from ghost_ledger.verify.report import State, judge
from ghost_ledger.verify.succession import Continued

__all__ = ["Audit", "audit"]

PAGE: Final = 500
_ENTRIES: Final = sa.text(
    "SELECT idx, sid, seq, prev, type, id, ts, body, sig, leaf_hash FROM entries"
    " WHERE idx >= :first ORDER BY idx LIMIT :limit"
)
_FIRST: Final = sa.text("SELECT min(idx) FROM entries")
_TILE: Final = sa.text("SELECT hashes, root FROM tiles WHERE level = :level AND number = :number")
_TILES: Final = sa.text("SELECT count(*) FROM tiles")
_VKEY: Final = sa.text("SELECT vkey FROM sessions WHERE session_id = :sid")


@dataclass(frozen=True, slots=True)
class Audit:
    """What was found; `first_bad` is the index of the first entry that cannot stand."""

    axes: tuple[Axis, ...]
    origin: str
    entries: int
    root: bytes
    sealed: int
    open: int
    pending: int
    first_bad: int | None
    fast: bool
    pruned: int
    minimum: int
    continued: Continued | None = None

    @property
    def exit_code(self) -> int:
        """Return 0, 7 or 8: whole, broken, or not to be decided; nothing at all is never whole."""
        states = {axis.state for axis in self.axes}
        if "invalid" in states:
            return IntegrityError.exit_code
        undecided = "incomplete" in states or not self.entries
        return IncompleteError.exit_code if undecided else 0


@dataclass(frozen=True, slots=True)
class _Work:
    """What the checks look at; `known` is the head that was remembered before the log was read."""

    engine: Engine
    connection: Connection
    home: Home
    state: LogState
    known: tuple[int, bytes] | None


def audit(engine: Engine, home: Home, *, fast: bool = False) -> Audit:
    """Judge the log of a migrated database against its head, its home, and itself.

    `fast` judges hashes, the tree and the head; neither signatures of entries nor what lies beside them.

    Raises:
        IncompleteError: code `ledger.empty`, there is no log and none is remembered.
        IntegrityError: codes `ledger.rollback`, there is none any more, `ledger.heads`, `ledger.head`.
        UnavailableError: as `db.read`.
    """
    with db.read(engine) as connection:
        state = chain.load_state(connection)
        left = connection.execute(_FIRST).scalar() is not None
    if state is None and left:
        raise IntegrityError(
            f"database {db.name(engine)}: has entries and no head", code="ledger.head"
        )
    if state is None:
        opening.refuse_lost(engine, home)
        raise IncompleteError(f"database {db.name(engine)}: holds no log", code="ledger.empty")
    known = heads.recall(home, state.origin)
    with db.read(engine) as connection:
        work = _Work(engine, connection, home, chain.load_state(connection) or state, known)
        return _judged(work, fast=fast)


def _judged(work: _Work, *, fast: bool) -> Audit:
    log = Log(work.state.origin, work.state.vkey, fast, _gaps(work.connection))
    walked, bad = _walked(work.connection, log)
    axes = [
        *walked,
        judge("head", lambda: _check_head(work, log)),
        judge("key", lambda: _check_key(work, log)),
    ]
    if not fast and bad is None:
        axes.append(judge("columns", lambda: _check_columns(work.connection, log)))
        axes.append(judge("payloads", lambda: payload_check.check(work.connection, work.home)))
    return Audit(
        axes=tuple(axes),
        origin=work.state.origin,
        entries=log.frontier.size,
        root=log.frontier.root(),
        sealed=log.sealed,
        open=log.open,
        pending=log.pending,
        first_bad=bad,
        fast=fast,
        pruned=log.gaps.missing,
        minimum=log.gaps.minimum,
        continued=log.succession.continued,
    )


def _gaps(connection: Connection) -> Gaps:
    """Prepare for what entries say was pruned; the walk finds out whether they are right."""
    claimed = tuple(each.new_minimum for each in pruned.statements(connection))

    def vkey_of(sid: str) -> str:
        return str(connection.execute(_VKEY, {"sid": sid}).scalar())

    return Gaps(claimed, vkey_of)


def _walked(connection: Connection, log: Log) -> tuple[list[Axis], int | None]:
    """Feed every entry; the first that cannot stand ends the walk, since nothing after it can be judged."""
    tiles_ = _Tiles(connection)
    try:
        for row in _rows(connection):
            for idx in range(log.frontier.size, min(row.idx, log.gaps.minimum)):
                hash_ = tiles_.pruned(idx)
                log.skip(hash_)
                tiles_.feed(hash_, idx)
            tiles_.feed(log.feed(row).hash, row.idx)
        tiles_.finish()
        stated = log.gaps.finish()
    except BadEntryError as error:
        return [Axis(error.axis, "invalid", error.message)], error.idx
    except UnstatedError as error:
        return [Axis("pruned", "invalid", f"idx {error.idx}: {error.message}")], error.idx
    except IntegrityError as error:
        return [Axis("tree", "invalid", error.message)], None
    content: State = "incomplete" if log.unreadable else "valid"
    signed: State = "absent" if log.fast else "valid"
    read = log.frontier.size - log.gaps.missing
    return [
        Axis("entries", content, log.unreadable or f"{read} read"),
        Axis("chain", "valid", f"{log.sealed} sessions sealed, {log.open} without seal"),
        Axis("signatures", signed, "not checked (fast)" if log.fast else ""),
        Axis("sessions", "valid", f"{log.pending} calls without outcome"),
        Axis("tree", "valid", f"root {log.frontier.root().hex()}"),
        *([Axis("pruned", "valid", stated)] if log.gaps.said else []),
    ], None


def _rows(connection: Connection) -> Iterator[Row]:
    first: int | None = connection.execute(_FIRST).scalar()
    while first is not None:
        page = connection.execute(_ENTRIES, {"first": first, "limit": PAGE}).all()
        yield from (Row(*row) for row in page)
        first = page[-1].idx + 1 if page else None


class _Tiles:
    """Compares each tile that is full with the stored one, on all levels."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._hashes: list[list[bytes]] = []
        self._count = 0
        self._lowest: tuple[int, bytes] = (-1, b"")

    def feed(self, leaf: bytes, idx: int) -> None:
        """Take the next leaf hash."""
        level, value = 0, leaf
        while True:
            if level == len(self._hashes):
                self._hashes.append([])
            self._hashes[level].append(value)
            if len(self._hashes[level]) < tiles.WIDTH:
                return
            full, self._hashes[level] = self._hashes[level], []
            value = self._compare(level, idx // tiles.WIDTH ** (level + 1), full)
            level += 1

    def pruned(self, idx: int) -> bytes:
        """Return the leaf hash of an entry that is not there, out of its tile.

        Raises:
            BadEntryError: there is none.
        """
        number = idx // tiles.WIDTH
        if self._lowest[0] != number:
            found = self._connection.execute(_TILE, {"level": 0, "number": number}).first()
            held = b"" if found is None or not isinstance(found.hashes, bytes) else found.hashes
            self._lowest = number, held
        hash_ = tiles.at(self._lowest[1], idx)
        if len(hash_) != tree.HASH_BYTES:
            raise BadEntryError("tree", idx, f"is pruned, and tile {number} does not hold its hash")
        return hash_

    def _compare(self, level: int, number: int, hashes: list[bytes]) -> bytes:
        found = self._connection.execute(_TILE, {"level": level, "number": number}).first()
        expected = b"".join(hashes), tree.root(hashes)
        if found is None or (found.hashes, found.root) != expected:
            what = "is missing" if found is None else "is not over these entries"
            raise IntegrityError(f"tile {number} of level {level} {what}", code="ledger.tiles")
        self._count += 1
        return expected[1]

    def finish(self) -> None:
        """Demand that no other tile is stored."""
        found = int(self._connection.execute(_TILES).scalar_one())
        if found != self._count:
            reason = f"expected {self._count} full tiles, found {found}"
            raise IntegrityError(reason, code="ledger.tiles")


def _check_head(work: _Work, log: Log) -> str:
    """Head: the stored one is over exactly these entries, and holds the one that is remembered."""
    state, origin = work.state, work.state.origin
    if state.frontier != log.frontier:
        sizes = f"size {state.frontier.size}, found {log.frontier.size} entries"
        raise IntegrityError(f"the head speaks of {sizes}, or of others", code="ledger.head")
    if state.last_ts != log.ts:
        reason = f"the head speaks of the time {state.last_ts}, the last entry of {log.ts}"
        raise IntegrityError(reason, code="ledger.head")
    opening.check_memory(work.connection, state, work.known)
    if work.known is None:
        lost = heads.remembered_in(work.home, db.name(work.engine))
        if lost is not None:
            reason = f"this database held log {lost.origin}, now {origin}"
            raise IntegrityError(reason, code="ledger.rollback")
        raise IncompleteError("no head is remembered outside of the database", code="ledger.heads")
    return f"size {state.frontier.size} contains the remembered size {work.known[0]}"


def _check_key(work: _Work, log: Log) -> str:
    """Key: the home holds the key to which the entries lead, and its signature on the head is good."""
    log.succession.finish(log.vkey)
    key = identity.existing_log_key(work.home)
    if key is None:
        raise IncompleteError("this home does not hold the key of the log", code="ledger.log_key")
    key.wipe()
    note = _signed(work)
    open_checkpoint(note, (Vkey.parse(work.state.vkey),))
    changes = log.succession.changes
    return work.state.vkey + (f", key {changes + 1} of this log" if changes else "")


def _signed(work: _Work) -> bytes:
    try:
        return bundling.sign_head(work.home, work.state)
    except IntegrityError as error:
        with db.read(work.engine) as connection:
            now = chain.load_state(connection)
        if now is not None and now.vkey != work.state.vkey:
            reason = "the key was changed while the log was read"
            raise IncompleteError(reason, code="ledger.log_key") from error
        raise


def _check_columns(connection: Connection, log: Log) -> str:
    """Columns: the derived rows say what the entries say."""
    if log.unreadable:
        raise IncompleteError("an entry that cannot be read may say something of them")
    first = next(projections.by_session(connection), None)
    if first is not None:
        raise IntegrityError(
            f"{first.table} {first.key} {first.column}: expected {first.expected}, "
            f"found {first.found}",
            code="ledger.columns",
        )
    return "sessions, actions, credentials_log"
