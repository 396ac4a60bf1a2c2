"""Putting a log aside: the whole database is copied as it is, then the tables of the ledger start anew.

Both under one lock, so that nothing falls between. All other tables stay. A shared database is not emptied.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from ghost_core import db
from ghost_core.errors import DeniedError, UnavailableError
from ghost_ledger import schema, store

__all__ = ["TABLES", "put"]

TABLES: Final = tuple(
    str(getattr(store, name).__tablename__)
    for name in (
        "PayloadKeyRow",
        "PayloadRow",
        "CredentialRow",
        "ActionRow",
        "SessionRow",
        "TileRow",
        "EntryRow",
        "HeadRow",
    )
)
"""What starts anew, in the order in which it can be emptied."""
_GUARDS: Final = sa.text(
    "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name IN :tables"
).bindparams(sa.bindparam("tables", TABLES, expanding=True))
_UNFIT: Final = re.compile(r"[^A-Za-z0-9-]+")


def put(connection: Connection, engine: Engine, origin: str) -> Path:
    """Keep the database as it is in a file beside it, then empty the tables of the ledger; returns the file.

    `connection` is in a write transaction that has changed nothing yet.

    Raises:
        DeniedError: code `ledger.shared`, not SQLite.
        IntegrityError: code `ledger.triggers`.
        UnavailableError: codes `file.unwritable`, `file.occupied`.
    """
    if db.is_shared(engine):
        raise DeniedError(
            f"database {db.name(engine)}: is shared, its log is not moved by this command",
            code="ledger.shared",
            hint="put its tables aside by hand, it begins in an empty schema: docs/how-to/keys.md",
        )
    schema.check_guards(connection)
    kept = _free(Path(db.name(engine)), origin)
    db.copy(engine, kept)
    guards = connection.execute(_GUARDS).all()
    for guard in guards:
        connection.exec_driver_sql(f"DROP TRIGGER {guard.name}")
    for table in TABLES:
        connection.exec_driver_sql(f"DELETE FROM {table}")  # noqa: S608  # our own names
    for guard in guards:
        connection.exec_driver_sql(guard.sql)
    return kept


def _free(database: Path, origin: str) -> Path:
    """Return a name beside the database that is not taken: nothing is ever overwritten."""
    name = f"{database.stem}-{_UNFIT.sub('-', origin.rpartition('/')[2])}"
    paths = (
        database.with_name(f"{name}{end}.db") for end in ("", *(f"-{at}" for at in range(2, 1000)))
    )
    found = next((path for path in paths if not path.exists()), None)
    if found is None:
        raise UnavailableError(f"folder {database.parent}: full of kept logs", code="file.occupied")
    return found
