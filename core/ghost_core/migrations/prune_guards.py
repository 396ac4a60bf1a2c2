"""The triggers by which entries and payloads of a pruned session may be deleted, and nothing else.

An entry goes after an entry `log.pruned` whose new minimum lies over the seal of its session. The seal itself
stays, so that neither the session nor its indexes can come again, and so does a whole session that says
something about the log or about others. Its leaf hash must lie in a stored tile. As in `guards`, these hold
against our own mistakes and other programs, not against the owner of the file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from ghost_core.migrations import payload_guards
from ghost_core.migrations.guards import postgres_triggers

KEPT: tuple[str, ...] = (
    "action.unknown",
    "claim.changed",
    "log.continued",
    "log.init",
    "log.key",
    "log.pruned",
    "memory.changed",
    "payload.erased",
    "session.abandoned",
)
"""Types of entries whose whole session stays: they speak of the log, of other sessions, or of memory."""

_KEPT = f"type IN ({', '.join(f"'{name}'" for name in KEPT)})"
_NAME = "CAST('\"new_minimum\":' AS BLOB)"
# The digits at the start of the text are the number; no text of a body holds this name unescaped.
_MINIMUM = f"CAST(CAST(substr(body, instr(body, {_NAME}) + 14, 16) AS TEXT) AS INTEGER)"
_KEPT_INDEX = f"CREATE INDEX idx_entries_kept ON entries (sid) WHERE {_KEPT}"
_POSTGRES_MINIMUM = (
    "CAST(substring(encode(body, 'escape') from '\"new_minimum\":([0-9]+)') AS bigint)"
)


def _freed(minimum: str, sid: str) -> str:
    """Return the condition under which the session of this SQL value is pruned."""
    return f"""\
EXISTS (
        SELECT 1 FROM entries AS seal WHERE seal.sid = {sid} AND seal.type = 'session.seal'
          AND EXISTS (SELECT 1 FROM entries WHERE type = 'log.pruned' AND {minimum} > seal.idx))
      AND NOT EXISTS (SELECT 1 FROM entries WHERE sid = {sid} AND {_KEPT})"""  # noqa: S608  # our own names


def _of_entry(minimum: str) -> str:
    return f"""\
OLD.type <> 'session.seal'
      AND EXISTS (SELECT 1 FROM tiles WHERE level = 0 AND number = OLD.idx / 256)
      AND {_freed(minimum, "OLD.sid")}"""  # noqa: S608  # our own names


def _of_payload(minimum: str) -> str:
    return _freed(minimum, "(SELECT sid FROM entries WHERE idx = OLD.entry_idx)")


_ENTRIES_DELETE = f"""\
CREATE TRIGGER entries_delete BEFORE DELETE ON entries
BEGIN
  SELECT RAISE(ABORT, 'ledger: entries are append-only')
    WHERE NOT ({_of_entry(_MINIMUM)});
END"""  # our own names

_PAYLOADS_DELETE = f"""\
CREATE TRIGGER payloads_delete BEFORE DELETE ON payloads
BEGIN
  SELECT RAISE(ABORT, 'ledger: no entry says that the payload is erased')
    WHERE NOT {payload_guards.SQLITE_NAMED}
      AND NOT ({_of_payload(_MINIMUM)});
END"""  # our own names

SQLITE_PRUNE_GUARDS: Mapping[str, str] = MappingProxyType(
    {"entries_delete": _ENTRIES_DELETE, "payloads_delete": _PAYLOADS_DELETE}
)

_POSTGRES_ENTRIES = f"""
BEGIN
  IF NOT ({_of_entry(_POSTGRES_MINIMUM)}) THEN
    RAISE integrity_constraint_violation USING MESSAGE = 'ledger: entries are append-only';
  END IF;
  RETURN OLD;
END"""

_POSTGRES_PAYLOADS = f"""
BEGIN
  IF NOT {payload_guards.POSTGRES_NAMED}
      AND NOT ({_of_payload(_POSTGRES_MINIMUM)}) THEN
    RAISE integrity_constraint_violation
      USING MESSAGE = 'ledger: no entry says that the payload is erased';
  END IF;
  RETURN OLD;
END"""

POSTGRES_PRUNE_BODIES: Mapping[str, str] = MappingProxyType(
    {"entries_prune": _POSTGRES_ENTRIES, "payloads_delete": _POSTGRES_PAYLOADS}
)
POSTGRES_PRUNE_GUARDS: Mapping[str, tuple[str, str, str]] = MappingProxyType(
    {
        "entries_delete": ("DELETE", "ROW", "entries_prune"),
        "payloads_delete": ("DELETE", "ROW", "payloads_delete"),
    }
)


def sqlite_prune_guards() -> Iterator[str]:
    """Yield the statements that make the indexes, and the triggers instead of the ones before."""
    yield f"CREATE INDEX idx_entries_pruned ON entries ({_MINIMUM}) WHERE type = 'log.pruned'"
    yield _KEPT_INDEX
    for name, trigger in SQLITE_PRUNE_GUARDS.items():
        yield f"DROP TRIGGER {name}"
        yield trigger


def postgres_prune_guards() -> Iterator[str]:
    """Yield the same for PostgreSQL, where a trigger calls a function."""
    minimum = f"(({_POSTGRES_MINIMUM}))"
    yield f"CREATE INDEX idx_entries_pruned ON entries {minimum} WHERE type = 'log.pruned'"
    yield _KEPT_INDEX
    yield "DROP TRIGGER payloads_delete ON payloads"
    yield "DROP FUNCTION payloads_delete()"
    yield "DROP TRIGGER entries_delete ON entries"
    for table, name in (("entries", "entries_delete"), ("payloads", "payloads_delete")):
        guard = POSTGRES_PRUNE_GUARDS[name]
        body = {guard[2]: POSTGRES_PRUNE_BODIES[guard[2]]}
        yield from postgres_triggers(table, body, {name: guard})
