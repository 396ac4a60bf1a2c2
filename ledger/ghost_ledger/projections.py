"""Comparing the derived tables with the signed entries: what an audit of the whole database looks at.

The entries are read once in log order; everything else in the database is computed from them again
by the very function that the writer used, and must be equal.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine, Row

from ghost_core import db
from ghost_core.errors import GhostError
from ghost_ledger import commitment, entry, tree
from ghost_ledger.derivation import KEYS, Change, Fact, Key, derive
from ghost_ledger.entry import Entry
from ghost_ledger.note import Vkey
from ghost_ledger.store import time_text
from ghost_ledger.tree import Frontier

__all__ = ["Difference", "differences"]

_ENTRIES: Final = sa.text(
    "SELECT idx, sid, seq, prev, type, id, ts, body, sig, leaf_hash FROM entries ORDER BY idx"
)
_HEAD: Final = sa.text("SELECT origin, size, frontier FROM log_head")
_SALT: Final = sa.text(
    "SELECT p.salt, e.body FROM payloads p JOIN entries e ON e.idx = p.entry_idx"
    " WHERE e.sid = :sid AND e.type = 'session.spawn' AND p.field = 'intent'"
)


@dataclass(frozen=True, slots=True)
class Difference:
    """A stored value that the entries do not say; `column` is empty for a whole row."""

    table: str
    key: str
    column: str
    expected: str
    found: str


def differences(engine: Engine) -> list[Difference]:
    """Return every value in the database that differs from what the entries say; empty is good.

    Raises:
        IntegrityError: code `ledger.duplicate`, two entries claim the same row.
        UnavailableError: as `db.read`.
    """
    with db.read(engine) as connection:
        scan = _Scan(connection)
        derived = derive(scan.facts())
        scan.compare_head()
        found = [*scan.found]
        for table in KEYS:
            found += _table_differences(connection, table, derived)
        return found


@dataclass(slots=True)
class _Scan:
    """One pass over the entries: checks their own columns, remembers each session's key."""

    connection: Connection
    found: list[Difference] = field(default_factory=list)
    _keys: dict[str, Vkey] = field(default_factory=dict)
    _frontier: Frontier = field(default_factory=Frontier)

    def facts(self) -> Iterator[Fact]:
        """Yield what the readable entries say."""
        for row in self.connection.execute(_ENTRIES):
            try:
                yield self._fact(row)
            except GhostError as error:
                self._note(row, "body", "a valid entry", error.message)

    def compare_head(self) -> None:
        """Compare the head row with the frontier over the stored leaf hashes."""
        row = self.connection.execute(_HEAD).first()
        if row is None:
            return
        expected, found = self._frontier.encode(), bytes(row.frontier)
        if row.size != self._frontier.size or expected != found:
            sizes = str(self._frontier.size), str(row.size)
            self.found.append(Difference("log_head", str(row.origin), "frontier", *sizes))

    def _fact(self, row: Row[Any]) -> Fact:
        self._frontier = self._frontier.append(row.leaf_hash)
        read = entry.parse(row.body)
        if read.type == "session.spawn":
            self._keys.setdefault(read.sid, Vkey.parse(str(read.fields["vkey"])))
        key = self._keys.get(read.sid)
        if key is None:
            raise GhostError("no session.spawn before it")
        leaf = tree.leaf_hash(entry.leaf(row.body, row.sig, key.name, key.key_id))
        self._compare_columns(row, read, leaf)
        return Fact(
            idx=row.idx,
            sid=read.sid,
            type=read.type,
            id=read.id,
            ts=read.ts,
            fields=read.fields,
            signature=row.sig,
            leaf_hash=leaf,
            key_hash=hashlib.sha256(key.public).hexdigest(),
        )

    def _compare_columns(self, row: Row[Any], read: Entry, leaf: bytes) -> None:
        pairs = {
            "sid": (read.sid, row.sid),
            "seq": (read.seq, row.seq),
            "prev": (read.prev, row.prev.hex()),
            "type": (read.type, row.type),
            "id": (read.id, row.id),
            "ts": (read.ts, row.ts),
            "leaf_hash": (leaf.hex(), row.leaf_hash.hex()),
        }
        for column, (expected, found) in pairs.items():
            if expected != found:
                self._note(row, column, str(expected), str(found))

    def _note(self, row: Row[Any], column: str, expected: str, found: str) -> None:
        self.found.append(Difference("entries", str(row.idx), column, expected, found))


def _table_differences(
    connection: Connection, table: str, derived: Mapping[Key, Change]
) -> Iterator[Difference]:
    expected = {key[1]: change for key, change in derived.items() if key[0] == table}
    name = KEYS[table]
    for row in connection.execute(sa.text(f"SELECT * FROM {table}")).mappings():  # noqa: S608  # our own names
        change = expected.pop(row[name], None)
        if change is None:
            yield Difference(table, str(row[name]), "", "no row", "a row")
            continue
        for column, found in row.items():
            if column == name:
                continue
            if column == "intent":
                yield from _intent_difference(connection, str(row[name]), found)
            elif change.values.get(column) != _as_derived(found):
                wanted = str(change.values.get(column))
                yield Difference(table, str(row[name]), column, wanted, str(found))
    for key in expected:
        yield Difference(table, str(key), "", "a row", "no row")


def _as_derived(found: object) -> object:
    """Return a stored value as it is derived: PostgreSQL hands out times and lists, SQLite their text."""
    match found:
        case datetime():
            return time_text(round(found.timestamp() * 1_000_000))
        case list():
            return json.dumps(found)
        case _:
            return found


def _intent_difference(connection: Connection, sid: str, found: str | None) -> Iterator[Difference]:
    """Check the one column that no entry holds in the clear against its commitment."""
    salted = connection.execute(_SALT, {"sid": sid}).first()
    if found is None or salted is None:
        return
    committed = str(entry.parse_envelope(salted.body).fields.get("intent"))
    if not commitment.check("intent", salted.salt, found.encode(), committed):
        yield Difference("sessions", sid, "intent", "the committed text", "another text")
