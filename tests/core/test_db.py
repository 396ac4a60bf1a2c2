"""The engine: pragmas, transactions, migrations, errors that say what to do."""

from __future__ import annotations

import os
import sqlite3
import stat
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy.engine import Engine

from ghost_core import db
from ghost_core.errors import ConfigError, DeniedError, IntegrityError, UnavailableError
from ghost_core.migrations import HEAD
from ghost_core.paths import Home


def _engine(folder: Path, **options: object) -> Engine:
    return db.engine(f"sqlite:///{folder / 'ghost.db'}", **options)  # type: ignore[arg-type]


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    built = _engine(tmp_path)
    db.migrate(built)
    return built


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
        ("application_id", db.APPLICATION_ID),
    ],
)
def test_every_connection_has_our_pragmas(engine: Engine, name: str, value: object):
    assert _pragma(engine, name) == value


def test_only_recorder_connections_distrust_the_schema(engine: Engine, tmp_path: Path):
    guarded = _engine(tmp_path, guarded=frozenset({"entries"}))
    assert (_pragma(engine, "trusted_schema"), _pragma(guarded, "trusted_schema")) == (1, 0)


def test_the_database_file_is_readable_for_its_owner_only(tmp_path: Path):
    mask = os.umask(0)
    try:
        db.migrate(_engine(tmp_path))
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


@pytest.mark.parametrize("url", ["", "nonsense", "sqlite://", "mysql://h/d"])
def test_a_url_that_is_no_sqlite_file_is_a_configuration_error(url: str):
    with pytest.raises(ConfigError) as caught:
        db.engine(url)
    assert caught.value.code == "database.url"


def test_migrating_twice_changes_nothing(engine: Engine):
    before = _schema(engine)
    db.migrate(engine)
    assert _schema(engine) == before


def test_the_named_head_is_the_newest_revision():
    config = Config()
    config.set_main_option("script_location", str(Path(db.__file__).parent / "migrations"))
    assert ScriptDirectory.from_config(config).get_current_head() == HEAD


def test_the_seed_tables_have_the_seed_columns_in_the_seed_order(engine: Engine):
    seed = {
        "sessions": "session_id intent scope spawned_at ttl_seconds evaporated_at root_signature",
        "actions": "action_id session_id tool action params_hash response_hash http_status"
        " timestamp signature",
        "credentials_log": "session_id key_hash rotated_at reason",
    }
    for table, columns in seed.items():
        found = [column["name"] for column in sa.inspect(engine).get_columns(table)]
        assert found[: len(columns.split())] == columns.split()


def test_both_indexes_of_the_seed_are_there(engine: Engine):
    with db.read(engine) as connection:
        query = "SELECT name, sql FROM sqlite_master WHERE name LIKE 'idx_%'"
        found = {row.name: row.sql for row in connection.exec_driver_sql(query)}
    assert "sessions (spawned_at DESC)" in found["idx_session_spawned"]
    assert "actions (session_id)" in found["idx_action_session"]


def test_a_foreign_database_is_left_alone(tmp_path: Path):
    with sqlite3.connect(tmp_path / "ghost.db") as raw:
        raw.execute("CREATE TABLE memories (id TEXT)")
    raw.close()
    with pytest.raises(UnavailableError) as caught:
        db.migrate(_engine(tmp_path))
    assert caught.value.code == "database.schema"
    assert [name for name, _ in _schema(_engine(tmp_path))] == ["memories"]


def test_a_database_of_a_newer_ghost_is_left_alone(engine: Engine):
    with db.write(engine) as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '9999'")
    with pytest.raises(UnavailableError) as caught:
        db.migrate(engine)
    assert caught.value.code == "database.schema"


def test_a_file_that_is_no_database_is_damaged(tmp_path: Path):
    (tmp_path / "ghost.db").write_bytes(b"not a database, but long enough to look at" * 100)
    with pytest.raises(IntegrityError) as caught:
        db.migrate(_engine(tmp_path))
    assert caught.value.code == "database.corrupt"


def test_a_folder_that_is_missing_is_unwritable(tmp_path: Path):
    with pytest.raises(UnavailableError) as caught:
        db.migrate(_engine(tmp_path / "missing"))
    assert caught.value.code == "database.unwritable"


def test_a_held_lock_is_reported_after_the_busy_time(engine: Engine, tmp_path: Path):
    impatient = _engine(tmp_path, busy_seconds=0.05)
    with db.write(engine), pytest.raises(UnavailableError) as caught, db.write(impatient):
        pass
    assert caught.value.code == "database.locked"


def test_a_full_disk_is_reported_and_nothing_stays(engine: Engine):
    with pytest.raises(UnavailableError) as caught, db.write(engine) as connection:
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
        connection.exec_driver_sql(f"PRAGMA max_page_count={pages}")
        for number in range(100):
            connection.exec_driver_sql(
                "INSERT INTO payload_keys VALUES (?, ?)", (str(number), b"x" * 4096)
            )
    assert caught.value.code == "database.unwritable"
    assert _count(engine, "payload_keys") == 0


def test_a_query_only_connection_is_unwritable(engine: Engine):
    with pytest.raises(UnavailableError) as caught, db.write(engine) as connection:
        connection.exec_driver_sql("PRAGMA query_only=ON")
        connection.exec_driver_sql("INSERT INTO payload_keys VALUES ('a', x'00')")
    engine.dispose()
    assert caught.value.code == "database.unwritable"


def test_a_missing_table_is_a_schema_error(engine: Engine):
    with pytest.raises(UnavailableError) as caught, db.read(engine) as connection:
        connection.exec_driver_sql("SELECT * FROM nothing")
    assert caught.value.code == "database.schema"


def test_a_failed_write_leaves_nothing(engine: Engine):
    with pytest.raises(ZeroDivisionError), db.write(engine) as connection:
        connection.exec_driver_sql("INSERT INTO payload_keys VALUES ('a', x'00')")
        _ = 1 // 0
    assert _count(engine, "payload_keys") == 0


def test_a_reader_sees_one_state(engine: Engine):
    with db.read(engine) as connection:
        before = connection.exec_driver_sql("SELECT count(*) FROM payload_keys").scalar()
        with db.write(engine) as other:
            other.exec_driver_sql("INSERT INTO payload_keys VALUES ('a', x'00')")
        after = connection.exec_driver_sql("SELECT count(*) FROM payload_keys").scalar()
    assert (before, after, _count(engine, "payload_keys")) == (0, 0, 1)


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
    guarded = _engine(tmp_path, guarded=frozenset({"entries"}))
    before = _schema(engine)
    with pytest.raises(DeniedError) as caught, db.write(guarded) as connection:
        connection.exec_driver_sql(statement)
    assert caught.value.code == "database.guarded"
    assert _schema(engine) == before


def test_a_recorder_connection_cannot_write_the_schema_table(engine: Engine, tmp_path: Path):
    guarded = _engine(tmp_path, guarded=frozenset({"entries"}))
    before = _schema(engine)
    with pytest.raises(UnavailableError), db.write(guarded) as connection:
        connection.exec_driver_sql("PRAGMA writable_schema=ON")
        connection.exec_driver_sql("DELETE FROM sqlite_master WHERE type = 'trigger'")
    assert _schema(engine) == before


def _schema(engine: Engine) -> list[tuple[str, str | None]]:
    with db.read(engine) as connection:
        query = "SELECT name, sql FROM sqlite_master ORDER BY name"
        return [(row.name, row.sql) for row in connection.exec_driver_sql(query)]


def _count(engine: Engine, table: str) -> object:
    with db.read(engine) as connection:
        return connection.exec_driver_sql(f"SELECT count(*) FROM {table}").scalar()


def test_a_held_connection_learns_that_another_has_committed(engine: Engine):
    with engine.connect() as held:
        before = db.sqlite_data_version(held)
        assert db.sqlite_data_version(held) == before
        with db.write(engine) as other:
            other.exec_driver_sql("CREATE TABLE t (x)")
        after = db.sqlite_data_version(held)
        assert after != before
        assert db.sqlite_data_version(held) == after
