"""The engine: transactions, migrations, errors that say what to do."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy.engine import Engine

from ghost_core import db
from ghost_core.errors import ConfigError, UnavailableError, UsageError
from ghost_core.migrations import HEAD
from support.database import count, engine_at, schema


@pytest.mark.parametrize("url", ["", "nonsense", "sqlite://", "mysql://h/d"])
def test_a_url_that_is_no_sqlite_file_is_a_configuration_error(url: str):
    with pytest.raises(ConfigError) as caught:
        db.engine(url)
    assert caught.value.code == "database.url"


def test_migrating_twice_changes_nothing(engine: Engine):
    before = schema(engine)
    db.migrate(engine)
    assert schema(engine) == before


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
        db.migrate(engine_at(tmp_path))
    assert caught.value.code == "database.schema"
    assert [name for name, _ in schema(engine_at(tmp_path))] == ["memories"]


def test_a_database_of_a_newer_ghost_is_left_alone(engine: Engine):
    with db.write(engine) as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '9999'")
    with pytest.raises(UnavailableError) as caught:
        db.migrate(engine)
    assert caught.value.code == "database.schema"


def test_a_held_lock_is_reported_after_the_busy_time(engine: Engine, tmp_path: Path):
    impatient = engine_at(tmp_path, busy_seconds=0.05)
    with db.write(engine), pytest.raises(UnavailableError) as caught, db.write(impatient):
        pass
    assert caught.value.code == "database.locked"


def test_a_missing_table_is_a_schema_error(engine: Engine):
    with pytest.raises(UnavailableError) as caught, db.read(engine) as connection:
        connection.exec_driver_sql("SELECT * FROM nothing")
    assert caught.value.code == "database.schema"


def test_a_text_that_no_database_takes_is_refused_by_name(engine: Engine):
    with pytest.raises(UsageError) as caught, db.write(engine) as connection:
        connection.execute(
            sa.text("INSERT INTO payload_keys VALUES (:one, x'00')"), {"one": "\udcff"}
        )
    assert caught.value.code == "usage.text"
    assert count(engine, "payload_keys") == 0


def test_a_failed_write_leaves_nothing(engine: Engine):
    with pytest.raises(ZeroDivisionError), db.write(engine) as connection:
        connection.exec_driver_sql("INSERT INTO payload_keys VALUES ('a', x'00')")
        _ = 1 // 0
    assert count(engine, "payload_keys") == 0


def test_a_reader_sees_one_state(engine: Engine):
    with db.read(engine) as connection:
        before = connection.exec_driver_sql("SELECT count(*) FROM payload_keys").scalar()
        with db.write(engine) as other:
            other.exec_driver_sql("INSERT INTO payload_keys VALUES ('a', x'00')")
        after = connection.exec_driver_sql("SELECT count(*) FROM payload_keys").scalar()
    assert (before, after, count(engine, "payload_keys")) == (0, 0, 1)


def test_a_held_connection_learns_that_another_has_committed(engine: Engine):
    with engine.connect() as held:
        before = db.data_version(held)
        assert db.data_version(held) == before
        with db.write(engine) as other:
            other.exec_driver_sql("CREATE TABLE t (x)")
        after = db.data_version(held)
        assert after != before
        assert db.data_version(held) == after
