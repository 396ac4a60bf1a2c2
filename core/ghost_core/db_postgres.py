"""What is PostgreSQL's own about the database: driver, session settings, the lock of writers, errors.

A password never comes through us: libpq takes it from `~/.pgpass` or its own variables, and what we show of
an address holds none.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from sqlalchemy.engine import URL, Connection, Engine

from ghost_core.db_backend import Tuning, bad_url, driver_cause, foreign
from ghost_core.errors import ConfigError, DeniedError, GhostError, IntegrityError, UnavailableError
from ghost_core.paths import Home
from ghost_core.settings_values import PASSWORDS

_LOCK: Final = 0x67686F7374  # "ghost": the advisory lock that every writer of one database holds
SHARED: Final = True
READ: Final = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
WRITE: Final = f"BEGIN; SELECT pg_advisory_xact_lock({_LOCK})"
DATA_VERSION: Final = "SELECT pg_current_snapshot()::text"
OPTIONS: Final[dict[str, Any]] = {
    "use_native_hstore": False,  # it would ask at every connect
    "pool_pre_ping": True,  # a server that was restarted has dropped what lies in the pool
}
CONNECT_SECONDS: Final = 5
_DRIVER: Final = "postgresql+psycopg"
_TEXT_LIMIT: Final = 300

_LOCKED: Final = ("55P03", "40P01", "40001")
_UNWRITABLE: Final = ("53", "25006", "58")
_CORRUPT: Final = ("XX001", "XX002")
_GONE: Final = ("08", "57P")
_REFUSED: Final = "42501"
_OWNED: Final = (
    "SELECT pg_has_role(current_user, relowner, 'USAGE') FROM pg_class WHERE oid = %s::regclass"
)


def resolved(url: URL, _home: Home | None) -> URL:
    """Choose the driver; raises ConfigError where it is missing, or the address holds a password."""
    if url.drivername not in {"postgresql", _DRIVER} or not url.database:
        raise bad_url("postgresql+psycopg://user@host/db")
    if url.password is not None or PASSWORDS & {key.lower() for key in url.query}:
        raise bad_url("no password in the address, use a .pgpass file")
    if importlib.util.find_spec("psycopg") is None:
        raise ConfigError(
            "database.url: PostgreSQL needs the extra `postgres`, which is not installed",
            code="database.driver",
            hint="pip install 'ghost-ledger[postgres]'",
        )
    return url.set(drivername=_DRIVER)


def name(url: URL) -> str:
    """Return the address as far as it tells where the database is."""
    place = {key: url.query[key] for key in ("host", "port") if key in url.query}
    return url.set(query=place).render_as_string(hide_password=True)


def connect_args(tuning: Tuning) -> dict[str, Any]:
    """Return what the driver takes: we say BEGIN ourselves, as with SQLite."""
    del tuning
    return {
        "autocommit": True,
        "connect_timeout": CONNECT_SECONDS,
        "application_name": "ghost",
        "client_encoding": "utf8",
    }


def connected(raw: Any, tuning: Tuning) -> None:
    """Set what every connection needs; a commit is durable also where the server is set otherwise."""
    raw.execute(
        f"SET lock_timeout = {int(tuning.busy_seconds * 1000)};"
        " SET timezone = 'UTC';"
        " SELECT set_config('synchronous_commit', 'on', false)"
        " WHERE current_setting('synchronous_commit') = 'off'"
    )


def exists(engine: Engine) -> bool:
    """Tell whether our tables are there."""
    with engine.connect() as connection:
        raw: Any = connection.connection.dbapi_connection
        return (
            raw.execute("SELECT to_regclass('alembic_version') IS NOT NULL").fetchone()[0] is True
        )


def prepare(_engine: Engine) -> None:
    """Need nothing: the database is made by its administrator."""


def stamp(_connection: Connection) -> None:
    """Need no mark: the table of the revision is one."""


def before_commit(raw: Any) -> None:
    """Refuse a transaction in which a statement failed: the server would answer COMMIT by undoing it."""
    from psycopg.pq import TransactionStatus

    if raw.info.transaction_status == TransactionStatus.INERROR:
        raise UnavailableError(
            "database: a statement of this transaction failed, nothing was written",
            code="database.failed",
        )


def rewrite(engine: Engine, tables: Sequence[str]) -> None:
    """Write the tables anew: a row that was deleted, or moved, stays in its page otherwise."""
    with engine.connect() as connection:
        raw: Any = connection.connection.dbapi_connection
        for table in tables:
            if not raw.execute(_OWNED, (table,)).fetchone()[0]:
                raise _not_owned(table, engine.url)  # the server would only warn, and skip it
            raw.execute(f"VACUUM (FULL) {table}")


def _not_owned(table: str, url: URL) -> DeniedError:
    return DeniedError(
        f"database {name(url)}: this role does not own the table {table}, so it cannot write it anew",
        code="database.guarded",
        hint=f"the role that owns it runs: VACUUM (FULL) {table}",
    )


def copy(engine: Engine, _target: Path) -> None:
    """Refuse: a server's databases are copied with its own tools."""
    raise UnavailableError(
        f"database {name(engine.url)}: is no file that could be copied",
        code="database.copy",
        hint="pg_dump makes a copy of PostgreSQL",
    )


def explained(error: Exception, url: URL) -> GhostError:
    """Say what a driver error means for the user."""
    cause = driver_cause(error)
    state = str(getattr(cause, "sqlstate", None) or "")
    if state.startswith(_GONE) or (not state and type(cause).__name__ == "OperationalError"):
        return _unreachable(cause, url)
    text = _first_line(cause)
    if state.startswith(_LOCKED):
        return UnavailableError(
            f"database {name(url)}: another process holds its lock",
            code="database.locked",
            hint="try again; the view pg_locks shows who holds it",
        )
    if state.startswith(_UNWRITABLE):
        return UnavailableError(
            f"database {name(url)}: cannot be written, {text}",
            code="database.unwritable",
            hint="check the server: free space, and that it is no read-only standby",
        )
    return _refused(state, text, name(url))


def _refused(state: str, text: str, database: str) -> GhostError:
    if state.startswith(_CORRUPT):
        return IntegrityError(
            f"database {database}: damaged, {text}",
            code="database.corrupt",
            hint="restore the database from a backup",
        )
    if state == _REFUSED:
        return DeniedError(
            f"database {database}: refused, {text}",
            code="database.guarded",
            hint="this role may not do that; the role that owns the tables migrates them",
        )
    if state.startswith("42"):
        return foreign(database, text)
    return UnavailableError(f"database {database}: failed, {text}", code="database.failed")


def _unreachable(cause: BaseException | None, url: URL) -> UnavailableError:
    attempt = getattr(cause, "pgconn", None)  # there while a connection was being made
    if attempt is not None and (attempt.needs_password or attempt.used_password):
        return UnavailableError(
            f"database {name(url)}: the server refused the login, {_first_line(cause)}",
            code="database.login",
            hint="put the password of this role into ~/.pgpass (mode 0600)",
        )
    return UnavailableError(
        f"database {name(url)}: cannot be reached, {_first_line(cause)}",
        code="database.unreachable",
        hint="check that the server runs, and host, port, role and database in database.url",
    )


def _first_line(cause: BaseException | None) -> str:
    diagnosis = getattr(cause, "diag", None)
    text = getattr(diagnosis, "message_primary", None) or str(cause)
    return " ".join(text.split())[:_TEXT_LIMIT]
