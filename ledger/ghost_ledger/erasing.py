"""Erasing payloads: what a commitment stands for goes, with its salt; an entry says so, and the chain holds.

Rows and entries change in one transaction, the entries first: the guards of the database delete nothing that
no entry names. What a page still holds afterwards is `scrub`'s.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from ghost_core import db, ids
from ghost_core.errors import NotFoundError, UsageError
from ghost_ledger import pruned
from ghost_ledger.batch import Batch
from ghost_ledger.canonical import Value
from ghost_ledger.drafts import Draft, Receipt
from ghost_ledger.erasures import Erased, earlier

__all__ = ["Erased", "Erasing", "Erasure", "Wanted", "find", "look", "scrub"]

BASIS: Final = 300
TABLES: Final = ("payloads", "payload_keys", "sessions")

_FIRST: Final = sa.text("SELECT idx, seq, type FROM entries WHERE sid = :sid ORDER BY seq LIMIT 1")
_ACTION: Final = sa.text("SELECT 1 FROM entries WHERE sid = :sid AND id = :action LIMIT 1")
_STORED: Final = sa.text(
    "SELECT e.idx, e.id, e.leaf_hash, p.field FROM entries e JOIN payloads p ON p.entry_idx = e.idx"
    " WHERE e.sid = :sid ORDER BY e.idx, p.field"
)
_INTENT: Final = sa.text(  # the text is a column too, also where no payload was stored
    "SELECT e.idx, e.id, e.leaf_hash, 'intent' AS field FROM entries e"
    " JOIN sessions s ON s.session_id = e.sid"
    " WHERE e.sid = :sid AND e.type = 'session.spawn' AND s.intent IS NOT NULL"
)
_DELETE: Final = sa.text("DELETE FROM payloads WHERE entry_idx = :idx AND field = :field")
_FORGET: Final = sa.text("UPDATE sessions SET intent = NULL WHERE session_id = :sid")
_SPARE_KEY: Final = sa.text(
    "SELECT 1 FROM sessions s JOIN payload_keys k ON k.sid = s.session_id"
    " WHERE s.session_id = :sid AND s.status <> 'live'"
    " AND NOT EXISTS (SELECT 1 FROM entries e JOIN payloads p ON p.entry_idx = e.idx"
    " WHERE e.sid = s.session_id)"
)
_DROP_KEY: Final = sa.text("DELETE FROM payload_keys WHERE sid = :sid")


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be erased, and why: all of a session, one action of it, or one field."""

    sid: str
    basis: str
    actor: str
    action: str | None = None
    field: str | None = None


@dataclass(frozen=True, slots=True)
class Target:
    """The fields of one entry of which something is stored."""

    idx: int
    id: str
    leaf_hash: str
    fields: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Found:
    """Whether there is something to do, and what was erased before."""

    due: bool
    before: tuple[Erased, ...]


@dataclass(frozen=True, slots=True)
class Erasure:
    """What was erased now and before, and whether the data key of the session went too."""

    now: tuple[Erased, ...]
    before: tuple[Erased, ...]
    key_destroyed: bool


def find(connection: Connection, wanted: Wanted) -> list[Target]:
    """Return what is stored of what is wanted, in log order.

    Raises:
        UsageError: code `usage.basis`, no reason is given, or one that an entry cannot hold.
        NotFoundError: codes `session.unknown`, `ledger.pruned`, `action.unknown`.
    """
    if not wanted.basis.strip() or not wanted.basis.isprintable() or len(wanted.basis) > BASIS:
        raise UsageError(
            f"the basis: expected one line of up to {BASIS} characters",
            code="usage.basis",
            hint="it stays in the log for good: name a rule or a request, not a person",
        )
    first = connection.execute(_FIRST, {"sid": wanted.sid}).first()
    if first is None:
        raise NotFoundError(
            f"session {wanted.sid[:64]}: is not in this ledger",
            code="session.unknown",
            hint="ghost session list",
        )
    if first.seq and first.type == "session.seal":
        pruned.refuse(connection, wanted.sid, first.idx)
    where = {"sid": wanted.sid, "action": wanted.action}
    if wanted.action is not None and connection.execute(_ACTION, where).first() is None:
        raise NotFoundError(
            f"action {wanted.action[:64]}: is not in session {wanted.sid}",
            code="action.unknown",
            hint=f"ghost session show {wanted.sid}",
        )
    return _targets(connection, wanted)


def look(connection: Connection, wanted: Wanted) -> Found:
    """Say what is there to erase, before anything is entered.

    Raises as `find`, and NotFoundError `payload.missing`: nothing of it is stored, nor ever was erased.
    """
    stored, before = (
        find(connection, wanted),
        earlier(connection, wanted.sid, action=wanted.action, field=wanted.field),
    )
    if not stored and not before:
        raise NotFoundError(
            f"session {wanted.sid}: nothing of what was named is stored",
            code="payload.missing",
            hint=f"ghost replay --session-id {wanted.sid} --disclose shows what is",
        )
    where = {"sid": wanted.sid}
    spare = connection.execute(_SPARE_KEY, where).first() is not None
    return Found(bool(stored) or spare, tuple(before))


class Erasing:
    """One erasure, looked up and carried out in one transaction; `system` signs its entries."""

    weight = 1

    def __init__(self, wanted: Wanted, system: str) -> None:
        self._wanted = wanted
        self._system = system
        self.done: tuple[Erased, ...] = ()
        self.key_destroyed = False

    def perform(self, batch: Batch) -> tuple[Receipt, ...]:
        """Append an entry for each entry that loses payloads, then delete them."""
        batch.write_rows()  # what other calls of this transaction wrote is not to be taken back with ours
        with db.nested(batch.connection):
            targets = find(batch.connection, self._wanted)
            receipts = batch.append([self._draft(target) for target in targets])
            batch.write_rows()
            self._delete(batch.connection, targets)
        self.done = tuple(
            Erased(target.id, target.leaf_hash, target.fields, receipt.leaf_hash.hex())
            for target, receipt in zip(targets, receipts, strict=True)
        )
        return receipts

    def _draft(self, target: Target) -> Draft:
        fields: dict[str, Value] = {
            "entry": target.leaf_hash,
            "fields": list[Value](target.fields),
            "basis": self._wanted.basis,
            "actor": self._wanted.actor,
        }
        return Draft(self._system, "payload.erased", ids.entry_id(), fields)

    def _delete(self, connection: Connection, targets: Sequence[Target]) -> None:
        where = {"sid": self._wanted.sid}
        gone = [{"idx": each.idx, "field": name} for each in targets for name in each.fields]
        if gone:
            connection.execute(_DELETE, gone)
        if any("intent" in target.fields for target in targets):
            connection.execute(_FORGET, where)
        # the owner of a live session goes on to seal what it stores under this key
        self.key_destroyed = connection.execute(_SPARE_KEY, where).first() is not None
        if self.key_destroyed:
            connection.execute(_DROP_KEY, where)


def scrub(engine: Engine) -> None:
    """Write anew what held the erased, so that neither page nor write-ahead log does; see `db.rewrite`."""
    db.rewrite(engine, TABLES)


def _targets(connection: Connection, wanted: Wanted) -> list[Target]:
    where = {"sid": wanted.sid}
    rows = [*connection.execute(_STORED, where), *connection.execute(_INTENT, where)]
    found: dict[int, tuple[str, str, dict[str, None]]] = {}
    for row in sorted(rows, key=lambda each: (each.idx, each.field)):
        if wanted.action not in {None, row.id} or wanted.field not in {None, row.field}:
            continue
        found.setdefault(row.idx, (row.id, row.leaf_hash.hex(), {}))[2][row.field] = None
    return [Target(idx, id_, leaf, tuple(names)) for idx, (id_, leaf, names) in found.items()]
