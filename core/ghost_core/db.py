"""The one database: engine, write transactions, migrations, and errors that say what to do.

What differs between SQLite and PostgreSQL is told by a backend (`db_backend`), and nowhere else in this room.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.engine import URL, Connection, Engine, make_url
from sqlmodel import SQLModel

from ghost_core import db_postgres, db_sqlite
from ghost_core.db_backend import Backend, Tuning, bad_url, foreign
from ghost_core.errors import UsageError
from ghost_core.migrations import HEAD
from ghost_core.paths import Home

_BEGIN: Final = "ghost_begin"
_MIGRATIONS: Final = Path(__file__).parent / "migrations"
_BACKENDS: Final[MappingProxyType[str, Backend]] = MappingProxyType(
    {"sqlite": db_sqlite, "postgresql": db_postgres}
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
    recorder connections; in SQLite: DEFENSIVE, `trusted_schema=OFF`, no change of the shape of those tables.
    `trusted` leaves the schema trusted, which the full-text triggers of memory need there.

    Raises:
        ConfigError: code `database.url` if the URL is malformed or no database of these two kinds,
            `database.driver` if its driver is not installed.
    """
    parsed = _parsed(url)
    backend, tuning = _BACKENDS[parsed.get_backend_name()], Tuning(busy_seconds, guarded, trusted)
    built = sa.create_engine(
        backend.resolved(parsed, home), connect_args=backend.connect_args(tuning), **backend.OPTIONS
    )
    sa.event.listen(built, "connect", lambda raw, _: backend.connected(raw, tuning))
    sa.event.listen(built, "begin", _begin)
    sa.event.listen(built, "commit", _before_commit)
    sa.event.listen(built, "handle_error", _refuse_text)
    return built


def name(engine: Engine) -> str:
    """Return what messages and the head memory call this database: a path, or an address without password."""
    return _backend(engine.url).name(engine.url)


def is_shared(engine: Engine) -> bool:
    """Tell whether processes of other machines may be at work in this database."""
    return _backend(engine.url).SHARED


def exists(engine: Engine) -> bool:
    """Tell whether there is a database of ours; none is made. Raises like `write`."""
    with mapped(engine):
        return _backend(engine.url).exists(engine)


@contextmanager
def write(engine: Engine) -> Iterator[Connection]:
    """Open a write transaction: the lock is taken at once, commit at the end, rollback on error.

    Raises:
        UnavailableError: codes `database.locked`, `database.unwritable`, `database.schema`,
            `database.failed`, `database.unreachable`, `database.login`.
        IntegrityError: code `database.corrupt`.
        DeniedError: code `database.guarded`, a change of shape of a guarded table.
    """
    with mapped(engine), engine.connect() as connection:
        connection.execution_options(**{_BEGIN: _backend(engine.url).WRITE})
        with connection.begin():
            yield connection


class Writing:
    """One held connection for many write transactions: what a pool and an ORM do per use costs as much again.

    For one thread. After an error the connection is given up, the next transaction opens another.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._backend = _backend(engine.url)
        self._connection: Connection | None = None

    @contextmanager
    def transaction(self) -> Iterator[Connection]:
        """Open a write transaction; commit at the end, rollback on error. Raises like `write`."""
        with mapped(self._engine):
            connection = self._held()
            done = False
            try:
                run(connection, self._backend.WRITE)
                yield connection
                _before_commit(connection)
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
            raw.cursor().executemany(statement, rows)
    except connection.dialect.loaded_dbapi.Error as error:
        raise _as_raised(error, connection, statement) from error


def first(connection: Connection, statement: str) -> tuple[Any, ...] | None:
    """Return the first row of a driver statement, as `run` runs it; raises like `run`."""
    raw: Any = connection.connection.dbapi_connection
    try:
        row: tuple[Any, ...] | None = raw.execute(statement).fetchone()
    except connection.dialect.loaded_dbapi.Error as error:
        raise _as_raised(error, connection, statement) from error
    return row


def data_version(connection: Connection) -> object:
    """Return what is another value whenever another connection has committed; for one held connection.

    It says nothing about what this connection itself wrote; outside a transaction only.
    """
    row = first(connection, _backend(connection.engine.url).DATA_VERSION)
    return row[0] if row else None


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
        raise _backend(engine.url).explained(error, engine.url) from error


def rewrite(engine: Engine, tables: Sequence[str]) -> None:
    """Write tables anew, so that no page of them holds what was deleted; others wait meanwhile.

    In SQLite that is the whole file, and the write-ahead log is emptied. What a server keeps beside its
    tables is not ours to change.

    Raises:
        UnavailableError: as `write`; `database.locked` too where a reader keeps the old pages.
        DeniedError: code `database.guarded`, the role of a PostgreSQL database does not own them.
    """
    with mapped(engine):
        _backend(engine.url).rewrite(engine, tables)


def copy(engine: Engine, target: Path) -> None:
    """Write one state of the database into a file (0600) that does not exist yet; the disk has it on return.

    SQLite only: what other connections write meanwhile is not in it.

    Raises:
        UnavailableError: codes `database.copy`, not SQLite; `file.unwritable`.
        IntegrityError: code `database.corrupt`.
    """
    _backend(engine.url).copy(engine, target)


def _refuse_text(context: sa.engine.ExceptionContext) -> None:
    """Name what is wrong with a text that no database takes: a byte of an argument, half a surrogate pair."""
    if isinstance(context.original_exception, UnicodeEncodeError):
        raise UsageError("a name or text: is no valid Unicode", code="usage.text") from None


def revision(engine: Engine) -> str | None:
    """Return the revision of our tables, None where there are none; raises as `migrate` does."""
    with read(engine) as connection:
        return _revision(connection)


def migrate(engine: Engine) -> None:
    """Bring the database to the newest revision; create a SQLite file (0600) if there is none.

    Two processes may do it at once: the second waits, then finds nothing to do.

    Raises:
        UnavailableError: code `database.schema` if the database belongs to another program or to a
            newer ghost; and as `write` does.
    """
    backend = _backend(engine.url)
    backend.prepare(engine)
    with write(engine) as connection:
        found = _revision(connection)
        if found == HEAD:
            return
        backend.stamp(connection)
        _upgrade(connection)


def _parsed(url: str) -> URL:
    try:
        parsed = make_url(url)
        known = parsed.get_backend_name() in _BACKENDS
    except (sa.exc.ArgumentError, ValueError) as error:
        raise bad_url("the address of a database") from error
    if not known:
        raise bad_url("a sqlite file or a PostgreSQL database")
    return parsed


def _backend(url: URL) -> Backend:
    return _BACKENDS[url.get_backend_name()]


def _begin(connection: Connection) -> None:
    options = connection.get_execution_options()
    statement = str(options.get(_BEGIN, _backend(connection.engine.url).READ))
    if statement:
        run(connection, statement)


def _before_commit(connection: Connection) -> None:
    raw: Any = connection.connection.dbapi_connection
    _backend(connection.engine.url).before_commit(raw)


def _as_raised(error: Exception, connection: Connection, statement: str) -> Exception:
    """Return a driver's error as SQLAlchemy would raise it."""
    family = connection.dialect.loaded_dbapi.Error
    return sa.exc.DBAPIError.instance(statement, None, error, family)


def _revision(connection: Connection) -> str | None:
    tables = set(sa.inspect(connection).get_table_names())
    if "alembic_version" not in tables:
        if tables:
            raise foreign(name(connection.engine), "a database of another program")
        return None
    found = connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalar()
    if found is not None and str(found) > HEAD:
        raise foreign(name(connection.engine), f"revision {found}, this ghost knows {HEAD}")
    return None if found is None else str(found)


def _upgrade(connection: Connection) -> None:
    from alembic import command  # 0.1 s that an up-to-date database need not pay
    from alembic.config import Config
    from alembic.util.exc import CommandError

    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    try:
        command.upgrade(config, "head")
    except CommandError as error:
        raise foreign(name(connection.engine), "an unknown revision") from error
