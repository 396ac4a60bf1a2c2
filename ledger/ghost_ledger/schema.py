"""What must hold about the database before anything is appended to it."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from ghost_core.errors import IntegrityError
from ghost_core.migrations.guards import SQLITE_GUARDS

__all__ = ["check_guards"]


def check_guards(connection: Connection) -> None:
    """Demand the append-only triggers exactly as they were created, and no other on `entries`.

    Raises:
        IntegrityError: code `ledger.triggers`, naming what is missing, changed or foreign.
    """
    if connection.dialect.name == "sqlite":
        _check_sqlite_guards(connection)


def _check_sqlite_guards(connection: Connection) -> None:
    query = "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'entries'"
    found = {str(row.name): str(row.sql) for row in connection.execute(sa.text(query))}
    names = found.keys() | SQLITE_GUARDS.keys()
    wrong = sorted(name for name in names if found.get(name) != SQLITE_GUARDS.get(name))
    if wrong:
        raise IntegrityError(
            f"table entries: append-only triggers are missing or changed: {', '.join(wrong)}",
            code="ledger.triggers",
            hint="ghost replay --all shows what still verifies, then restore the database from a backup",
        )
