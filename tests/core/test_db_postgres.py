"""The database on a PostgreSQL server: transactions, the lock of writers, what failures are called."""

from __future__ import annotations

import importlib.util
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
import sqlalchemy as sa
from sqlalchemy.engine import Engine

from ghost_core import db, db_postgres
from ghost_core.errors import ConfigError, DeniedError, GhostError, UnavailableError
from support.database import count
from support.postgres import PASSWORD, Server, Shared
from support.processes import free_port

INSERT = "INSERT INTO payload_keys VALUES ('a', '\\x00')"

pytestmark = pytest.mark.postgres


@pytest.fixture
def engine(shared: Shared) -> Engine:
    return db.engine(shared.url)


def _refused(work: Callable[[], object]) -> GhostError:
    with pytest.raises(GhostError) as caught:
        work()
    assert PASSWORD not in f"{caught.value.message} {caught.value.hint}"
    return caught.value


def test_migrating_twice_changes_nothing(engine: Engine, shared: Shared):
    query = "SELECT oid FROM pg_class WHERE relnamespace = 'public'::regnamespace ORDER BY oid"
    before = shared.run(query)
    db.migrate(engine)
    assert shared.run(query) == before


def test_two_that_migrate_at_once_make_one_schema(bare: Shared):
    engines = [db.engine(bare.url) for _ in range(3)]
    threads = [threading.Thread(target=db.migrate, args=(each,)) for each in engines]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert bare.run("SELECT version_num FROM alembic_version") == [db.HEAD]


def test_a_database_is_there_once_it_has_our_tables(bare: Shared):
    engine = db.engine(bare.url)
    assert not db.exists(engine)
    db.migrate(engine)
    assert db.exists(engine)


def test_tables_of_another_program_are_left_alone(bare: Shared):
    bare.run("CREATE TABLE memories (id TEXT)")
    assert _refused(lambda: db.migrate(db.engine(bare.url))).code == "database.schema"


def test_a_database_of_a_newer_ghost_is_left_alone(engine: Engine, shared: Shared):
    shared.run("UPDATE alembic_version SET version_num = '9999'")
    assert _refused(lambda: db.migrate(engine)).code == "database.schema"


def test_a_reader_sees_one_state(engine: Engine):
    query = "SELECT count(*) FROM payload_keys"
    with db.read(engine) as connection:
        before = connection.exec_driver_sql(query).scalar()
        with db.write(engine) as other:
            other.exec_driver_sql(INSERT)
        assert connection.exec_driver_sql(query).scalar() == before == 0
    assert count(engine, "payload_keys") == 1


def test_a_reader_cannot_write(engine: Engine):
    with pytest.raises(UnavailableError) as caught, db.read(engine) as connection:
        connection.exec_driver_sql(INSERT)
    assert caught.value.code == "database.unwritable"


def test_one_writer_at_a_time_and_the_next_sees_what_it_wrote(engine: Engine):
    seen = []

    def second() -> None:
        with db.write(engine) as connection:
            found = connection.exec_driver_sql("SELECT count(*) FROM payload_keys")
            seen.append(found.scalar())

    with db.write(engine) as connection:
        thread = threading.Thread(target=second)
        thread.start()
        connection.exec_driver_sql(INSERT)
    thread.join(10)
    assert seen == [1]


def test_a_held_lock_is_reported_after_the_busy_time(engine: Engine, shared: Shared):
    impatient = db.engine(shared.url, busy_seconds=0.05)
    with db.write(engine), pytest.raises(UnavailableError) as caught, db.write(impatient):
        pass
    assert caught.value.code == "database.locked"


def test_a_failed_write_leaves_nothing(engine: Engine):
    with pytest.raises(ZeroDivisionError), db.write(engine) as connection:
        connection.exec_driver_sql(INSERT)
        _ = 1 // 0
    assert count(engine, "payload_keys") == 0


@pytest.mark.parametrize("held", [False, True])
def test_what_the_server_gave_up_is_not_taken_for_committed(engine: Engine, *, held: bool):
    """The server answers the COMMIT of a failed transaction with success, and undoes it."""
    writing = db.Writing(engine)
    transaction = writing.transaction() if held else db.write(engine)
    with pytest.raises(UnavailableError) as caught, transaction as connection:
        connection.exec_driver_sql(INSERT)
        with pytest.raises(sa.exc.ProgrammingError):
            connection.exec_driver_sql("SELECT * FROM nothing")
    writing.close()
    assert caught.value.code == "database.failed"
    assert count(engine, "payload_keys") == 0


def test_what_is_nested_can_fail_alone(engine: Engine):
    with db.write(engine) as connection:
        with pytest.raises(sa.exc.ProgrammingError), db.nested(connection):
            connection.exec_driver_sql("SELECT * FROM nothing")
        connection.exec_driver_sql(INSERT)
    assert count(engine, "payload_keys") == 1


def test_a_commit_is_durable_also_where_the_server_is_set_otherwise(shared: Shared):
    shared.run(f"ALTER DATABASE {shared.name} SET synchronous_commit = off")
    with db.read(db.engine(shared.url)) as connection:
        assert connection.exec_driver_sql("SHOW synchronous_commit").scalar() == "on"


def test_a_held_connection_learns_that_another_has_committed(engine: Engine):
    with engine.connect() as held:
        before = db.data_version(held)
        assert db.data_version(held) == before
        with db.write(engine) as other:
            other.exec_driver_sql(INSERT)
        after = db.data_version(held)
    assert after != before


def test_a_server_that_does_not_answer_is_unreachable():
    url = f"postgresql+psycopg://ghost@127.0.0.1:{free_port()}/ghost"
    error = _refused(lambda: db.migrate(db.engine(url)))
    assert (error.code, error.exit_code) == ("database.unreachable", 4)


def test_a_server_that_goes_away_in_between_is_unreachable(engine: Engine, shared: Shared):
    writing = db.Writing(engine)
    with pytest.raises(UnavailableError) as caught, writing.transaction() as connection:
        pid = connection.exec_driver_sql("SELECT pg_backend_pid()").scalar()
        shared.run(f"SELECT pg_terminate_backend({pid}, 5000)")
        connection.exec_driver_sql(INSERT)
    assert caught.value.code == "database.unreachable"
    with writing.transaction() as connection:  # another connection is made
        connection.exec_driver_sql(INSERT)
    writing.close()
    assert count(engine, "payload_keys") == 1


def test_a_database_that_is_not_there_is_unreachable(postgres: Server):
    error = _refused(lambda: db.migrate(db.engine(postgres.url("nowhere"))))
    assert (error.code, error.exit_code) == ("database.unreachable", 4)
    assert '"nowhere" does not exist' in error.message


def _passwords(folder: Path, monkeypatch: pytest.MonkeyPatch, password: str) -> None:
    file = folder / "pgpass"
    file.write_text(f"*:*:*:*:{password}\n")
    file.chmod(0o600)
    monkeypatch.setenv("PGPASSFILE", str(file))


@pytest.mark.parametrize("password", ["", "wrong-horse"])
def test_a_login_that_is_refused_says_so_and_shows_no_password(
    shared: Shared, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, password: str
):
    _passwords(tmp_path, monkeypatch, password)
    url = shared.server.tcp_url(shared.name)
    error = _refused(lambda: db.migrate(db.engine(url)))
    assert (error.code, error.exit_code) == ("database.login", 4)
    assert "wrong-horse" not in error.message
    assert ".pgpass" in str(error.hint)


def test_a_password_file_opens_the_database(
    shared: Shared, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    _passwords(tmp_path, monkeypatch, PASSWORD)
    engine = db.engine(shared.server.tcp_url(shared.name))
    db.migrate(engine)
    assert db.name(engine) == shared.server.tcp_url(shared.name)


@pytest.mark.parametrize(
    "url",
    [
        f"postgresql+psycopg://me:{PASSWORD}@localhost/ghost",
        f"postgresql+psycopg://me@localhost/ghost?password={PASSWORD}",
        f"postgresql+psycopg://me@localhost/ghost?sslpassword={PASSWORD}",
        "postgresql+psycopg://me@localhost",
        "postgresql+psycopg2://me@localhost/ghost",
        "postgresql+psycopg://me@localhost:port/ghost",
    ],
)
def test_an_address_that_cannot_be_used_is_a_configuration_error(url: str):
    error = _refused(lambda: db.engine(url))
    assert (error.code, error.exit_code) == ("database.url", 3)


def test_a_missing_driver_names_the_extra(monkeypatch: pytest.MonkeyPatch):
    find = importlib.util.find_spec
    monkeypatch.setattr(
        db_postgres.importlib.util,
        "find_spec",
        lambda name: None if name == "psycopg" else find(name),
    )
    with pytest.raises(ConfigError) as caught:
        db.engine("postgresql://me@localhost/ghost")
    assert (caught.value.code, caught.value.exit_code) == ("database.driver", 3)
    assert "ghost-ledger[postgres]" in str(caught.value.hint)


def test_a_role_without_the_right_is_refused(engine: Engine, shared: Shared):
    reader = f"reader_{shared.name}"
    shared.run(f"CREATE ROLE {reader} LOGIN")
    url = shared.url.replace("ghost@", f"{reader}@")
    with pytest.raises(DeniedError) as caught, db.write(db.engine(url)) as connection:
        connection.exec_driver_sql(INSERT)
    assert caught.value.code == "database.guarded"


def test_a_value_that_the_server_cannot_hold_is_no_lost_connection(engine: Engine):
    with pytest.raises(UnavailableError) as caught, db.write(engine) as connection:
        connection.execute(sa.text("INSERT INTO vault VALUES (:name, '', NULL, 0)"), {"name": "\0"})
    assert caught.value.code == "database.failed"


def test_a_rewritten_table_is_another_file(engine: Engine, shared: Shared):
    place = "SELECT pg_relation_filepath('payload_keys')"
    before = shared.run(place)
    db.rewrite(engine, ["payload_keys"])
    assert shared.run(place) != before


def test_a_server_is_not_copied_into_a_file(engine: Engine, tmp_path: Path):
    error = _refused(lambda: db.copy(engine, tmp_path / "copy.db"))
    assert error.code == "database.copy"
    assert not (tmp_path / "copy.db").exists()
