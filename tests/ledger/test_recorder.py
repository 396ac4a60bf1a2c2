"""The recorder: the only door into the ledger."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import sqlalchemy as sa

from ghost_core import db, ids
from ghost_core.errors import DeniedError, IntegrityError, NotFoundError, UnavailableError
from ghost_core.paths import Home
from ghost_ledger import auditing, bundle, entry, heads
from ghost_ledger.keys import SecretKey
from ghost_ledger.reader import Ledger
from ghost_ledger.recorder import Draft, Recorder
from ghost_ledger.verify import verify_bundle
from support.database import prepare
from support.files import contents
from support.handclock import HandClock
from support.ledger import (
    CLOSED,
    Owned,
    denied,
    differences,
    intent,
    open_recorder,
    raw,
    rows,
    spawn,
    spawned,
    url_of,
)

APPENDER = """
import sys, threading
from pathlib import Path
from support.ledger import intent, open_recorder, spawned
from support.files import contents
sys.stdin.readline()
with open_recorder(Path(sys.argv[1]), busy_seconds=20) as recorder:
    def work():
        owned = spawned(recorder)
        for _ in range(3):
            recorder.append(intent(owned.sid))
    threads = [threading.Thread(target=work) for _ in range(16)]
    for each in threads: each.start()
    for each in threads: each.join()
"""


@pytest.fixture
def recorder(tmp_path: Path) -> Iterator[Recorder]:
    with open_recorder(tmp_path) as opened:
        yield opened


@pytest.fixture
def owned(recorder: Recorder) -> Owned:
    return spawned(recorder)


def _types(folder: Path) -> list[str]:
    return rows(folder, "SELECT type FROM entries ORDER BY idx")


def test_the_first_open_creates_the_log(tmp_path: Path, recorder: Recorder):
    assert _types(tmp_path) == ["session.spawn", "log.init"]
    assert recorder.origin.startswith("ghost.local/")
    assert recorder.log_vkey.startswith(recorder.origin + "+")


def test_another_open_goes_on_with_the_same_log(tmp_path: Path):
    with open_recorder(tmp_path) as first:
        origin = first.origin
    with open_recorder(tmp_path) as second:
        assert second.origin == origin
    assert _types(tmp_path).count("log.init") == 1


def test_an_entry_is_there_when_its_receipt_is(tmp_path: Path, owned: Owned):
    (receipt,) = owned.recorder.append(intent(owned.sid))
    query = "SELECT seq, body, sig, leaf_hash, ts FROM entries WHERE idx = ?"
    (row,) = rows(tmp_path, query, receipt.idx)
    found = receipt.seq, receipt.body, receipt.signature, receipt.leaf_hash, receipt.ts
    assert tuple(row) == found


def test_drafts_of_one_call_land_together(owned: Owned):
    receipts = owned.recorder.append(intent(owned.sid), denied(owned.sid))
    assert [receipt.seq for receipt in receipts] == [1, 2]


def test_a_wrong_draft_fails_its_own_call_only(owned: Owned):
    recorder = owned.recorder
    wrong = replace(intent(owned.sid), fields={"tool": "t"})
    futures = [recorder.submit(each) for each in (intent(owned.sid), wrong, intent(owned.sid))]
    assert [futures[0].result(5)[0].seq, futures[2].result(5)[0].seq] == [1, 2]
    with pytest.raises(IntegrityError) as caught:
        futures[1].result(5)
    assert caught.value.code == "ledger.grammar"


def test_a_call_with_one_wrong_draft_leaves_nothing(tmp_path: Path, owned: Owned):
    wrong = replace(intent(owned.sid), fields={})
    before = _types(tmp_path)
    with pytest.raises(IntegrityError):
        owned.recorder.append(intent(owned.sid), wrong)
    assert _types(tmp_path) == before


def test_a_second_intent_of_the_same_action_is_refused(owned: Owned):
    action = ids.action_id()
    first = owned.recorder.submit(intent(owned.sid, action))
    second = owned.recorder.submit(intent(owned.sid, action))
    third = owned.recorder.submit(intent(owned.sid))
    assert first.result(5)[0].seq == 1
    with pytest.raises(IntegrityError) as caught:
        second.result(5)
    assert caught.value.code == "ledger.duplicate"
    assert third.result(5)[0].seq == 2


def test_a_session_whose_key_is_elsewhere_cannot_be_written(recorder: Recorder):
    with pytest.raises(NotFoundError) as caught:
        recorder.append(intent(ids.session_id()))
    assert caught.value.code == "ledger.unattached"


def test_a_session_starts_with_its_spawn(recorder: Recorder):
    sid = ids.session_id()
    recorder.attach(sid, SecretKey.generate())
    with pytest.raises(IntegrityError) as caught:
        recorder.append(intent(sid))
    assert caught.value.code == "ledger.order"


def test_a_session_spawns_once(owned: Owned):
    with pytest.raises(IntegrityError) as caught:
        owned.recorder.append(spawn(owned))
    assert caught.value.code == "ledger.order"


def test_a_session_cannot_go_on_under_another_key(owned: Owned):
    with pytest.raises(IntegrityError) as caught:
        owned.recorder.attach(owned.sid, SecretKey.generate())
    assert caught.value.code == "ledger.key"


def test_the_spawn_must_name_the_key_that_signs(recorder: Recorder):
    owned = Owned(recorder, ids.session_id(), SecretKey.generate())
    recorder.attach(owned.sid, SecretKey.generate())
    with pytest.raises(IntegrityError) as caught:
        recorder.append(spawn(owned))
    assert caught.value.code == "ledger.key"


def test_the_time_never_runs_backwards(tmp_path: Path):
    clock = HandClock()
    with open_recorder(tmp_path, clock=clock) as recorder:
        owned = spawned(recorder)
        clock.now -= 3_600_000_000
        (receipt,) = recorder.append(intent(owned.sid))
        assert receipt.ts == clock.now + 3_600_000_000
        assert entry.parse(receipt.body).fields["clk"] == "clamped"


def test_a_seal_covers_the_session_and_ends_it(tmp_path: Path, owned: Owned):
    owned.act()
    sealed = owned.recorder.seal(owned.sid, CLOSED)
    query = "SELECT root, root_signature, status, size FROM sessions WHERE session_id = ?"
    assert rows(tmp_path, query, owned.sid) == [(sealed.root, sealed.signature, "sealed", 4)]
    with pytest.raises(NotFoundError):
        owned.recorder.append(intent(owned.sid))
    with pytest.raises(DeniedError) as caught:
        owned.recorder.attach(owned.sid, owned.key)
    assert caught.value.code == "session.sealed"


def test_the_key_signs_a_statement_before_it_goes(tmp_path: Path, owned: Owned):
    owned.act()
    owned.recorder.seal(owned.sid, CLOSED)
    assert owned.key.wipe()
    query = "SELECT body FROM entries WHERE sid = ? AND type = 'session.seal'"
    (body,) = rows(tmp_path, query, owned.sid)
    assert len(str(entry.parse(body).fields["dsse"])) == 128
    made = Ledger(owned.recorder.engine, Home(tmp_path)).bundle(owned.sid, Home(tmp_path))
    report = verify_bundle(bundle.encode(made), [owned.vkey])
    assert (report.exit_code, report.axis("complete").state) == (0, "valid")


def test_a_statement_over_a_clamped_time_holds_too(tmp_path: Path):
    clock = HandClock()
    with open_recorder(tmp_path, clock=clock) as recorder:
        owned = spawned(recorder)
        clock.now -= 3_600_000_000
        recorder.seal(owned.sid, CLOSED)
        made = Ledger(recorder.engine, Home(tmp_path)).bundle(owned.sid, Home(tmp_path))
    assert b'"clk":"clamped"' in made.entries[-2]
    assert verify_bundle(bundle.encode(made), [owned.vkey]).exit_code == 0


@pytest.mark.parametrize("type_", ["session.closed", "session.seal"])
def test_only_sealing_writes_the_last_entries(owned: Owned, type_: str):
    with pytest.raises(IntegrityError) as caught:
        owned.recorder.append(Draft(owned.sid, type_, ids.entry_id(), CLOSED))
    assert caught.value.code == "ledger.order"


def test_another_process_seals_and_our_chain_ends(tmp_path: Path, owned: Owned):
    with open_recorder(tmp_path) as other:
        other.attach(owned.sid, owned.key)
        other.seal(owned.sid, CLOSED)
    with pytest.raises(DeniedError) as caught:
        owned.recorder.append(intent(owned.sid))
    assert caught.value.code == "session.sealed"


def test_two_recorders_continue_each_others_chain(tmp_path: Path, owned: Owned):
    with open_recorder(tmp_path) as other:
        other.attach(owned.sid, owned.key)
        seqs = [
            each.append(intent(owned.sid))[0].seq
            for each in (other, owned.recorder, other, owned.recorder)
        ]
    assert seqs == [1, 2, 3, 4]


def test_a_sealed_session_verifies_offline_under_the_log_key(tmp_path: Path, owned: Owned):
    owned.act()
    owned.recorder.append(denied(owned.sid))
    owned.recorder.seal(owned.sid, CLOSED)
    made = Ledger(owned.recorder.engine, Home(tmp_path)).bundle(owned.sid, disclose=True)
    report = verify_bundle(bundle.encode(made), [owned.recorder.log_vkey])
    assert report.verdict == "valid", report


def test_the_derived_tables_are_what_the_entries_say(tmp_path: Path, owned: Owned):
    owned.act()
    owned.recorder.append(denied(owned.sid))
    owned.recorder.seal(owned.sid, CLOSED)
    assert differences(db.engine(url_of(tmp_path))) == []


def test_a_locked_database_fails_the_call_and_moves_no_chain(tmp_path: Path):
    with open_recorder(tmp_path, busy_seconds=0.2) as recorder:
        owned = spawned(recorder)
        with raw(tmp_path) as other, pytest.raises(UnavailableError) as caught:
            other.execute("BEGIN IMMEDIATE")
            recorder.append(intent(owned.sid))
        assert caught.value.code == "database.locked"
        assert recorder.append(intent(owned.sid))[0].seq == 1


def test_a_full_disk_fails_the_call_and_moves_no_chain(tmp_path: Path, owned: Owned):
    recorder = owned.recorder
    with recorder.engine.connect() as connection:
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
    limits = [pages]
    sa.event.listen(
        recorder.engine,
        "connect",
        lambda raw, _: raw.execute(f"PRAGMA max_page_count={limits[-1]}"),
    )
    recorder._writer._writing.close()  # what it holds, and what is pooled, has no limit yet
    recorder.engine.dispose()
    with pytest.raises(UnavailableError) as caught:
        recorder.append(intent(owned.sid, data=b"x" * 1_000_000))
    assert caught.value.code == "ledger.unwritable"
    limits.append(1_000_000)
    assert recorder.append(intent(owned.sid))[0].seq == 1
    assert differences(recorder.engine) == []


def test_a_closed_recorder_takes_nothing(tmp_path: Path):
    with open_recorder(tmp_path) as recorder:
        owned = spawned(recorder)
    with pytest.raises(UnavailableError) as caught:
        recorder.append(intent(owned.sid))
    assert caught.value.code == "ledger.closed"


def test_closing_twice_is_harmless(tmp_path: Path):
    with open_recorder(tmp_path) as recorder:
        recorder.close()


def test_closing_seals_the_system_session(tmp_path: Path):
    with open_recorder(tmp_path) as recorder:
        system = recorder.system()
        assert recorder.system() == system
    query = "SELECT status, system FROM sessions WHERE session_id = ?"
    assert rows(tmp_path, query, system) == [("sealed", 1)]


def test_a_run_without_need_opens_no_system_session(tmp_path: Path):
    open_recorder(tmp_path).close()
    open_recorder(tmp_path).close()
    assert rows(tmp_path, "SELECT count(*) FROM sessions") == [1]


def test_the_head_is_remembered_before_a_seal_leaves(tmp_path: Path, owned: Owned):
    owned.recorder.seal(owned.sid, CLOSED)
    assert heads.recall(Home(tmp_path), owned.recorder.origin) == owned.recorder.head


def test_without_payload_policy_no_payload_is_stored(tmp_path: Path):
    home = Home(tmp_path)
    with Recorder.open(home, url_of(tmp_path), payload_policy="none") as recorder:
        spawned(recorder).act()
    for table in ("payloads", "payload_keys"):
        assert rows(tmp_path, f"SELECT count(*) FROM {table}") == [0]


def test_no_file_of_the_home_holds_a_payload_in_the_clear(tmp_path: Path, owned: Owned):
    owned.recorder.append(intent(owned.sid, data=b"canary-5d1f7c2e" * 100))
    owned.recorder.sync_head()
    files = contents(tmp_path)
    assert files
    assert not [path for path, data in files.items() if b"canary-5d1f7c2e" in data]


def test_sixteen_threads_make_one_chain_each(recorder: Recorder):
    def work() -> None:
        mine = spawned(recorder)
        for _ in range(5):
            mine.act()

    threads = [threading.Thread(target=work) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(5)
    assert differences(recorder.engine) == []
    assert recorder.head[0] == 2 + 16 * 11


@pytest.mark.slow
def test_six_processes_with_sixteen_threads_make_one_gap_free_chain(tmp_path: Path):
    prepare(tmp_path)  # once, before they race for the log
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    children = [
        subprocess.Popen(
            [sys.executable, "-c", APPENDER, str(tmp_path)],
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=env,
        )
        for _ in range(6)
    ]
    for child in children:
        assert child.stdin is not None
        child.stdin.write("go\n")
        child.stdin.flush()
    results = [(child.communicate(timeout=40)[1], child.returncode) for child in children]
    assert results == [("", 0)] * 6
    assert rows(tmp_path, "SELECT count(*) FROM log_head") == [1]
    assert _types(tmp_path).count("action.intent") == 6 * 16 * 3
    engine = db.engine(url_of(tmp_path))
    assert differences(engine) == []
    assert _types(tmp_path).count("log.init") == 1
    assert auditing.audit(engine, Home(tmp_path)).exit_code == 0


def test_a_follower_hears_of_what_was_committed_and_of_nothing_else(recorder: Recorder):
    owned = spawned(recorder)
    heard: list[str] = []
    recorder.follow(lambda receipts: heard.extend(entry.parse(each.body).type for each in receipts))
    recorder.append(intent(owned.sid))
    with pytest.raises(IntegrityError):
        recorder.append(replace(intent(owned.sid), fields={}))
    recorder.append(denied(owned.sid))
    recorder.seal(owned.sid, CLOSED)
    recorder.system()
    recorder.append(denied(recorder.system()))
    recorder.follow(None)
    recorder.append(denied(recorder.system()))
    assert heard[:4] == ["action.intent", "action.denied", "session.closed", "session.seal"]
    assert heard[4:] == ["action.denied"]


def test_a_closed_recorder_opens_no_session_of_its_own(recorder: Recorder):
    recorder.close()
    with pytest.raises(UnavailableError) as caught:
        recorder.system()
    assert caught.value.code == "ledger.closed"
