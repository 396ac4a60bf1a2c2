"""The ledger on PostgreSQL: one chain of many writers, guards that hold, tampering that is seen."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from ghost_core import db
from ghost_core.clock import SystemClock
from ghost_core.errors import IntegrityError, UnavailableError
from ghost_core.migrations.guards import POSTGRES_GUARDS
from ghost_core.paths import Home
from ghost_ledger import auditing, bundle
from ghost_ledger.reader import Ledger
from ghost_ledger.recorder import Recorder
from ghost_ledger.schema import check_guards
from ghost_ledger.session.sweep import due
from ghost_ledger.verify import verify_bundle
from support.handclock import HandClock
from support.ledger import CLOSED, Owned, denied, differences, intent, spawned
from support.postgres import Server, Shared

pytestmark = pytest.mark.postgres

APPENDER = """
import sys, threading
from pathlib import Path
from ghost_core.paths import Home
from ghost_ledger.recorder import Recorder
from support.ledger import intent, spawned
sys.stdin.readline()
with Recorder.open(Home(Path(sys.argv[1])), sys.argv[2], busy_seconds=20) as recorder:
    def work():
        owned = spawned(recorder)
        for _ in range(3):
            recorder.append(intent(owned.sid))
    threads = [threading.Thread(target=work) for _ in range(16)]
    for each in threads: each.start()
    for each in threads: each.join()
"""
ENDLESS = """
import sys
from pathlib import Path
from ghost_core.paths import Home
from ghost_ledger.recorder import Recorder
from support.ledger import intent, spawned
recorder = Recorder.open(Home(Path(sys.argv[1])), sys.argv[2])
owned = spawned(recorder)
while True:
    recorder.append(intent(owned.sid))
    print("written", flush=True)
"""


def opened(folder: Path, shared: Shared, **options: float) -> Recorder:
    return Recorder.open(Home(folder), shared.url, linger_us=0, **options)  # type: ignore[arg-type]


@pytest.fixture
def recorder(tmp_path: Path, shared: Shared) -> Iterator[Recorder]:
    with opened(tmp_path, shared) as found:
        yield found


@pytest.fixture
def owned(recorder: Recorder) -> Owned:
    return spawned(recorder)


def started(program: str, folder: Path, shared: Shared) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", program, str(folder), shared.url],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])},
    )


def test_an_entry_is_there_when_its_receipt_is(shared: Shared, owned: Owned):
    asked, answered = owned.act()
    stored = shared.run("SELECT body FROM entries ORDER BY idx")
    assert [stored[asked.idx], stored[answered.idx]] == [asked.body, answered.body]


def test_a_sealed_session_verifies_and_its_tables_are_what_the_entries_say(
    tmp_path: Path, recorder: Recorder, owned: Owned
):
    owned.act()
    recorder.append(denied(owned.sid))
    recorder.seal(owned.sid, CLOSED)
    ledger = Ledger(recorder.engine, Home(tmp_path))
    assert differences(recorder.engine) == []
    assert ledger.session(owned.sid).spawned_at.tzinfo is not None  # type: ignore[union-attr]
    made = ledger.bundle(owned.sid, disclose=True)
    assert verify_bundle(bundle.encode(made), [recorder.log_vkey]).verdict == "valid"
    assert next(each.data for each in ledger.payloads(owned.sid)) == b"deploy"


@pytest.mark.slow
def test_six_processes_with_sixteen_threads_make_one_gap_free_chain(tmp_path: Path, shared: Shared):
    children = [started(APPENDER, tmp_path, shared) for _ in range(6)]
    for child in children:
        assert child.stdin is not None
        child.stdin.write("go\n")
        child.stdin.flush()
    results = [(child.communicate(timeout=50)[1], child.returncode) for child in children]
    assert results == [("", 0)] * 6
    counted = "SELECT count(*) FROM entries WHERE type = '{}'"
    assert shared.run(counted.format("action.intent")) == [6 * 16 * 3]
    assert shared.run(counted.format("log.init")) == [1]
    assert shared.gaps() == []
    engine = db.engine(shared.url)
    assert differences(engine) == []
    assert auditing.audit(engine, Home(tmp_path)).exit_code == 0


def test_a_process_killed_while_it_writes_leaves_a_whole_ledger(tmp_path: Path, shared: Shared):
    child = started(ENDLESS, tmp_path, shared)
    assert child.stdout is not None
    written = 0
    while written < 20:
        written += child.stdout.readline() == "written\n"
    child.send_signal(signal.SIGKILL)
    child.communicate(timeout=10)
    with opened(tmp_path, shared) as recorder:
        spawned(recorder).act()
        assert differences(recorder.engine) == []
    assert shared.gaps() == []
    assert shared.run("SELECT count(*) FROM entries WHERE type = 'action.intent'")[0] >= written


def test_a_locked_database_fails_the_call_and_moves_no_chain(tmp_path: Path, shared: Shared):
    with opened(tmp_path, shared, busy_seconds=0.1) as recorder:
        owned = spawned(recorder)
        with db.write(db.engine(shared.url)), pytest.raises(UnavailableError) as caught:
            recorder.append(intent(owned.sid))
        assert caught.value.code == "database.locked"
        owned.act()
    assert shared.gaps() == []


def test_a_lost_connection_fails_the_call_and_the_next_goes_on(shared: Shared, owned: Owned):
    shared.run(
        "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
        f" WHERE application_name = 'ghost' AND datname = '{shared.name}'"
    )
    with pytest.raises(UnavailableError) as caught:
        owned.act()
    assert caught.value.code == "database.unreachable"
    owned.act()
    assert shared.gaps() == []


@pytest.fixture(scope="module")
def entered(postgres: Server, tmp_path_factory: pytest.TempPathFactory) -> Shared:
    """A database with a session in it, for tests that leave it as it is."""
    found = Shared(postgres, postgres.database())
    with Recorder.open(Home(tmp_path_factory.mktemp("entered")), found.url) as recorder:
        spawned(recorder).act()
    return found


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE entries SET sid = 'x'",
        "DELETE FROM entries",
        "TRUNCATE entries",
        "TRUNCATE entries CASCADE",
        "INSERT INTO entries SELECT * FROM entries ON CONFLICT (idx) DO UPDATE SET sid = 'x'",
        "INSERT INTO entries SELECT idx + 100, sid, seq + 100, prev, type, id, ts, body, sig, leaf_hash"
        " FROM entries LIMIT 1",
        "INSERT INTO entries SELECT 3, 'gh_x', 0, '\\x00', type, id, ts, body, sig, leaf_hash"
        " FROM entries LIMIT 1",
    ],
)
@pytest.mark.parametrize("role", ["origin", "replica"])
def test_what_is_entered_cannot_be_changed(entered: Shared, statement: str, role: str):
    """Not even in the role of a replica, which passes triggers that are not ENABLE ALWAYS."""
    before = entered.run("SELECT * FROM entries ORDER BY idx")
    with pytest.raises(psycopg.errors.IntegrityConstraintViolation, match="ledger: "):
        entered.run(f"SET session_replication_role = {role}", statement)
    assert entered.run("SELECT * FROM entries ORDER BY idx") == before


def test_a_table_of_the_same_name_does_not_lead_the_guard_astray(entered: Shared):
    with pytest.raises(psycopg.errors.IntegrityConstraintViolation, match="not the next one"):
        entered.run(
            "CREATE TEMP TABLE entries (LIKE public.entries)",
            "INSERT INTO public.entries SELECT 0, sid, 0, prev, type, id, ts, body, sig, leaf_hash"
            " FROM public.entries LIMIT 1",
        )


TAMPERED = {
    **{name: (f"DROP TRIGGER {name} ON entries", name) for name in POSTGRES_GUARDS},
    "disabled": ("ALTER TABLE entries DISABLE TRIGGER ALL", "entries_truncate"),
    "origin only": ("ALTER TABLE entries ENABLE TRIGGER entries_update", "entries_update"),
    "hollow": (
        "CREATE OR REPLACE FUNCTION entries_refuse() RETURNS trigger LANGUAGE plpgsql AS"
        " 'BEGIN RETURN NEW; END'",
        "entries_update",
    ),
    "letting go": (
        "CREATE OR REPLACE FUNCTION entries_prune() RETURNS trigger LANGUAGE plpgsql AS"
        " 'BEGIN RETURN OLD; END'",
        "entries_delete",
    ),
    "another path": ("ALTER FUNCTION entries_insert() RESET search_path", "entries_insert"),
    "conditional": (
        "DROP TRIGGER entries_update ON entries; CREATE TRIGGER entries_update BEFORE UPDATE ON entries"
        " FOR EACH ROW WHEN (false) EXECUTE FUNCTION entries_refuse();"
        " ALTER TABLE entries ENABLE ALWAYS TRIGGER entries_update",
        "entries_update",
    ),
    "foreign": (
        "CREATE TRIGGER sink BEFORE INSERT ON entries FOR EACH ROW"
        " EXECUTE FUNCTION suppress_redundant_updates_trigger()",
        "sink",
    ),
    "rule": ("CREATE RULE sink AS ON INSERT TO entries DO INSTEAD NOTHING", "sink"),
}


@pytest.mark.parametrize("how", TAMPERED)
def test_a_guard_that_is_not_as_it_was_made_is_named(entered: Shared, how: str):
    statement, named = TAMPERED[how]
    engine = db.engine(entered.url)
    with pytest.raises(IntegrityError, match=named) as caught, db.write(engine) as connection:
        connection.exec_driver_sql(statement)
        check_guards(connection)
    assert caught.value.code == "ledger.triggers"
    with db.read(engine) as connection:
        check_guards(connection)  # all of it was taken back


def test_a_dropped_guard_is_found_at_the_next_open(tmp_path: Path, shared: Shared):
    opened(tmp_path, shared).close()
    shared.run("DROP TRIGGER entries_truncate ON entries")
    with pytest.raises(IntegrityError, match="entries_truncate") as caught:
        opened(tmp_path, shared)
    assert caught.value.code == "ledger.triggers"


@pytest.mark.parametrize(
    ("change", "table"),
    [
        ("UPDATE sessions SET intent = 'harmless'", "sessions"),
        ("UPDATE sessions SET scopes = '[\"*\"]'", "sessions"),
        ("UPDATE sessions SET spawned_at = spawned_at - interval '1 day'", "sessions"),
        ("UPDATE actions SET host = 'good.example'", "actions"),
        ("DELETE FROM credentials_log", "credentials_log"),
    ],
)
def test_what_the_owner_of_the_tables_edits_is_named(entered: Shared, change: str, table: str):
    edited = Shared(entered.server, entered.server.database(template=entered.name))
    edited.run(change)
    engine = db.engine(edited.url)
    assert {each.table for each in differences(engine)} == {table}


def test_a_database_that_lost_its_last_entries_is_refused(tmp_path: Path, shared: Shared):
    with opened(tmp_path, shared) as recorder:
        spawned(recorder).act()
    shared.run(
        "ALTER TABLE entries DISABLE TRIGGER ALL",
        "DELETE FROM entries WHERE idx = (SELECT max(idx) FROM entries)",
        *(f"ALTER TABLE entries ENABLE ALWAYS TRIGGER {name}" for name in POSTGRES_GUARDS),
    )
    with pytest.raises(IntegrityError) as caught:
        opened(tmp_path, shared)
    assert caught.value.code == "ledger.head"


def test_a_database_that_was_emptied_is_missed(tmp_path: Path, shared: Shared):
    opened(tmp_path, shared).close()
    shared.run("DROP SCHEMA public CASCADE", "CREATE SCHEMA public")
    with pytest.raises(IntegrityError) as caught:
        opened(tmp_path, shared)
    assert caught.value.code == "ledger.rollback"


def test_another_home_goes_on_with_the_log_but_signs_no_head(tmp_path: Path, shared: Shared):
    with opened(tmp_path / "one", shared) as first:
        origin = first.origin
    with opened(tmp_path / "two", shared) as second:
        assert second.origin == origin
        owned = spawned(second)
        owned.act()
        second.seal(owned.sid, CLOSED)
        with pytest.raises(IntegrityError, match="does not hold its key") as caught:
            Ledger(second.engine, Home(tmp_path / "two")).bundle(owned.sid)
    assert caught.value.code == "ledger.log_key"
    with opened(tmp_path / "one", shared) as first:
        made = Ledger(first.engine, Home(tmp_path / "one")).bundle(owned.sid)
        assert verify_bundle(bundle.encode(made), [first.log_vkey]).verdict == "valid"
    assert shared.gaps() == []


@pytest.mark.parametrize(("later", "given_up"), [(0, False), (400, True)])
def test_a_session_of_another_machine_is_left_alone_until_its_end(
    tmp_path: Path, recorder: Recorder, owned: Owned, *, later: int, given_up: bool
):
    """Its boot is none of ours, and its boot clock cannot be asked."""
    elsewhere = HandClock(SystemClock().now_us() + later * 1_000_000, boot="another machine")
    runtime = tmp_path / "run"
    runtime.mkdir(mode=0o700)
    found = {row.session_id for row in due(recorder.engine, elsewhere, root=runtime)}
    assert (owned.sid in found) is given_up
