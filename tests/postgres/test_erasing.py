"""Erasing on PostgreSQL: what the guards let through, and what is left in the files of the server."""

from __future__ import annotations

import os
from pathlib import Path

import psycopg
import pytest

from ghost_core import db
from ghost_core.errors import DeniedError, IntegrityError
from ghost_core.migrations.payload_guards import POSTGRES_KEY_GUARDS, POSTGRES_PAYLOAD_GUARDS
from ghost_core.paths import Home
from ghost_ledger.auditing import audit
from ghost_ledger.erasing import Wanted, scrub
from ghost_ledger.export.replay import session_view
from ghost_ledger.reader import Ledger
from ghost_ledger.recorder import Recorder
from ghost_ledger.schema import check_guards
from support.ledger import CLOSED, differences, intent, sealed, spawned
from support.postgres import Shared

pytestmark = pytest.mark.postgres

CANARY = "canary-of-an-intent-" + "x" * 200
STATEMENTS = (
    "DELETE FROM payloads",
    "DELETE FROM payload_keys",
    "UPDATE payloads SET data = NULL",
    "UPDATE payload_keys SET sealed = ''",
    "TRUNCATE payloads",
    "TRUNCATE payload_keys",
    "INSERT INTO payloads SELECT * FROM payloads ON CONFLICT (entry_idx, field)"
    " DO UPDATE SET data = NULL",
)


def wanted(sid: str, **more: str) -> Wanted:
    return Wanted(sid, "request 4711", "alice", **more)


def scrubbed(url: str) -> None:
    engine = db.engine(url)
    scrub(engine)
    engine.dispose()


def held(shared: Shared, needles: list[bytes]) -> list[bytes]:
    """Return those that a file of the database holds, once the server has written its pages."""
    shared.run("CHECKPOINT")
    (number,) = shared.run("SELECT oid FROM pg_database WHERE datname = current_database()")
    files = shared.server.folder.rglob(f"base/{number}/*")
    content = b"\0".join(path.read_bytes() for path in files if path.is_file())
    return [needle for needle in needles if needle in content]


def secrets(shared: Shared, sid: str) -> list[bytes]:
    rows = shared.run(
        "SELECT p.salt, p.data FROM payloads p JOIN entries e ON e.idx = p.entry_idx"
        f" WHERE e.sid = '{sid}'"
    )
    (key,) = shared.run(f"SELECT sealed FROM payload_keys WHERE sid = '{sid}'")
    return [CANARY.encode(), *(part for row in rows for part in (row[0], row[1][-24:])), key]


def test_nothing_is_left_in_the_tables(tmp_path: Path, shared: Shared) -> None:
    with Recorder.open(Home(tmp_path), shared.url, linger_us=0) as recorder:
        owned = spawned(recorder, text=CANARY)
        recorder.append(intent(owned.sid, data=os.urandom(300)))
        recorder.seal(owned.sid, CLOSED)
        needles = secrets(shared, owned.sid)
        assert held(shared, needles) == needles
        assert recorder.erase(wanted(owned.sid)).key_destroyed is True
        assert held(shared, needles) != []  # a deleted row stays in its page
        scrubbed(shared.url)
        assert held(shared, needles) == []
        assert differences(recorder.engine) == []
        found = audit(recorder.engine, Home(tmp_path))
        assert (found.exit_code, {axis.state for axis in found.axes}) == (0, {"valid"})
        view = session_view(Ledger(recorder.engine, Home(tmp_path)), Home(tmp_path), owned.sid)
        assert view["intent_state"] == "erased"
    assert shared.gaps() == []


def test_what_was_named_goes_and_the_rest_stays(tmp_path: Path, shared: Shared) -> None:
    with Recorder.open(Home(tmp_path), shared.url, linger_us=0) as recorder:
        sid = sealed(recorder)
        done = recorder.erase(wanted(sid, field="params"))
        assert [each.fields for each in done.now] == [("params",)]
        left = {item.field for item in Ledger(recorder.engine, Home(tmp_path)).payloads(sid)}
        assert left == {"intent", "response"}
        with pytest.raises(psycopg.errors.IntegrityConstraintViolation):
            shared.run("DELETE FROM payloads WHERE field = 'response'")


@pytest.mark.parametrize("statement", STATEMENTS)
def test_payloads_and_keys_are_neither_changed_nor_deleted_without_an_entry(
    tmp_path: Path, shared: Shared, statement: str
) -> None:
    with Recorder.open(Home(tmp_path), shared.url, linger_us=0) as recorder:
        sealed(recorder)
    query = "SELECT entry_idx, field, data FROM payloads ORDER BY 1, 2"
    before = shared.run(query)
    replica = "SET session_replication_role = replica"
    for first in ((), (replica,)):
        with pytest.raises(psycopg.errors.IntegrityConstraintViolation, match="ledger: "):
            shared.run(*first, statement)
    assert shared.run(query) == before


@pytest.mark.parametrize("name", [*POSTGRES_PAYLOAD_GUARDS, *POSTGRES_KEY_GUARDS])
def test_a_missing_guard_is_named(shared: Shared, name: str) -> None:
    table = name.rpartition("_")[0]
    shared.run(f"DROP TRIGGER {name} ON {table}")
    engine = db.engine(shared.url)
    with pytest.raises(IntegrityError, match=name), db.read(engine) as connection:
        check_guards(connection)
    engine.dispose()


def test_a_role_that_owns_no_table_is_told_who_writes_them_anew(shared: Shared) -> None:
    app = f"app_{shared.name}"
    shared.run(f"CREATE ROLE {app} LOGIN", f"GRANT SELECT ON ALL TABLES IN SCHEMA public TO {app}")
    with pytest.raises(DeniedError, match="does not own the table payloads") as caught:
        scrubbed(shared.url.replace("ghost@", f"{app}@"))
    assert (caught.value.code, caught.value.exit_code) == ("database.guarded", 5)


def test_a_whole_log_is_audited_and_a_changed_one_named(tmp_path: Path, shared: Shared) -> None:
    with Recorder.open(Home(tmp_path / "one"), shared.url, linger_us=0) as recorder:
        sealed(recorder)
    engine = db.engine(shared.url)
    assert audit(engine, Home(tmp_path / "one")).exit_code == 0
    other = audit(engine, Home(tmp_path / "two").ensure())  # holds neither log key nor memory
    assert other.exit_code == 8
    shared.run(
        "ALTER TABLE entries DISABLE TRIGGER ALL", "UPDATE entries SET ts = ts + 1 WHERE idx = 3"
    )
    found = audit(engine, Home(tmp_path / "one"))
    assert (found.exit_code, found.first_bad) == (7, 3)
    engine.dispose()
