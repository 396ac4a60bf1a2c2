"""The append-only triggers of `entries`: what revision 0001 creates and every recorder demands.

An `INSERT OR REPLACE` walks past UPDATE and DELETE triggers, therefore the INSERT guard looks at
every unique key itself (SQLite: REPLACE deletes without firing unless `recursive_triggers` is on).
It also follows the chain, which a unique index over hashes would do too, at a page written for each entry.
In PostgreSQL TRUNCATE has a trigger of its own. They hold against our own mistakes and other programs, not
against the owner of the file or of the tables.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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

_POSTGRES_INSERT = """
BEGIN
  IF NEW.idx IS DISTINCT FROM (SELECT coalesce(max(idx), -1) + 1 FROM entries) THEN
    RAISE integrity_constraint_violation USING MESSAGE = 'ledger: the index is not the next one';
  END IF;
  IF EXISTS (SELECT 1 FROM entries WHERE sid = NEW.sid AND type = 'session.seal') THEN
    RAISE integrity_constraint_violation USING MESSAGE = 'ledger: the session is sealed';
  END IF;
  IF NEW.seq IS DISTINCT FROM (SELECT coalesce(max(seq), -1) + 1 FROM entries WHERE sid = NEW.sid) THEN
    RAISE integrity_constraint_violation USING MESSAGE = 'ledger: the sequence number is not the next one';
  END IF;
  IF NEW.prev IS DISTINCT FROM coalesce(
      (SELECT leaf_hash FROM entries WHERE sid = NEW.sid AND seq = NEW.seq - 1),
      decode(repeat('00', 32), 'hex')) THEN
    RAISE integrity_constraint_violation
      USING MESSAGE = 'ledger: the entry does not continue the one before it';
  END IF;
  RETURN NEW;
END"""

_POSTGRES_REFUSE = """
BEGIN
  RAISE integrity_constraint_violation USING MESSAGE = 'ledger: entries are append-only';
END"""

POSTGRES_BODIES: Mapping[str, str] = MappingProxyType(
    {"entries_insert": _POSTGRES_INSERT, "entries_refuse": _POSTGRES_REFUSE}
)
"""The trigger functions, which run with the schema of the table as their only path, whoever calls."""

POSTGRES_GUARDS: Mapping[str, tuple[str, str, str]] = MappingProxyType(
    {
        "entries_insert": ("INSERT", "ROW", "entries_insert"),
        "entries_update": ("UPDATE", "ROW", "entries_refuse"),
        "entries_delete": ("DELETE", "ROW", "entries_refuse"),
        "entries_truncate": ("TRUNCATE", "STATEMENT", "entries_refuse"),
    }
)
"""Event, level and function of each trigger; all are ENABLE ALWAYS, or a replica's role would pass them."""


def postgres_guards() -> Iterator[str]:
    """Yield the statements that make the triggers, in a schema where `entries` is."""
    yield from postgres_triggers("entries", POSTGRES_BODIES, POSTGRES_GUARDS)


def postgres_triggers(
    table: str, bodies: Mapping[str, str], guards: Mapping[str, tuple[str, str, str]]
) -> Iterator[str]:
    """Yield the statements that make functions, and the triggers of one table that call them."""
    for function, body in bodies.items():
        yield f"CREATE FUNCTION {function}() RETURNS trigger LANGUAGE plpgsql AS $guard${body}$guard$"
        yield (
            "DO $do$ BEGIN EXECUTE format('ALTER FUNCTION %I() SET search_path = %I, pg_temp',"
            f" '{function}', current_schema()); END $do$"
        )
    for name, (event, level, function) in guards.items():
        fires = f"BEFORE {event} ON {table} FOR EACH {level}"
        yield f"CREATE TRIGGER {name} {fires} EXECUTE FUNCTION {function}()"
        yield f"ALTER TABLE {table} ENABLE ALWAYS TRIGGER {name}"
