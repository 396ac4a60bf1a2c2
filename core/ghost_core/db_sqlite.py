"""What is SQLite's own about the database: file, pragmas, guard of a recorder connection, errors."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.engine import URL, Connection, Engine

from ghost_core import look
from ghost_core.db_backend import Tuning, bad_url, driver_cause, foreign
from ghost_core.errors import DeniedError, GhostError, IntegrityError, UnavailableError
from ghost_core.files import sync
from ghost_core.paths import Home, expand

APPLICATION_ID: Final = 0x67686F73  # "ghos": what `file` and we know the database by
SHARED: Final = False
READ: Final = "BEGIN"
WRITE: Final = "BEGIN IMMEDIATE"
DATA_VERSION: Final = "PRAGMA data_version"
OPTIONS: Final[dict[str, Any]] = {}
_CACHE_KIBIBYTES: Final = (
    4 * 1024
)  # a commit touches the ends of a few tables; more would only stay in memory
_WAL_PAGES: Final = 8000  # so the same pages are copied back once per 32 MB, not once per 4

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


def resolved(url: URL, home: Home | None) -> URL:
    """Expand the path; raises ConfigError where there is none."""
    if not url.database:
        raise bad_url("a sqlite file, found none")
    return url.set(database=str(expand(url.database, base=home).absolute()))


def name(url: URL) -> str:
    """Return the path of the file."""
    return str(url.database)


def connect_args(tuning: Tuning) -> dict[str, Any]:
    """Return what the driver takes for a connection."""
    return {"timeout": tuning.busy_seconds}


def connected(raw: Any, tuning: Tuning) -> None:
    """Set what every connection needs, and the guard of a recorder connection."""
    _set_pragmas(raw, tuning)
    if tuning.guarded:
        _guard(raw, tuning.guarded)


def exists(engine: Engine) -> bool:
    """Tell whether the file is there; none is made."""
    return look.exists(Path(str(engine.url.database)))


def prepare(engine: Engine) -> None:
    """Create the file (0600) if there is none, and switch it to WAL."""
    _create_file(engine.url)
    _switch_to_wal(engine)


def stamp(connection: Connection) -> None:
    """Mark the file as ours."""
    connection.exec_driver_sql(f"PRAGMA application_id={APPLICATION_ID}")


def before_commit(_raw: Any) -> None:
    """Accept what is committed: a statement that failed has undone itself alone."""


def rewrite(engine: Engine, _tables: Sequence[str]) -> None:
    """Write the whole file anew, and empty the log beside it.

    `secure_delete` overwrites what is deleted, but not the copies that SQLite leaves in the gap of a page
    when it moves rows to another one.
    """
    with engine.connect() as connection:
        raw: Any = connection.connection.dbapi_connection
        raw.execute("VACUUM")
        busy, *_ = raw.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    if busy:
        raise _locked(engine.url)


def copy(engine: Engine, target: Path) -> None:
    """Copy all pages in one step, so that they are of one state."""
    try:
        os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600))
        source = engine.raw_connection()
        try:
            raw: Any = source.driver_connection
            with closing(sqlite3.connect(target, isolation_level=None)) as made:
                raw.backup(made)
                made.execute("PRAGMA journal_mode=DELETE")  # one file, not one with a log beside it
        finally:
            source.close()
        sync(target)
        sync(target.parent)
    except OSError as error:
        raise _uncopied(target, error.strerror or "not a file") from error
    except sqlite3.DatabaseError as error:
        if _is(error, _CORRUPT):
            raise explained(error, engine.url) from error
        raise _uncopied(target, str(error)) from error


def _uncopied(target: Path, why: str) -> UnavailableError:
    return UnavailableError(
        f"file {str(target)!r}: cannot be written, {why}",
        code="file.unwritable",
        hint=f"df -h {target.parent}",
    )


def explained(error: Exception, url: URL) -> GhostError:
    """Say what a driver error means for the user."""
    cause = driver_cause(error)
    if _is(cause, _LOCKED):
        return _locked(url)
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
    return foreign(name(url), str(cause))


def _set_pragmas(raw: sqlite3.Connection, tuning: Tuning) -> None:
    raw.isolation_level = None  # we say BEGIN ourselves, also before DDL
    trusted = tuning.trusted or not tuning.guarded
    for pragma in (
        f"busy_timeout={int(tuning.busy_seconds * 1000)}",
        "synchronous=FULL",
        "foreign_keys=ON",
        "recursive_triggers=ON",
        "secure_delete=ON",
        f"cache_size=-{_CACHE_KIBIBYTES}",
        f"wal_autocheckpoint={_WAL_PAGES}",
        f"trusted_schema={'ON' if trusted else 'OFF'}",
    ):
        raw.execute(f"PRAGMA {pragma}")


def _guard(raw: sqlite3.Connection, guarded: frozenset[str]) -> None:
    """Make the shape of the guarded tables immutable for this connection."""
    raw.setconfig(sqlite3.SQLITE_DBCONFIG_DEFENSIVE, True)  # sqlite3's signature

    def authorize(action: int, first: str | None, second: str | None, *_: str | None) -> int:
        if action == sqlite3.SQLITE_ALTER_TABLE and second in guarded:
            return sqlite3.SQLITE_DENY
        if action in _SHAPE_CHANGES and guarded & {first, second}:
            return sqlite3.SQLITE_DENY
        return sqlite3.SQLITE_OK

    raw.set_authorizer(authorize)


def _create_file(url: URL) -> None:
    """Create the file before SQLite would, because SQLite would make it readable for others."""
    try:
        os.close(os.open(str(url.database), os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    except FileExistsError:
        return
    except OSError as error:
        raise _unwritable(url, str(error.strerror)) from error


def _switch_to_wal(engine: Engine) -> None:
    """Switch to WAL; the switch does not always honour the busy timeout, so we wait ourselves."""
    deadline = time.monotonic() + 5.0
    while not _try_wal(engine, last=time.monotonic() > deadline):
        time.sleep(0.01)


def _try_wal(engine: Engine, *, last: bool) -> bool:
    try:
        with engine.connect() as connection:
            raw: Any = connection.connection.dbapi_connection
            raw.execute("PRAGMA journal_mode=WAL")
    except (sqlite3.DatabaseError, sa.exc.DatabaseError) as error:
        if last or not _is(driver_cause(error), _LOCKED):
            raise explained(error, engine.url) from error
        return False
    return True


def _is(error: BaseException | None, codes: frozenset[int]) -> bool:
    code = getattr(error, "sqlite_errorcode", None)
    return isinstance(code, int) and code & 0xFF in codes


def _locked(url: URL) -> UnavailableError:
    return UnavailableError(
        f"database {url.database}: another process holds its lock",
        code="database.locked",
        hint="try again; `fuser` on the file shows who holds it",
    )


def _unwritable(url: URL, why: str) -> UnavailableError:
    return UnavailableError(
        f"database {url.database}: cannot be written, {why}",
        code="database.unwritable",
        hint="check free space and the owner of the folder, or set GHOST_HOME",
    )
