"""The triggers of `payloads` and `payload_keys`: nothing changes, and only what was erased is deleted.

A payload goes after the entry `payload.erased` that names its entry and its field, in the same transaction or
later; the data key of a session goes when no payload needs it any more. As in `guards`, the INSERT guard of
SQLite is there because REPLACE deletes without a word.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from ghost_core.migrations.guards import postgres_triggers

# A quotation mark inside a text of a body has a backslash before it, so these are found as names only. No
# JSON functions: SQLite before 3.41 does not let a schema call them that is not trusted.
_FIELDS = "CAST('\"fields\":[' AS BLOB)"
_END = "CAST(']' AS BLOB)"
_ENTRY = 'substr(body, instr(body, CAST(\'"entry":"\' AS BLOB)) + 9, 64)'

_PAYLOADS_INSERT = """\
CREATE TRIGGER payloads_insert BEFORE INSERT ON payloads
BEGIN
  SELECT RAISE(ABORT, 'ledger: the payload is there already')
    WHERE EXISTS (SELECT 1 FROM payloads WHERE entry_idx = NEW.entry_idx AND field = NEW.field);
END"""

_PAYLOADS_UPDATE = """\
CREATE TRIGGER payloads_update BEFORE UPDATE ON payloads
BEGIN
  SELECT RAISE(ABORT, 'ledger: payloads are never changed');
END"""

SQLITE_NAMED = f"""\
EXISTS (
      SELECT 1 FROM (
        SELECT substr(body, instr(body, {_FIELDS}) + 9) AS fields FROM entries
          WHERE type = 'payload.erased' AND {_ENTRY}
            = (SELECT CAST(lower(hex(leaf_hash)) AS BLOB) FROM entries WHERE idx = OLD.entry_idx))
        WHERE instr(substr(fields, 1, instr(fields, {_END})),
          CAST('"' || OLD.field || '"' AS BLOB)))"""  # noqa: S608  # our own names
"""The condition under which an entry says that the payload is erased; so is `POSTGRES_NAMED`."""

_PAYLOADS_DELETE = f"""\
CREATE TRIGGER payloads_delete BEFORE DELETE ON payloads
BEGIN
  SELECT RAISE(ABORT, 'ledger: no entry says that the payload is erased')
    WHERE NOT {SQLITE_NAMED};
END"""  # our own names

_KEYS_INSERT = """\
CREATE TRIGGER payload_keys_insert BEFORE INSERT ON payload_keys
BEGIN
  SELECT RAISE(ABORT, 'ledger: the session has a data key already')
    WHERE EXISTS (SELECT 1 FROM payload_keys WHERE sid = NEW.sid);
END"""

_KEYS_UPDATE = """\
CREATE TRIGGER payload_keys_update BEFORE UPDATE ON payload_keys
BEGIN
  SELECT RAISE(ABORT, 'ledger: data keys are never changed');
END"""

_KEYS_DELETE = """\
CREATE TRIGGER payload_keys_delete BEFORE DELETE ON payload_keys
BEGIN
  SELECT RAISE(ABORT, 'ledger: payloads of the session need its data key')
    WHERE EXISTS (
      SELECT 1 FROM entries e JOIN payloads p ON p.entry_idx = e.idx WHERE e.sid = OLD.sid);
END"""

SQLITE_PAYLOAD_GUARDS: Mapping[str, str] = MappingProxyType(
    {
        "payloads_insert": _PAYLOADS_INSERT,
        "payloads_update": _PAYLOADS_UPDATE,
        "payloads_delete": _PAYLOADS_DELETE,
        "payload_keys_insert": _KEYS_INSERT,
        "payload_keys_update": _KEYS_UPDATE,
        "payload_keys_delete": _KEYS_DELETE,
    }
)

SQLITE_ERASED_INDEX = (
    f"CREATE INDEX idx_entries_erased ON entries ({_ENTRY}) WHERE type = 'payload.erased'"
)
"""Finds the entry that says that a payload is erased, however many there are."""

_NAMED = "substring(encode({body}, 'escape') from '\"entry\":\"([0-9a-f]{{64}})\"')"
POSTGRES_ERASED_INDEX = (
    f"CREATE INDEX idx_entries_erased ON entries (({_NAMED.format(body='body')}))"
    " WHERE type = 'payload.erased'"
)

POSTGRES_NAMED = f"""\
EXISTS (
      SELECT 1 FROM entries said
      WHERE said.type = 'payload.erased'
        AND {_NAMED.format(body="said.body")}
          = (SELECT encode(leaf_hash, 'hex') FROM entries WHERE idx = OLD.entry_idx)
        AND (convert_from(said.body, 'UTF8')::jsonb -> 'fields') ? OLD.field)"""  # noqa: S608  # our own names

_POSTGRES_DELETE = f"""
BEGIN
  IF NOT {POSTGRES_NAMED} THEN
    RAISE integrity_constraint_violation
      USING MESSAGE = 'ledger: no entry says that the payload is erased';
  END IF;
  RETURN OLD;
END"""

_POSTGRES_KEYS_DELETE = """
BEGIN
  IF EXISTS (
      SELECT 1 FROM entries e JOIN payloads p ON p.entry_idx = e.idx WHERE e.sid = OLD.sid) THEN
    RAISE integrity_constraint_violation
      USING MESSAGE = 'ledger: payloads of the session need its data key';
  END IF;
  RETURN OLD;
END"""

_POSTGRES_REFUSE = """
BEGIN
  RAISE integrity_constraint_violation USING MESSAGE = 'ledger: payloads are never changed';
END"""

POSTGRES_PAYLOAD_BODIES: Mapping[str, str] = MappingProxyType(
    {"payloads_delete": _POSTGRES_DELETE, "payloads_refuse": _POSTGRES_REFUSE}
)
POSTGRES_KEY_BODIES: Mapping[str, str] = MappingProxyType(
    {"payload_keys_delete": _POSTGRES_KEYS_DELETE}
)
POSTGRES_PAYLOAD_GUARDS: Mapping[str, tuple[str, str, str]] = MappingProxyType(
    {
        "payloads_update": ("UPDATE", "ROW", "payloads_refuse"),
        "payloads_delete": ("DELETE", "ROW", "payloads_delete"),
        "payloads_truncate": ("TRUNCATE", "STATEMENT", "payloads_refuse"),
    }
)
POSTGRES_KEY_GUARDS: Mapping[str, tuple[str, str, str]] = MappingProxyType(
    {
        "payload_keys_update": ("UPDATE", "ROW", "payloads_refuse"),
        "payload_keys_delete": ("DELETE", "ROW", "payload_keys_delete"),
        "payload_keys_truncate": ("TRUNCATE", "STATEMENT", "payloads_refuse"),
    }
)


def sqlite_payload_guards() -> Iterator[str]:
    """Yield the statements that make index and triggers."""
    yield SQLITE_ERASED_INDEX
    yield from SQLITE_PAYLOAD_GUARDS.values()


def postgres_payload_guards() -> Iterator[str]:
    """Yield the statements that make index, functions and triggers."""
    yield POSTGRES_ERASED_INDEX
    yield from postgres_triggers("payloads", POSTGRES_PAYLOAD_BODIES, POSTGRES_PAYLOAD_GUARDS)
    yield from postgres_triggers("payload_keys", POSTGRES_KEY_BODIES, POSTGRES_KEY_GUARDS)
