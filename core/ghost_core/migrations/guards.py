"""The append-only triggers of `entries`: what revision 0001 creates and every recorder demands.

An `INSERT OR REPLACE` walks past UPDATE and DELETE triggers, therefore the INSERT guard looks at
every unique key itself (SQLite: REPLACE deletes without firing unless `recursive_triggers` is on).
It also follows the chain, which a unique index over hashes would do too, at a page written for each entry.
They hold against our own mistakes and other programs, not against the owner of the file.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

_INSERT = """\
CREATE TRIGGER entries_insert BEFORE INSERT ON entries
BEGIN
  SELECT RAISE(ABORT, 'ledger: the index is not the next one')
    WHERE NEW.idx IS NOT (SELECT coalesce(max(idx), -1) + 1 FROM entries);
  SELECT RAISE(ABORT, 'ledger: the session is sealed')
    WHERE EXISTS (SELECT 1 FROM entries WHERE sid = NEW.sid AND type = 'session.seal');
  SELECT RAISE(ABORT, 'ledger: the sequence number is not the next one')
    WHERE NEW.seq IS NOT (SELECT coalesce(max(seq), -1) + 1 FROM entries WHERE sid = NEW.sid);
  SELECT RAISE(ABORT, 'ledger: the entry does not continue the one before it')
    WHERE NEW.prev IS NOT coalesce(
      (SELECT leaf_hash FROM entries WHERE sid = NEW.sid AND seq = NEW.seq - 1), zeroblob(32));
END"""

_UPDATE = """\
CREATE TRIGGER entries_update BEFORE UPDATE ON entries
BEGIN
  SELECT RAISE(ABORT, 'ledger: entries are append-only');
END"""

_DELETE = """\
CREATE TRIGGER entries_delete BEFORE DELETE ON entries
BEGIN
  SELECT RAISE(ABORT, 'ledger: entries are append-only');
END"""

SQLITE_GUARDS: Mapping[str, str] = MappingProxyType(
    {"entries_insert": _INSERT, "entries_update": _UPDATE, "entries_delete": _DELETE}
)
