"""Erasing payloads, and what is left of them in the files."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from ghost_core import db
from ghost_core.errors import GhostError, UnavailableError
from ghost_core.paths import Home
from ghost_ledger import bundle, entry
from ghost_ledger.erasing import Wanted, scrub
from ghost_ledger.export.replay import session_view
from ghost_ledger.reader import Ledger
from ghost_ledger.recorder import Recorder
from ghost_ledger.verify import verify_bundle
from support.ledger import (
    CLOSED,
    differences,
    intent,
    open_recorder,
    raw,
    rows,
    sealed,
    spawned,
    url_of,
)

CANARY = "canary-of-an-intent-" + "x" * 200


@pytest.fixture
def recorder(tmp_path: Path) -> Iterator[Recorder]:
    with open_recorder(tmp_path) as opened:
        yield opened


def wanted(sid: str, **more: str) -> Wanted:
    return Wanted(sid, "request 4711", "alice", **more)


def secrets(folder: Path, sid: str) -> list[bytes]:
    """Return what must be found nowhere: salts, sealed payloads and key in pieces, the intent."""
    found = [CANARY.encode()]
    query = (
        "SELECT p.salt, p.data FROM payloads p JOIN entries e ON e.idx = p.entry_idx WHERE sid = ?"
    )
    for salt, data in rows(folder, query, sid):
        found += [salt, *(data[at : at + 24] for at in range(0, len(data) - 24, 24))]
    (key,) = rows(folder, "SELECT sealed FROM payload_keys WHERE sid = ?", sid)
    return [*found, key[:24], key[-24:]]


def held(folder: Path, needles: list[bytes]) -> list[bytes]:
    """Return those that a file of the folder holds."""
    files = [Path(at, name) for at, _, names in os.walk(folder) for name in names]
    content = b"\0".join(path.read_bytes() for path in files)
    return [needle for needle in needles if needle in content]


def scrubbed(folder: Path) -> None:
    engine = db.engine(url_of(folder))
    scrub(engine)
    engine.dispose()


def test_nothing_of_a_session_is_left_in_any_file(tmp_path: Path) -> None:
    with open_recorder(tmp_path) as recorder:
        owned = spawned(recorder, text=CANARY)
        recorder.append(intent(owned.sid, data=os.urandom(20_000)))  # more than a page
        recorder.append(intent(owned.sid, data=os.urandom(300)))
        recorder.seal(owned.sid, CLOSED)
        kept = sealed(recorder, text="kept")
        needles = secrets(tmp_path, owned.sid)
        assert len(held(tmp_path, needles)) > 0.9 * len(needles)  # some lie across two pages
        done = recorder.erase(wanted(owned.sid))
        assert done.key_destroyed
        scrubbed(tmp_path)
        assert held(tmp_path, needles) == []
        others = secrets(tmp_path, kept)[1:]
        assert held(tmp_path, others) == others
    assert held(tmp_path, needles) == []


def test_copies_that_moving_rows_left_in_pages_are_gone_too(tmp_path: Path) -> None:
    with open_recorder(tmp_path) as recorder:
        live = [spawned(recorder, text=f"{CANARY}{number}") for number in range(30)]
        for owned in reversed(live):
            recorder.seal(owned.sid, CLOSED)
            recorder.erase(wanted(owned.sid))
    scrubbed(tmp_path)
    assert held(tmp_path, [CANARY.encode()]) == []
    assert (tmp_path / "ghost.db-wal").exists() is False or not (
        (tmp_path / "ghost.db-wal").stat().st_size
    )


def test_chain_proofs_and_older_bundles_hold(tmp_path: Path, recorder: Recorder) -> None:
    sid, ledger, home = sealed(recorder), Ledger(recorder.engine, Home(tmp_path)), Home(tmp_path)
    older = [bundle.encode(ledger.bundle(sid, disclose=each)) for each in (False, True)]
    recorder.erase(wanted(sid))
    newer = bundle.encode(ledger.bundle(sid, disclose=True))
    for data in (*older, newer):
        report = verify_bundle(data, [recorder.log_vkey])
        assert report.verdict == "valid", report.axes
    assert differences(recorder.engine) == []
    view = session_view(ledger, home, sid)
    assert view["verified"] is True, view["verdict"]
    assert view["verdict"]["axes"]["disclosure"]["detail"] == "3 payloads erased"


def test_an_entry_for_each_entry_says_what_is_gone_and_why(recorder: Recorder) -> None:
    owned = spawned(recorder)
    asked, answered = owned.act()
    recorder.seal(owned.sid, CLOSED)
    done = recorder.erase(wanted(owned.sid))
    said = _said(recorder)
    assert [each["fields"] for each in said] == [["intent"], ["params"], ["response"]]
    assert [each["entry"] for each in said[1:]] == [asked.leaf_hash.hex(), answered.leaf_hash.hex()]
    assert {(each["basis"], each["actor"]) for each in said} == {("request 4711", "alice")}
    assert [each.leaf_hash for each in done.now] == [each["entry"] for each in said]


def _said(recorder: Recorder) -> list[dict[str, object]]:
    with db.read(recorder.engine) as connection:
        query = "SELECT body FROM entries WHERE type = 'payload.erased' ORDER BY idx"
        bodies = connection.exec_driver_sql(query).scalars().all()
    return [dict(entry.parse(body).fields) for body in bodies]


def test_views_show_the_entry_that_erased_it(tmp_path: Path, recorder: Recorder) -> None:
    owned = spawned(recorder)
    asked, _ = owned.act()
    recorder.seal(owned.sid, CLOSED)
    done = recorder.erase(wanted(owned.sid, field="params"))
    view = session_view(
        Ledger(recorder.engine, Home(tmp_path)), Home(tmp_path), owned.sid, parts="full"
    )
    (action,) = view["actions"]
    assert (action["request"]["state"], action["response"]["state"]) == ("erased", "stored")
    assert action["request"]["erased"]["entry_hash"] == f"sha256_{done.now[0].said}"
    assert action["erased"] == [{"seq": 1, "field": "params", **action["request"]["erased"]}]
    assert (view["erased"], view["intent"]) == ([], "deploy")
    assert asked.leaf_hash.hex() == done.now[0].leaf_hash


def test_one_action_of_a_session_keeps_the_others(tmp_path: Path, recorder: Recorder) -> None:
    owned = spawned(recorder)
    first, _ = owned.act()
    owned.act()
    (action,) = rows(tmp_path, "SELECT id FROM entries WHERE idx = ?", first.idx)
    done = recorder.erase(wanted(owned.sid, action=action))
    assert [each.fields for each in done.now] == [("params",), ("response",)]
    left = {item.seq for item in Ledger(recorder.engine, Home(tmp_path)).payloads(owned.sid)}
    assert left == {0, 3, 4}
    assert done.key_destroyed is False


def test_a_live_session_goes_on_and_its_key_stays_until_it_is_over(
    tmp_path: Path, recorder: Recorder
) -> None:
    owned, ledger = spawned(recorder), Ledger(recorder.engine, Home(tmp_path))
    owned.act()
    with open_recorder(tmp_path) as other:  # whose owner holds the opened key
        done = other.erase(wanted(owned.sid))
    assert (len(done.now), done.key_destroyed) == (3, False)
    owned.act()
    assert [item.data for item in ledger.payloads(owned.sid)] == [
        b'{"amount":5000}', b'{"ok":true}',
    ]  # fmt: skip
    recorder.seal(owned.sid, CLOSED)
    assert recorder.erase(wanted(owned.sid)).key_destroyed is True
    assert rows(tmp_path, "SELECT count(*) FROM payload_keys WHERE sid = ?", owned.sid) == [0]


def test_the_key_of_a_session_that_was_emptied_while_it_lived_goes_with_the_next_call(
    recorder: Recorder,
) -> None:
    owned = spawned(recorder)
    recorder.erase(wanted(owned.sid))
    recorder.seal(owned.sid, CLOSED)
    done = recorder.erase(wanted(owned.sid))
    assert (done.now, len(done.before), done.key_destroyed) == ((), 1, True)


def test_twice_enters_nothing_more_and_names_what_was_entered(
    tmp_path: Path, recorder: Recorder
) -> None:
    sid = sealed(recorder)
    first = recorder.erase(wanted(sid))
    size = recorder.head
    again = recorder.erase(wanted(sid))
    assert (again.now, again.before, again.key_destroyed) == ((), first.now, False)
    assert recorder.head == size
    assert rows(tmp_path, "SELECT intent FROM sessions WHERE session_id = ?", sid) == [None]


def test_the_text_of_an_intent_goes_where_no_payload_was_stored(tmp_path: Path) -> None:
    with open_recorder(tmp_path) as recorder:
        sid = sealed(recorder)
    recorder = Recorder.open(Home(tmp_path), url_of(tmp_path), payload_policy="none")
    with recorder:
        owned = spawned(recorder, text=CANARY)
        recorder.seal(owned.sid, CLOSED)
        assert [each.fields for each in recorder.erase(wanted(owned.sid)).now] == [("intent",)]
        assert rows(tmp_path, "SELECT intent FROM sessions WHERE session_id = ?", sid) == ["deploy"]
    scrubbed(tmp_path)
    assert held(tmp_path, [CANARY.encode()]) == []


@pytest.mark.parametrize(
    ("more", "code", "exit_code"),
    [
        ({"sid": "gh_" + "0" * 32}, "session.unknown", 4),
        ({"action": "act_" + "0" * 32}, "action.unknown", 4),
        ({"field": "forwarded"}, "payload.missing", 4),
        ({"basis": " "}, "usage.basis", 2),
        ({"basis": "two\nlines"}, "usage.basis", 2),
        ({"basis": "x" * 301}, "usage.basis", 2),
    ],
    ids=["session", "action", "field", "blank", "lines", "long"],
)
def test_what_cannot_be_erased_is_refused_and_nothing_is_entered(
    recorder: Recorder, more: dict[str, str], code: str, exit_code: int
) -> None:
    usual = {"sid": sealed(recorder), "basis": "request", "actor": "alice"}
    size = recorder.head
    with pytest.raises(GhostError) as caught:
        recorder.erase(Wanted(**usual | more))
    assert (caught.value.code, caught.value.exit_code) == (code, exit_code)
    assert recorder.head == size


def test_a_failed_deletion_takes_back_its_entries_and_nothing_else(
    tmp_path: Path, recorder: Recorder
) -> None:
    sid = sealed(recorder)
    with raw(tmp_path) as connection:  # a database that refuses the deletion
        connection.execute(
            "CREATE TRIGGER no BEFORE DELETE ON payload_keys BEGIN SELECT RAISE(ABORT, 'no'); END"
        )
    with pytest.raises(GhostError):
        recorder.erase(wanted(sid))
    assert _said(recorder) == []
    assert rows(tmp_path, "SELECT count(*) FROM payloads") == [4]  # the system session has one
    with raw(tmp_path) as connection:
        connection.execute("DROP TRIGGER no")
    assert len(recorder.erase(wanted(sid)).now) == 3


def test_a_reader_that_holds_old_pages_is_told_of(tmp_path: Path) -> None:
    with open_recorder(tmp_path) as recorder:
        recorder.erase(wanted(sealed(recorder)))
    engine = db.engine(url_of(tmp_path), busy_seconds=0.05)
    with sqlite3.connect(tmp_path / "ghost.db", isolation_level=None) as other:
        other.execute("BEGIN")
        other.execute("SELECT count(*) FROM entries").fetchall()
        with pytest.raises(UnavailableError) as caught:
            scrub(engine)
    other.close()
    assert caught.value.code == "database.locked"
    scrub(engine)
    engine.dispose()
