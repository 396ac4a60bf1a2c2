"""The one database: engine, write transactions, migrations, and errors that say what to do.

Engine pragmas are set in one function; `guarded` names the tables whose shape a connection must
not be able to change. Everything SQLite-specific is in functions that say so.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.engine import URL, Connection, Engine, make_url
from sqlmodel import SQLModel

from ghost_core.errors import (
    ConfigError,
    DeniedError,
    GhostError,
    IntegrityError,
    UnavailableError,
)
from ghost_core.migrations import HEAD
from ghost_core.paths import Home, expand

APPLICATION_ID: Final = 0x67686F73  # "ghos": what `file` and we know the database by
_BEGIN: Final = "ghost_begin"
_CACHE_KIBIBYTES: Final = (
    4 * 1024
)  # a commit touches the ends of a few tables; more would only stay in memory
_WAL_PAGES: Final = 8000  # so the same pages are copied back once per 32 MB, not once per 4
_MIGRATIONS: Final = Path(__file__).parent / "migrations"

_LOCKED: Final = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})
_UNWRITABLE: Final = frozenset(
    {
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_PERM,
    }
)
_CORRUPT: Final = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_REFUSED: Final = frozenset({sqlite3.SQLITE_AUTH})
_SHAPE_CHANGES: Final = frozenset(
    {
        sqlite3.SQLITE_DROP_TABLE,
        sqlite3.SQLITE_DROP_INDEX,
        sqlite3.SQLITE_DROP_TRIGGER,
        sqlite3.SQLITE_CREATE_TRIGGER,
        sqlite3.SQLITE_CREATE_TEMP_TRIGGER,
        sqlite3.SQLITE_DROP_TEMP_TRIGGER,
    }
)


def metadata() -> sa.MetaData:
    """Return the metadata that all table classes share."""
    return SQLModel.metadata


def engine(
    url: str,
    *,
    home: Home | None = None,
    busy_seconds: float = 5.0,
    guarded: frozenset[str] = frozenset(),
    trusted: bool = False,
) -> Engine:
    """Build the engine of a database URL; nothing is opened or created yet.

    `~` and `$GHOST_HOME` in a SQLite path are expanded. With `guarded` tables the connections are
    recorder connections: DEFENSIVE, `trusted_schema=OFF`, no change of the shape of those tables.
    `trusted` leaves the schema trusted, which the full-text triggers of memory need.

    Raises:
        ConfigError: code `database.url` if the URL is malformed or no SQLite file.
    """
    built = sa.create_engine(_file_url(url, home), connect_args={"timeout": busy_seconds})
    sa.event.listen(built, "connect", _on_connect(busy_seconds, guarded, trusted=trusted))
    sa.event.listen(built, "begin", _begin)
    return built


@contextmanager
def write(engine: Engine) -> Iterator[Connection]:
    """Open a write transaction: the lock is taken at once, commit at the end, rollback on error.

    Raises:
        UnavailableError: codes `database.locked`, `database.unwritable`, `database.schema`.
        IntegrityError: code `database.corrupt`.
        DeniedError: code `database.guarded`, a change of shape of a guarded table.
    """
    with mapped(engine), engine.connect() as connection:
        connection.execution_options(**{_BEGIN: "BEGIN IMMEDIATE"})
        with connection.begin():
            yield connection


class Writing:
    """One held connection for many write transactions: what a pool and an ORM do per use costs as much again.

    For one thread. After an error the connection is given up, the next transaction opens another.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._connection: Connection | None = None

    @contextmanager
    def transaction(self) -> Iterator[Connection]:
        """Open a write transaction; commit at the end, rollback on error. Raises like `write`."""
        with mapped(self._engine):
            connection = self._held()
            done = False
            try:
                run(connection, "BEGIN IMMEDIATE")
                yield connection
                run(connection, "COMMIT")
                done = True
            finally:
                if not done:
                    self.close()
                elif connection.in_transaction():
                    connection.rollback()  # SQLAlchemy's own idea of it; the driver is out already

    def close(self) -> None:
        """Give the connection up; what was not committed is rolled back."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.invalidate()
            connection.close()

    def _held(self) -> Connection:
        if self._connection is None:
            connection = self._engine.connect()
            self._connection = connection.execution_options(**{_BEGIN: ""})
        return self._connection


def run(connection: Connection, statement: str, rows: Sequence[tuple[object, ...]] = ((),)) -> None:
    """Run one driver statement for each row, past SQLAlchemy's work per statement (the recorder's hot path).

    Raises:
        DBAPIError: of SQLAlchemy, as its own statements raise it.
    """
    raw: Any = connection.connection.dbapi_connection
    try:
        if len(rows) == 1:
            raw.execute(statement, rows[0])
        else:
            raw.executemany(statement, rows)
    except sqlite3.Error as error:
        raise sa.exc.DBAPIError.instance(statement, None, error, sqlite3.Error) from error


def first(connection: Connection, statement: str) -> tuple[Any, ...] | None:
    """Return the first row of a driver statement, as `run` runs it; raises like `run`."""
    raw: Any = connection.connection.dbapi_connection
    try:
        row: tuple[Any, ...] | None = raw.execute(statement).fetchone()
    except sqlite3.Error as error:
        raise sa.exc.DBAPIError.instance(statement, None, error, sqlite3.Error) from error
    return row


def sqlite_data_version(connection: Connection) -> int:
    """Return a number that is another one whenever another connection has committed; for one held connection.

    SQLite only. It says nothing about what this connection itself wrote.
    """
    row = first(connection, "PRAGMA data_version")
    return int(row[0]) if row else 0


@contextmanager
def nested(connection: Connection) -> Iterator[None]:
    """Take back what the block did to the tables if it fails; the transaction around it goes on."""
    run(connection, "SAVEPOINT nested")
    done = False
    try:
        yield
        done = True
    finally:
        if not done:
            run(connection, "ROLLBACK TO nested")
        run(connection, "RELEASE nested")


@contextmanager
def read(engine: Engine) -> Iterator[Connection]:
    """Open a read transaction: everything in it sees one state. Raises like `write`."""
    with mapped(engine), engine.connect() as connection, connection.begin():
        yield connection


@contextmanager
def mapped(engine: Engine) -> Iterator[None]:
    """Turn driver errors into ours; constraint violations pass, they belong to the caller."""
    try:
        yield
    except (sa.exc.OperationalError, sa.exc.DatabaseError) as error:
        if isinstance(error, sa.exc.IntegrityError):
            raise
        raise _explained(error, engine.url) from error


def migrate(engine: Engine) -> None:
    """Bring the database to the newest revision; create the file (0600) if there is none.

    Two processes may do it at once: the second waits, then finds nothing to do.

    Raises:
        UnavailableError: code `database.schema` if the file belongs to another program or to a
            newer ghost; and as `write` does.
    """
    _create_sqlite_file(engine.url)
    _sqlite_wal(engine)
    with write(engine) as connection:
        found = _revision(connection, engine.url)
        if found == HEAD:
            return
        _stamp_sqlite(connection)
        _upgrade(connection, engine.url)


def _file_url(url: str, home: Home | None) -> URL:
    try:
        parsed = make_url(url)
    except sa.exc.ArgumentError as error:
        raise ConfigError(
            "database.url: not a database URL",
            code="database.url",
            hint='url = "sqlite:///$GHOST_HOME/ghost.db"',
        ) from error
    if parsed.get_backend_name() != "sqlite" or not parsed.database:
        raise ConfigError(
            f"database.url: expected a sqlite file, found {parsed.get_backend_name()}",
            code="database.url",
            hint='url = "sqlite:///$GHOST_HOME/ghost.db"',
        )
    return parsed.set(database=str(expand(parsed.database, base=home).absolute()))


def _on_connect(
    busy_seconds: float, guarded: frozenset[str], *, trusted: bool
) -> Callable[[Any, object], None]:
    def connected(raw: sqlite3.Connection, _record: object) -> None:
        _sqlite_pragmas(raw, busy_seconds=busy_seconds, trusted=trusted or not guarded)
        if guarded:
            _sqlite_guard(raw, guarded)

    return connected


def _sqlite_pragmas(raw: sqlite3.Connection, *, busy_seconds: float, trusted: bool) -> None:
    """Set what every connection needs; the only place that does."""
    raw.isolation_level = None  # we say BEGIN ourselves, also before DDL
    for pragma in (
        f"busy_timeout={int(busy_seconds * 1000)}",
        "synchronous=FULL",
        "foreign_keys=ON",
        "recursive_triggers=ON",
        "secure_delete=ON",
        f"cache_size=-{_CACHE_KIBIBYTES}",
        f"wal_autocheckpoint={_WAL_PAGES}",
        f"trusted_schema={'ON' if trusted else 'OFF'}",
    ):
        raw.execute(f"PRAGMA {pragma}")


def _sqlite_guard(raw: sqlite3.Connection, guarded: frozenset[str]) -> None:
    """Make the shape of the guarded tables immutable for this connection."""
    raw.setconfig(sqlite3.SQLITE_DBCONFIG_DEFENSIVE, True)  # sqlite3's signature

    def authorize(action: int, first: str | None, second: str | None, *_: str | None) -> int:
        if action == sqlite3.SQLITE_ALTER_TABLE and second in guarded:
            return sqlite3.SQLITE_DENY
        if action in _SHAPE_CHANGES and guarded & {first, second}:
            return sqlite3.SQLITE_DENY
        return sqlite3.SQLITE_OK

    raw.set_authorizer(authorize)


def _begin(connection: Connection) -> None:
    statement = str(connection.get_execution_options().get(_BEGIN, "BEGIN"))
    if statement:
        connection.exec_driver_sql(statement)


def _create_sqlite_file(url: URL) -> None:
    """Create the file before SQLite would, because SQLite would make it readable for others."""
    try:
        os.close(os.open(str(url.database), os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    except FileExistsError:
        return
    except OSError as error:
        raise _unwritable(url, str(error.strerror)) from error


def _sqlite_wal(engine: Engine) -> None:
    """Switch to WAL; the switch does not always honour the busy timeout, so we wait ourselves."""
    deadline = time.monotonic() + 5.0
    while not _try_wal(engine, last=time.monotonic() > deadline):
        time.sleep(0.01)


def _try_wal(engine: Engine, *, last: bool) -> bool:
    try:
        with mapped(engine), engine.connect() as connection:
            raw: Any = connection.connection.dbapi_connection
            raw.execute("PRAGMA journal_mode=WAL")
    except sqlite3.DatabaseError as error:
        if last or not _is(error, _LOCKED):
            raise _explained(error, engine.url) from error
        return False
    return True


def _revision(connection: Connection, url: URL) -> str | None:
    tables = set(sa.inspect(connection).get_table_names())
    if "alembic_version" not in tables:
        if tables:
            raise _foreign(url, "a database of another program")
        return None
    found = connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalar()
    if found is not None and str(found) > HEAD:
        raise _foreign(url, f"revision {found}, this ghost knows {HEAD}")
    return None if found is None else str(found)


def _stamp_sqlite(connection: Connection) -> None:
    connection.exec_driver_sql(f"PRAGMA application_id={APPLICATION_ID}")


def _upgrade(connection: Connection, url: URL) -> None:
    from alembic import command  # 0.1 s that an up-to-date database need not pay
    from alembic.config import Config
    from alembic.util.exc import CommandError

    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    try:
        command.upgrade(config, "head")
    except CommandError as error:
        raise _foreign(url, "an unknown revision") from error


def _is(error: BaseException | None, codes: frozenset[int]) -> bool:
    code = getattr(error, "sqlite_errorcode", None)
    return isinstance(code, int) and code & 0xFF in codes


def _explained(error: Exception, url: URL) -> GhostError:
    cause = error.orig if isinstance(error, sa.exc.DBAPIError) else error
    if _is(cause, _LOCKED):
        return UnavailableError(
            f"database {url.database}: another process holds its lock",
            code="database.locked",
            hint="try again; `fuser` on the file shows who holds it",
        )
    if _is(cause, _UNWRITABLE):
        return _unwritable(url, str(cause))
    if _is(cause, _CORRUPT):
        return IntegrityError(
            f"database {url.database}: damaged, {cause}",
            code="database.corrupt",
            hint="restore the file from a backup",
        )
    if _is(cause, _REFUSED):
        return DeniedError(
            f"database {url.database}: the shape of ledger tables cannot be changed, {cause}",
            code="database.guarded",
            hint="the append-only guard is meant to refuse this",
        )
    return _foreign(url, str(cause))


def _unwritable(url: URL, why: str) -> UnavailableError:
    return UnavailableError(
        f"database {url.database}: cannot be written, {why}",
        code="database.unwritable",
        hint="check free space and the owner of the folder, or set GHOST_HOME",
    )


def _foreign(url: URL, why: str) -> UnavailableError:
    return UnavailableError(
        f"database {url.database}: expected the tables of this ghost, found {why}",
        code="database.schema",
        hint="use the ghost that made it, or set database.url to a file of its own",
    )
