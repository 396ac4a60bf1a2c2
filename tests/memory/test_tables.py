"""Tables: the classes are what the migrations build, and an upgrade keeps what was there."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from sqlalchemy.dialects import postgresql
from sqlalchemy.schema import CreateTable

from ghost_core import db, db_sqlite
from ghost_core.migrations import HEAD
from ghost_ledger import schema
from ghost_memory import tables
from support.ledger import differences, open_recorder, raw, rows, spawned, url_of
from support.memory import Store, memory_at

ROWS = [getattr(tables, name) for name in tables.__all__]
TABLES = {str(row.__tablename__) for row in ROWS}


@pytest.mark.filterwarnings("ignore:Skipped unsupported reflection of expression-based index")
def test_the_classes_are_what_the_migrations_build(memory: Store) -> None:
    options = {"compare_type": True}
    with memory.journal.read() as connection:
        context = MigrationContext.configure(connection, opts=options)
        found = [each for each in compare_metadata(context, db.metadata()) if _is_ours(each)]
    assert found == []


def _is_ours(difference: object) -> bool:
    shown = repr(difference)
    by_expression = "idx_memory_importance" in shown  # which alembic cannot compare
    return not by_expression and any(
        f"'{each}'" in shown or f"<{each}>" in shown for each in TABLES
    )


def test_what_a_foreign_key_does_at_the_end_is_the_same(memory: Store) -> None:
    inspector = sa.inspect(memory.recorder.engine)
    for name in TABLES:
        built = {
            (each["constrained_columns"][0], each["options"].get("ondelete"))
            for each in inspector.get_foreign_keys(name)
        }
        declared = {
            (each.parent.name, each.ondelete) for each in db.metadata().tables[name].foreign_keys
        }
        assert built == declared, name


def test_every_table_of_the_seed_is_there(memory: Store) -> None:
    seed = {
        "projects", "memories", "memories_fts", "memory_embeddings", "memory_links", "link_scans",
        "ghost_state", "tasks", "decisions", "token_usage", "memory_snapshots", "audit_log",
    }  # fmt: skip
    assert seed <= set(memory.rows("SELECT name FROM sqlite_master"))


def test_the_tables_can_be_created_in_postgresql() -> None:
    for name in TABLES:
        table = db.metadata().tables[name]
        assert "CREATE TABLE" in str(CreateTable(table).compile(dialect=postgresql.dialect()))


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE memories SET category = 'nonsense'",
        "UPDATE memories SET source = 'nonsense'",
        "UPDATE memories SET project_id = 'nonsense'",
        "INSERT INTO memory_links VALUES ('a', 'a', 'related', 1, 'manual', 't', NULL)",
        "INSERT INTO audit_log (action) VALUES ('x')",
    ],
)
def test_the_database_itself_refuses_what_no_code_of_ours_writes(
    memory: Store, statement: str
) -> None:
    memory.save("text")
    with raw(memory.folder) as connection, pytest.raises(sqlite3.Error):
        connection.execute("PRAGMA foreign_keys=ON")
        connection.execute(statement)


def test_order_of_writing_is_never_reused(memory: Store) -> None:
    kept = memory.keep("first")
    memory.write(lambda w: w.connection.exec_driver_sql("DELETE FROM memories"))
    assert memory.keep("second").seq > kept.seq


@pytest.mark.parametrize("change", ["UPDATE memories SET pinned = 1, updated_at = 'x'"])
def test_a_change_beside_the_text_leaves_the_index_alone(memory: Store, change: str) -> None:
    memory.save("text")
    before = memory.rows("SELECT id, block FROM memories_fts_data ORDER BY id")
    memory.write(lambda w: w.connection.exec_driver_sql(change))
    assert memory.rows("SELECT id, block FROM memories_fts_data ORDER BY id") == before


def at_first_revision(folder: Path) -> None:
    """Make a database as the last release left it: revision 0001, with a session in it."""
    engine = db.engine(url_of(folder))
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "ghost.db").touch(0o600)
    config = Config()
    config.set_main_option("script_location", str(Path(db.__file__).parent / "migrations"))
    with db.write(engine) as connection:
        connection.exec_driver_sql(f"PRAGMA application_id={db_sqlite.APPLICATION_ID}")
        config.attributes["connection"] = connection
        command.upgrade(config, "0001")
    engine.dispose()


def test_a_database_of_the_last_release_is_upgraded_with_its_ledger(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_first_revision(home)
    with raw(home) as other:
        other.execute("UPDATE alembic_version SET version_num = ?", (HEAD,))
    with monkeypatch.context() as patch:  # as the last release: no memory, no guards of payloads
        patch.setattr(schema, "check_guards", lambda _: None)
        with open_recorder(home) as recorder:
            spawned(recorder)
    before = rows(home, "SELECT idx, body FROM entries ORDER BY idx")
    with raw(home) as other:
        other.execute("UPDATE alembic_version SET version_num = '0001'")
    with memory_at(home) as memory:
        memory.save("the port is 8402")
        assert rows(home, "SELECT version_num FROM alembic_version") == [HEAD]
        assert memory.rows("SELECT idx, body FROM entries ORDER BY idx")[: len(before)] == before
        assert differences(memory.recorder.engine) == []


KILLED = """
import os, signal, sys
from pathlib import Path
import sqlalchemy as sa
from ghost_core import db, db_sqlite
from support.ledger import url_of
engine = db.engine(url_of(Path(sys.argv[1])))
left = int(sys.argv[2])
def count(*_):
    global left
    left -= 1
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)
sa.event.listen(engine, "before_cursor_execute", count)
db.migrate(engine)
print("done")
"""


@pytest.mark.slow
def test_killed_anywhere_in_the_migration_it_reopens_whole(home: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    at_first_revision(home)
    for statement in range(3, 400, 31):
        done = subprocess.run(
            [sys.executable, "-c", KILLED, str(home), str(statement)],
            env=environment,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        if done.stdout:
            break
        assert done.returncode == -9, done.stderr
        assert rows(home, "PRAGMA integrity_check") == ["ok"]
        assert rows(home, "SELECT version_num FROM alembic_version") == ["0001"]
        assert rows(home, "SELECT name FROM sqlite_master WHERE name = 'memories'") == []
    assert (done.stdout, done.stderr) == ("done\n", "")
    assert statement > 20
    with memory_at(home) as memory:
        memory.save("the port is 8402")
        assert differences(memory.recorder.engine) == []
