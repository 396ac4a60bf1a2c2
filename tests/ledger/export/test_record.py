from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from ghost_core import db, ids
from ghost_core.errors import IntegrityError, NotFoundError
from ghost_core.paths import Home
from ghost_ledger import canonical, entry, tree
from ghost_ledger.export.record import gather
from ghost_ledger.export.replay import csv_text, session_view, view_exit_code
from ghost_ledger.export.source import Source
from ghost_ledger.note import Vkey
from ghost_ledger.reader import Ledger
from ghost_ledger.recorder import Receipt, Recorder
from support.ledger import CLOSED, denied, edit, open_recorder, sealed, spawned, url_of


def test_a_session_that_grows_while_it_is_read_is_never_called_broken(tmp_path: Path) -> None:
    with open_recorder(tmp_path) as recorder:
        owned = spawned(recorder)
        engine = db.engine(url_of(tmp_path))
        source, done = Source(Ledger(engine, Home(tmp_path))), threading.Event()

        def work() -> None:
            for _ in range(60):  # each reading reads them all
                if done.wait(0.01):
                    return
                owned.act()

        worker = threading.Thread(target=work)
        worker.start()
        try:
            results = [
                gather(source, Home(tmp_path), owned.sid, key=None).report.verdict for _ in range(6)
            ]
        finally:
            done.set()
            worker.join(5)
            engine.dispose()
    assert set(results) == {"incomplete"}


def test_the_axes_of_the_home_join_those_of_the_verifier(tmp_path: Path) -> None:
    with open_recorder(tmp_path) as recorder:
        owned = spawned(recorder)
        recorder.seal(owned.sid, CLOSED)
        log_vkey = recorder.log_vkey
    engine = db.engine(url_of(tmp_path))
    record = gather(Source(Ledger(engine, Home(tmp_path))), Home(tmp_path), owned.sid, key=None)
    engine.dispose()
    names = [axis.name for axis in record.report.axes]
    assert len(names) == len(set(names))
    assert {"signatures", "head", "columns", "disclosure"} <= set(names)
    assert record.pin.key == log_vkey


@pytest.mark.parametrize(
    "changes",
    [
        {"type": "action.denied", "code": "many", "count": "x", "verdicts": "none"},
        {"type": "action.denied", "verdicts": [{"by": 1}]},
        {"type": "action.intent", "v": 2, "tool": ["a"]},
        {"type": "moon.risen", "phase": {"a": [1]}},
        {"type": "session.closed", "summary": 3},
        {"type": "session.seal", "note": 5},
    ],
)
def test_entries_of_any_content_are_shown_and_never_verified(
    tmp_path: Path, changes: dict[str, Any]
) -> None:
    with open_recorder(tmp_path) as recorder:
        owned = spawned(recorder)
        owned.act()
        last = recorder.append(denied(owned.sid))[0]
    body = canonical.encode(_common(last) | {"v": 1} | changes)
    name = Vkey.parse(owned.vkey)
    signature = owned.key.sign(body + b"\n")
    leaf = tree.leaf_hash(entry.leaf(body, signature, name.name, name.key_id))
    statement = "UPDATE entries SET body = ?, sig = ?, leaf_hash = ?, type = ? WHERE idx = ?"
    edit(tmp_path, statement, body, signature, leaf, changes["type"], last.idx)
    engine = db.engine(url_of(tmp_path))
    view = session_view(Ledger(engine, Home(tmp_path)), Home(tmp_path), owned.sid, parts="full")
    engine.dispose()
    assert view["verified"] is False
    assert csv_text(view)
    assert [item["status"] for item in view["actions"]] == ["executed"]


def _common(receipt: Receipt) -> dict[str, Any]:
    body = canonical.decode(receipt.body)
    return {name: body[name] for name in ("log", "sid", "seq", "prev", "ts", "id")}


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE entries SET body = CAST(replace(CAST(body AS TEXT), 'evil.example', 'good.example') AS BLOB)",
        "UPDATE entries SET sig = zeroblob(64) WHERE seq = 1",
        "DELETE FROM entries WHERE seq = 3",
        "DELETE FROM entries WHERE type = 'session.seal'",
        "UPDATE entries SET body = x'00' WHERE seq = 1",
        "UPDATE entries SET body = x'00' WHERE seq = 0",
    ],
)
def test_edited_entries_are_broken_and_still_shown(
    tmp_path: Path, recorder: Recorder, ledger: Ledger, statement: str
) -> None:
    sid = sealed(recorder)
    edit(tmp_path, statement)
    view = session_view(ledger, Home(tmp_path), sid)
    assert view["session_id"] == sid
    assert (view["verified"], view_exit_code(view)) == (False, 7)


@pytest.mark.parametrize("column", ["body", "sig", "leaf_hash"])
def test_a_column_of_another_type_is_broken(
    tmp_path: Path, recorder: Recorder, ledger: Ledger, column: str
) -> None:
    sid = sealed(recorder)
    edit(tmp_path, f"UPDATE entries SET {column} = 'text' WHERE seq = 1 AND sid = ?", sid)
    with pytest.raises(IntegrityError) as caught:
        session_view(ledger, Home(tmp_path), sid)
    assert caught.value.code == "ledger.entries"


def test_a_changed_payload_is_broken(tmp_path: Path, recorder: Recorder, ledger: Ledger) -> None:
    sid = sealed(recorder)
    edit(tmp_path, "UPDATE payloads SET data = zeroblob(60) WHERE field = 'params'")
    view = session_view(ledger, Home(tmp_path), sid)
    assert view["verdict"]["axes"]["disclosure"]["state"] == "invalid"
    assert view_exit_code(view) == 7


def test_an_unknown_session_is_not_found(tmp_path: Path, ledger: Ledger) -> None:
    with pytest.raises(NotFoundError) as caught:
        session_view(ledger, Home(tmp_path), ids.session_id())
    assert caught.value.code == "session.unknown"


def test_a_session_without_entries_is_broken(
    tmp_path: Path, recorder: Recorder, ledger: Ledger
) -> None:
    sid = sealed(recorder)
    edit(tmp_path, "DELETE FROM entries WHERE sid = ?", sid)
    with pytest.raises(IntegrityError) as caught:
        session_view(ledger, Home(tmp_path), sid)
    assert caught.value.code == "ledger.entries"
