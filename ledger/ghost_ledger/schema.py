"""What must hold about the database before anything is appended to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from ghost_core.errors import IntegrityError
from ghost_core.migrations import guards, payload_guards, prune_guards

__all__ = ["check_guards"]

type Guards = Mapping[str, object]

_SQLITE: Final = sa.text(
    "SELECT name, sql FROM sqlite_master WHERE type = 'trigger'"
    " AND tbl_name IN ('entries', 'payloads', 'payload_keys')"
)
_POSTGRES: Final = sa.text(  # a rewrite rule could take an insert away as a trigger could
    "SELECT t.tgname, t.tgtype, t.tgenabled, t.tgqual IS NULL AND t.tgattr = ''::int2vector AS whole,"
    " f.prosrc, f.proconfig = ARRAY['search_path=' || quote_ident(n.nspname) || ', pg_temp'] AS bound,"
    " f.prosecdef FROM pg_trigger t JOIN pg_proc f ON f.oid = t.tgfoid JOIN pg_class c ON c.oid = t.tgrelid"
    " JOIN pg_namespace n ON n.oid = c.relnamespace"
    " WHERE t.tgrelid IN ('entries'::regclass, 'payloads'::regclass, 'payload_keys'::regclass)"
    " AND NOT t.tgisinternal"
    " UNION ALL SELECT rulename, 0, ev_enabled, false, '', false, false FROM pg_rewrite"
    " WHERE ev_class IN ('entries'::regclass, 'payloads'::regclass, 'payload_keys'::regclass)"
)
_BEFORE: Final = 2
_EVENTS: Final = {"INSERT": 4, "DELETE": 8, "UPDATE": 16, "TRUNCATE": 32}
_LEVELS: Final = {"ROW": 1, "STATEMENT": 0}
_IN_SQLITE: Final = {  # in the order of the migrations: the later replaces what has its name
    **guards.SQLITE_GUARDS,
    **payload_guards.SQLITE_PAYLOAD_GUARDS,
    **prune_guards.SQLITE_PRUNE_GUARDS,
}
_IN_POSTGRES: Final = {
    **guards.POSTGRES_GUARDS,
    **payload_guards.POSTGRES_PAYLOAD_GUARDS,
    **payload_guards.POSTGRES_KEY_GUARDS,
    **prune_guards.POSTGRES_PRUNE_GUARDS,
}
_BODIES: Final = {
    **guards.POSTGRES_BODIES,
    **payload_guards.POSTGRES_PAYLOAD_BODIES,
    **payload_guards.POSTGRES_KEY_BODIES,
    **prune_guards.POSTGRES_PRUNE_BODIES,
}


def check_guards(connection: Connection) -> None:
    """Demand the append-only triggers exactly as they were created, and no other on their tables.

    Raises:
        IntegrityError: code `ledger.triggers`, naming what is missing, changed or foreign.
    """
    look, expected = _LOOKS[connection.dialect.name]
    found = look(connection)
    names = found.keys() | expected.keys()
    wrong = sorted(name for name in names if found.get(name) != expected.get(name))
    if wrong:
        raise IntegrityError(
            f"tables of the ledger: append-only triggers are missing or changed: {', '.join(wrong)}",
            code="ledger.triggers",
            hint="ghost replay --all shows what still verifies, then restore the database from a backup",
        )


def _in_sqlite(connection: Connection) -> Guards:
    return {str(row.name): str(row.sql) for row in connection.execute(_SQLITE)}


def _in_postgres(connection: Connection) -> Guards:
    return {str(row[0]): _plain(row[1:]) for row in connection.execute(_POSTGRES)}


def _plain(row: Any) -> tuple[object, ...]:
    """Return a row of the catalogue, whose one-byte type comes as bytes."""
    return tuple(each.decode() if isinstance(each, bytes) else each for each in row)


def _expected_in_postgres() -> Guards:
    return {
        name: (
            _BEFORE | _EVENTS[event] | _LEVELS[level],
            "A",
            True,
            _BODIES[function],
            True,
            False,
        )
        for name, (event, level, function) in _IN_POSTGRES.items()
    }


_LOOKS: Final[Mapping[str, tuple[Callable[[Connection], Guards], Guards]]] = {
    "sqlite": (_in_sqlite, _IN_SQLITE),
    "postgresql": (_in_postgres, _expected_in_postgres()),
}
