"""What a view says of its evidence: heads of the log, and the key that it rests on."""

from __future__ import annotations

import hashlib
from pathlib import Path

from ghost_core import db
from ghost_core.paths import Home
from ghost_ledger.export.replay import session_view, view_exit_code
from ghost_ledger.export.values import fingerprint
from ghost_ledger.note import Vkey
from ghost_ledger.reader import Ledger
from ghost_ledger.recorder import Recorder
from support.ledger import (
    CLOSED,
    open_recorder,
    sealed,
    spawned,
    url_of,
)


def test_a_log_behind_its_remembered_head_is_broken(tmp_path: Path) -> None:
    with open_recorder(tmp_path) as recorder:
        sid = sealed(recorder)
    backup = (tmp_path / "ghost.db").read_bytes()
    with open_recorder(tmp_path) as recorder:
        spawned(recorder)
    (tmp_path / "ghost.db").write_bytes(backup)
    engine = db.engine(url_of(tmp_path))
    view = session_view(Ledger(engine, Home(tmp_path)), Home(tmp_path), sid)
    engine.dispose()
    assert view["verdict"]["axes"]["head"]["state"] == "invalid"
    assert view_exit_code(view) == 7


def test_a_log_without_remembered_head_is_incomplete(
    tmp_path: Path, recorder: Recorder, ledger: Ledger
) -> None:
    sid = sealed(recorder)
    recorder.close()
    for path in (tmp_path / "heads").glob("*.head"):
        path.unlink()
    view = session_view(ledger, Home(tmp_path), sid)
    assert view["verdict"]["axes"]["head"]["state"] == "incomplete"
    assert view_exit_code(view) == 8


def test_another_log_in_the_same_database_is_broken(
    tmp_path: Path, recorder: Recorder, ledger: Ledger
) -> None:
    sid = sealed(recorder)
    recorder.close()
    (path,) = (tmp_path / "heads").glob("*.head")
    path.rename(path.with_name("0" * 64 + ".head"))
    view = session_view(ledger, Home(tmp_path), sid)
    assert view["verdict"]["axes"]["head"]["state"] == "invalid"


def test_without_the_log_key_the_log_proves_nothing(
    tmp_path: Path, recorder: Recorder, ledger: Ledger
) -> None:
    sid = sealed(recorder)
    (tmp_path / "keys" / "log_key").unlink()
    view = session_view(ledger, Home(tmp_path), sid)
    assert view_exit_code(view) == 8
    assert view["verify"]["key"] is None


def test_a_given_key_pins_the_session(tmp_path: Path, recorder: Recorder, ledger: Ledger) -> None:
    owned = spawned(recorder)
    recorder.seal(owned.sid, CLOSED)
    view = session_view(ledger, Home(tmp_path), owned.sid, key=owned.vkey)
    assert view["verified"] is True
    assert view["verify"]["source"] == "the key given with --key"
    other = spawned(recorder)
    assert view_exit_code(session_view(ledger, Home(tmp_path), owned.sid, key=other.vkey)) == 7


def test_anyone_can_check_with_the_key_that_the_verdict_rests_on(
    tmp_path: Path, recorder: Recorder, ledger: Ledger
) -> None:
    view = session_view(ledger, Home(tmp_path), sealed(recorder))
    assert view["verify"]["key"] == recorder.log_vkey == view["log"]["vkey"]
    assert f"--key {recorder.log_vkey}" in view["verify"]["commands"][1]
    public = Vkey.parse(recorder.log_vkey).public
    assert view["verify"]["fingerprint"] == fingerprint(hashlib.sha256(public).digest())
