"""Takes the words of removed texts out of the full-text index, which keeps them until its parts are merged.

A merge reads and writes the whole index, 0.3 s with 100,000 memories. So the change that removes a text only
marks that there is something to take out, and the merge follows in small transactions with room for others
between them. The mark outlives a process that ends meanwhile. SQLite only; the pages of the tables themselves
are overwritten by SQLite (`secure_delete`).

The index can also erase at once (option `secure-delete`), but a file that used it cannot be read by SQLite
before 3.42.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from ghost_core import db

__all__ = ["finish", "is_due", "mark"]

STEP_PAGES: Final = 128  # under twenty milliseconds
_FEW: Final = 16  # parts of one size that are not worth a merge of ours, the most that can be said
_NOTHING: Final = 2  # a merge that had nothing to do changes fewer rows than this


def mark(connection: Connection) -> None:
    """Say in the transaction of a change that words are to be taken out; `finish` does it."""
    if connection.dialect.name == "sqlite":
        _put(connection, _marks(connection) + 1)


def is_due(connection: Connection) -> bool:
    """Tell whether words of removed texts may still be in the index."""
    return connection.dialect.name == "sqlite" and _marks(connection) > 0


def finish(engine: Engine, *, give_way: Callable[[float], object] = time.sleep) -> None:
    """Merge the index, so that only texts that are there have words in it; raises as `db.write`.

    After each transaction `give_way` gets the seconds that it took, so that others wait no longer than that.
    """
    writing = db.Writing(engine)
    try:
        while _passed(writing, give_way):
            pass
    finally:
        writing.close()


def _passed(writing: db.Writing, give_way: Callable[[float], object]) -> bool:
    """Merge everything that is there now; tell whether more was removed meanwhile."""
    with writing.transaction() as connection:
        if not is_due(connection):
            return False
        seen = _marks(connection)
        _ask(connection, "usermerge", _FEW)  # so that what others save meanwhile is left to them
        busy = _merged(connection, -STEP_PAGES)  # negative: begin with all there is
    while busy:
        started = time.monotonic()
        with writing.transaction() as connection:
            busy = _merged(connection, STEP_PAGES)
        give_way(time.monotonic() - started)
    with writing.transaction() as connection:
        if _marks(connection) == seen:
            _put(connection, 0)
    return True


def _merged(connection: Connection, pages: int) -> bool:
    before = _changes(connection)
    _ask(connection, "merge", pages)
    return _changes(connection) - before >= _NOTHING


def _ask(connection: Connection, what: str, number: int) -> None:
    statement = "INSERT INTO memories_fts(memories_fts, rank) VALUES (:what, :number)"
    connection.execute(sa.text(statement), {"what": what, "number": number})


def _changes(connection: Connection) -> int:
    return int(connection.execute(sa.text("SELECT total_changes()")).scalar_one())


def _marks(connection: Connection) -> int:
    """Return the mark, which lies in a number of the file that SQLite leaves to us."""
    return int(connection.exec_driver_sql("PRAGMA user_version").scalar_one())


def _put(connection: Connection, marks: int) -> None:
    connection.exec_driver_sql(f"PRAGMA user_version = {marks % 2**31}")
