"""A copy of the whole database, made while it is in use: one file, private, there whole or not at all."""

from __future__ import annotations

import os
import secrets
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from sqlalchemy.engine import Engine

from ghost_core.db_sqlite import APPLICATION_ID
from ghost_core.errors import IntegrityError, NotFoundError, UnavailableError
from ghost_core.files import sync
from ghost_core.look import exists, is_link, reason

__all__ = ["backup"]

_APPLICATION: Final = slice(68, 72)  # of the header of every SQLite file
_LOGS: Final = ("-wal", "-journal", "-shm")  # what SQLite keeps beside a file that is in use
_BROKEN: Final = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})


def backup(engine: Engine, target: Path) -> int:
    """Copy one state of the database into a file (0600) and return its size; an older backup is replaced.

    The copy is checked before it takes its place. SQLite only.

    Raises:
        NotFoundError: code `memory.missing`, there is no database yet.
        UnavailableError: codes `backup.database`, `backup.occupied`, `file.link`, `file.unwritable`.
        IntegrityError: code `database.corrupt`, what was copied is damaged.
    """
    if engine.dialect.name != "sqlite":
        raise UnavailableError(
            f"backup: expected a sqlite file, found {engine.dialect.name}",
            code="backup.database",
            hint="pg_dump makes a backup of PostgreSQL",
        )
    source = Path(str(engine.url.database))
    if not exists(source):
        raise NotFoundError(
            f"database {str(source)!r}: does not exist yet",
            code="memory.missing",
            hint='ghost memory save "…", or set GHOST_HOME',
        )
    _refuse(source, target)
    return _written(engine, target)


def _refuse(source: Path, target: Path) -> None:
    """Refuse to write over what is no older backup, or is in use."""
    if is_link(target):
        raise UnavailableError(
            f"file {str(target)!r}: is a symbolic link, expected a backup or nothing",
            code="file.link",
            hint="name the file that the link points to",
        )
    if not exists(target):
        return
    logs = (target.with_name(target.name + end) for end in _LOGS)
    if not _is_ours(target) or target.samefile(source) or any(map(exists, logs)):
        raise UnavailableError(
            f"file {str(target)!r}: is no backup of ghost, or is in use",
            code="backup.occupied",
            hint="name another file",
        )


def _is_ours(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(100)[_APPLICATION] == APPLICATION_ID.to_bytes(4)
    except OSError:
        return False


def _written(engine: Engine, target: Path) -> int:
    try:
        beside = target.with_name(f".{target.name}.{secrets.token_hex(6)}")
        os.close(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600))
        try:
            _copy(engine, beside)
            sync(beside)
            beside.replace(target)
            sync(target.parent)
        finally:
            for end in ("", *_LOGS):
                beside.with_name(beside.name + end).unlink(missing_ok=True)
        return target.stat().st_size
    except (OSError, ValueError) as error:
        raise _unwritable(target, reason(error)) from error
    except sqlite3.Error as error:
        if getattr(error, "sqlite_errorcode", 0) & 0xFF in _BROKEN:
            raise _corrupt(engine, str(error)) from error
        raise _unwritable(target, str(error)) from error


def _copy(engine: Engine, file: Path) -> None:
    """Copy in one step, so that it is one state; writers go on meanwhile."""
    source = engine.raw_connection()
    try:
        raw: Any = source.driver_connection
        with closing(sqlite3.connect(file, isolation_level=None)) as copy:
            raw.backup(copy)
            copy.execute("PRAGMA journal_mode=DELETE")  # one file, not one with a log beside it
            found = copy.execute("PRAGMA integrity_check(1)").fetchone()[0]
    finally:
        source.close()
    if found != "ok":
        raise _corrupt(engine, str(found))


def _unwritable(target: Path, why: str) -> UnavailableError:
    return UnavailableError(
        f"file {str(target)!r}: cannot be written, {why}", code="file.unwritable"
    )


def _corrupt(engine: Engine, why: str) -> IntegrityError:
    return IntegrityError(
        f"database {engine.url.database}: damaged, {why}",
        code="database.corrupt",
        hint="ghost memory export writes what can still be read",
    )
