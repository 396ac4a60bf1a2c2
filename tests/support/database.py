"""A database file of a test, asked for what stands in it."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from sqlalchemy.engine import Engine

from ghost_core import db


def engine_at(folder: Path, **options: Any) -> Engine:
    """Open `ghost.db` of a folder."""
    return db.engine(f"sqlite:///{folder / 'ghost.db'}", **options)


def prepare(folder: Path) -> None:
    """Put `ghost.db` as migrating makes it in a folder without one, in a fiftieth of the time."""
    path = folder / "ghost.db"
    if not path.exists():
        folder.mkdir(0o700, parents=True, exist_ok=True)
        path.touch(0o600)
        path.write_bytes(_migrated())


@cache
def _migrated() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        engine = engine_at(Path(folder))
        db.migrate(engine)
        engine.dispose()
        return (Path(folder) / "ghost.db").read_bytes()


def schema(engine: Engine) -> list[tuple[str, str | None]]:
    """Return the name of everything in a SQLite database, and how it was made."""
    with db.read(engine) as connection:
        query = "SELECT name, sql FROM sqlite_master ORDER BY name"
        return [(row.name, row.sql) for row in connection.exec_driver_sql(query)]


def count(engine: Engine, table: str) -> object:
    """Return how many rows a table has."""
    with db.read(engine) as connection:
        return connection.exec_driver_sql(f"SELECT count(*) FROM {table}").scalar()
