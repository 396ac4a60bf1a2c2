"""SQLite's own: the file, the pragmas, the guard of a recorder connection, its errors."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from sqlalchemy.engine import Engine

from ghost_core import db, db_sqlite
from ghost_core.errors import DeniedError, IntegrityError, UnavailableError
from ghost_core.paths import Home
from support.database import count, engine_at, schema


def _pragma(engine: Engine, name: str) -> object:
    with db.read(engine) as connection:
        return connection.exec_driver_sql(f"PRAGMA {name}").scalar()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("journal_mode", "wal"),
        ("synchronous", 2),
        ("foreign_keys", 1),
        ("recursive_triggers", 1),
        ("secure_delete", 1),
        ("busy_timeout", 5000),
        ("application_id", db_sqlite.APPLICATION_ID),
    ],
)
def test_every_connection_has_our_pragmas(engine: Engine, name: str, value: object):
    assert _pragma(engine, name) == value


def test_only_recorder_connections_distrust_the_schema(engine: Engine, tmp_path: Path):
    guarded = engine_at(tmp_path, guarded=frozenset({"entries"}))
    assert (_pragma(engine, "trusted_schema"), _pragma(guarded, "trusted_schema")) == (1, 0)


def test_the_database_file_is_readable_for_its_owner_only(tmp_path: Path):
    mask = os.umask(0)
    try:
        db.migrate(engine_at(tmp_path))
    finally:
        os.umask(mask)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
    assert set(modes.values()) == {0o600}, modes


def test_home_is_expanded_in_the_url(tmp_path: Path):
    built = db.engine("sqlite:///$GHOST_HOME/x.db", home=Home(tmp_path))
    assert built.url.database == str(tmp_path / "x.db")


def test_a_relative_path_is_made_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    assert db.engine("sqlite:///x.db").url.database == str(tmp_path / "x.db")


def test_a_file_that_is_no_database_is_damaged(tmp_path: Path):
    (tmp_path / "ghost.db").write_bytes(b"not a database, but long enough to look at" * 100)
    with pytest.raises(IntegrityError) as caught:
        db.migrate(engine_at(tmp_path))
    assert caught.value.code == "database.corrupt"


def test_a_folder_that_is_missing_is_unwritable(tmp_path: Path):
    with pytest.raises(UnavailableError) as caught:
        db.migrate(engine_at(tmp_path / "missing"))
    assert caught.value.code == "database.unwritable"


def test_a_full_disk_is_reported_and_nothing_stays(engine: Engine):
    with pytest.raises(UnavailableError) as caught, db.write(engine) as connection:
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
        connection.exec_driver_sql(f"PRAGMA max_page_count={pages}")
        for number in range(100):
            connection.exec_driver_sql(
                "INSERT INTO payload_keys VALUES (?, ?)", (str(number), b"x" * 4096)
            )
    assert caught.value.code == "database.unwritable"
    assert count(engine, "payload_keys") == 0


def test_a_query_only_connection_is_unwritable(engine: Engine):
    with pytest.raises(UnavailableError) as caught, db.write(engine) as connection:
        connection.exec_driver_sql("PRAGMA query_only=ON")
        connection.exec_driver_sql("INSERT INTO payload_keys VALUES ('a', x'00')")
    engine.dispose()
    assert caught.value.code == "database.unwritable"


@pytest.mark.parametrize(
    "statement",
    [
        "DROP TABLE entries",
        "DROP TRIGGER entries_update",
        "DROP INDEX uq_entries_seal",
        "ALTER TABLE entries RENAME TO old",
        "ALTER TABLE entries ADD COLUMN more TEXT",
        "CREATE TRIGGER t BEFORE INSERT ON entries BEGIN SELECT RAISE(IGNORE); END",
        "CREATE TEMP TRIGGER t BEFORE INSERT ON entries BEGIN SELECT RAISE(IGNORE); END",
    ],
)
def test_a_recorder_connection_cannot_change_the_shape(
    engine: Engine, tmp_path: Path, statement: str
):
    guarded = engine_at(tmp_path, guarded=frozenset({"entries"}))
    before = schema(engine)
    with pytest.raises(DeniedError) as caught, db.write(guarded) as connection:
        connection.exec_driver_sql(statement)
    assert caught.value.code == "database.guarded"
    assert schema(engine) == before


def test_a_recorder_connection_cannot_write_the_schema_table(engine: Engine, tmp_path: Path):
    guarded = engine_at(tmp_path, guarded=frozenset({"entries"}))
    before = schema(engine)
    with pytest.raises(UnavailableError), db.write(guarded) as connection:
        connection.exec_driver_sql("PRAGMA writable_schema=ON")
        connection.exec_driver_sql("DELETE FROM sqlite_master WHERE type = 'trigger'")
    assert schema(engine) == before


def test_a_rewritten_file_holds_no_copy_of_what_was_deleted(engine: Engine, tmp_path: Path):
    with db.write(engine) as connection:
        for number in range(200):
            values = f"row-{number:03d}", os.urandom(number * 5)
            connection.exec_driver_sql("INSERT INTO payload_keys VALUES (?, ?)", values)
    with db.write(engine) as connection:
        connection.exec_driver_sql("DELETE FROM payload_keys WHERE sid <> 'row-199'")
    db.rewrite(engine, ["payload_keys"])
    held = (tmp_path / "ghost.db").read_bytes()
    assert [number for number in range(200) if f"row-{number:03d}".encode() in held] == [199]
    assert (tmp_path / "ghost.db-wal").stat().st_size == 0


def test_a_copy_is_one_private_file_of_what_was_committed(engine: Engine, tmp_path: Path):
    target = tmp_path / "copy.db"
    with db.write(engine) as connection:
        connection.exec_driver_sql("INSERT INTO payload_keys VALUES ('a', x'00')")
    with db.write(engine) as connection:  # also while somebody writes
        connection.exec_driver_sql("INSERT INTO payload_keys VALUES ('b', x'00')")
        db.copy(engine, target)
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert count(db.engine(f"sqlite:///{target}"), "payload_keys") == 1
    with pytest.raises(UnavailableError) as caught:
        db.copy(engine, target)
    assert caught.value.code == "file.unwritable"
