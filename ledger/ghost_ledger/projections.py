"""Comparing the derived tables with the signed entries: what an audit of the whole database looks at.

Everything but the entries is computed from them again by the very function that the writer used, and must be
equal: one session after the other, so that a long log needs no memory.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from heapq import merge
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Row

from ghost_core.errors import IncompleteError
from ghost_ledger import commitment, entry
from ghost_ledger.derivation import DERIVED, KEYS, Change, Fact, Key, changes, derive
from ghost_ledger.entry import Entry
from ghost_ledger.note import Vkey
from ghost_ledger.store import time_text

__all__ = ["Difference", "by_session"]

PAGE: Final = 500
_PAGE: Final = sa.text(
    "SELECT idx, seq, body, sig, leaf_hash FROM entries WHERE sid = :sid AND seq >= :seq"
    " AND type IN :types ORDER BY seq LIMIT :limit"
).bindparams(sa.bindparam("types", sorted(DERIVED), expanding=True))
_SIDS: Final = sa.text("SELECT sid, min(seq) FROM entries GROUP BY sid ORDER BY min(idx)")
_SESSION: Final = sa.text("SELECT * FROM sessions WHERE session_id = :sid")
_LOWEST: Final = sa.text(
    "SELECT idx, body, sig, leaf_hash FROM entries WHERE sid = :sid AND seq = :seq"
)
_ABOUT: Final = sa.text(
    "SELECT idx, body, sig, leaf_hash FROM entries"
    " WHERE type IN ('action.unknown', 'session.abandoned') ORDER BY idx"
)
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


def by_session(connection: Connection) -> Iterator[Difference]:
    """Yield the differences of the derived tables, session by session; the entries are taken as they are.

    Their columns too: what says nothing of another table is not read once more.

    Raises:
        IntegrityError: an entry cannot be read, or two claim the same row.
    """
    about = _about_others(connection)
    for sid, lowest in connection.execute(_SIDS).all():
        if lowest:
            yield from _of_seal(connection, sid, lowest)
            continue
        told = merge(_facts(connection, sid), about.get(sid, ()), key=lambda fact: fact.idx)
        derived = derive(told)
        for table in KEYS:
            yield from _table_differences(connection, table, derived, sid)
    for table in KEYS:
        query = f"SELECT session_id FROM {table} WHERE session_id NOT IN (SELECT sid FROM entries)"  # noqa: S608  # our own names
        for sid in connection.execute(sa.text(query)).scalars():
            yield Difference(table, sid, "", "no row", "a row")


def _of_seal(connection: Connection, sid: str, seq: int) -> Iterator[Difference]:
    """Yield what differs from the seal of a session that was pruned: nothing else is left to be compared."""
    row = connection.execute(_SESSION, {"sid": sid}).mappings().first()
    if row is None:
        yield Difference("sessions", sid, "", "a row", "no row")
        return
    if row["intent"] is not None:  # went with its salt
        yield Difference("sessions", sid, "intent", "no text", "a text")
    stored = connection.execute(_LOWEST, {"sid": sid, "seq": seq}).one()
    key = Vkey.parse(str(row["vkey"]))
    fact = _as_fact(stored, entry.parse(stored.body), stored.leaf_hash, key)
    for change in changes(fact):
        yield from _change_differences(connection, change)


def _change_differences(connection: Connection, change: Change) -> Iterator[Difference]:
    """Yield the values of one row that are not those of a change."""
    name = str(change.key)
    query = sa.text(f"SELECT * FROM {change.table} WHERE {KEYS[change.table]} = :key")  # noqa: S608  # our own names
    row = connection.execute(query, {"key": change.key}).mappings().first()
    if row is None:
        yield Difference(change.table, name, "", "a row", "no row")
        return
    for column, value in change.values.items():
        if value != _as_derived(row[column]):
            yield Difference(change.table, name, column, str(value), str(row[column]))


def _about_others(connection: Connection) -> dict[str, list[Fact]]:
    """Return what the recorder's sessions say of others, by the session that they speak of."""
    found: dict[str, list[Fact]] = {}
    for row in connection.execute(_ABOUT):
        read = entry.parse(row.body)
        fact = _as_fact(row, read, row.leaf_hash, None)
        found.setdefault(str(read.fields["session"]), []).append(fact)
    return found


def _facts(connection: Connection, sid: str) -> Iterator[Fact]:
    """Yield what the entries of a session say, a page at a time."""
    key, seq = None, 0
    while rows := connection.execute(_PAGE, {"sid": sid, "seq": seq, "limit": PAGE}).all():
        for row in rows:
            read = entry.parse_envelope(row.body)
            if read.type == "session.spawn":
                key = Vkey.parse(str(read.fields["vkey"]))
            if _readable(read):
                yield _as_fact(row, read, row.leaf_hash, key)
        seq = rows[-1].seq + 1


def _readable(read: Entry) -> bool:
    try:
        entry.check_content(read)
    except IncompleteError:
        return False
    return True


def _as_fact(row: Row[Any], read: Entry, leaf: bytes, key: Vkey | None) -> Fact:
    return Fact(
        idx=row.idx,
        sid=read.sid,
        type=read.type,
        id=read.id,
        ts=read.ts,
        fields=read.fields,
        signature=row.sig,
        leaf_hash=leaf,
        key_hash="" if key is None else hashlib.sha256(key.public).hexdigest(),
    )


def _table_differences(
    connection: Connection, table: str, derived: Mapping[Key, Change], sid: str
) -> Iterator[Difference]:
    expected = {key[1]: change for key, change in derived.items() if key[0] == table}
    name = KEYS[table]
    query = sa.text(f"SELECT * FROM {table} WHERE session_id = :sid")  # noqa: S608  # our own names
    for row in connection.execute(query, {"sid": sid}).mappings():
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
