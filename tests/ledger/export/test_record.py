from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from ghost_core import db
from ghost_core.paths import Home
from ghost_ledger import canonical, entry, tree
from ghost_ledger.export.record import gather
from ghost_ledger.export.replay import csv_text, session_view
from ghost_ledger.export.source import Source
from ghost_ledger.note import Vkey
from ghost_ledger.reader import Ledger
from ghost_ledger.recorder import Receipt
from support.ledger import CLOSED, denied, open_recorder, raw, spawned, url_of


def test_a_session_that_grows_while_it_is_read_is_never_called_broken(tmp_path: Path) -> None:
    with open_recorder(tmp_path) as recorder:
        owned = spawned(recorder)
        engine = db.engine(url_of(tmp_path))
        source, done = Source(Ledger(engine, Home(tmp_path))), threading.Event()

        def work() -> None:
            while not done.wait(0.005):
                owned.act()

        worker = threading.Thread(target=work)
        worker.start()
        try:
            results = [
                gather(source, Home(tmp_path), owned.sid, key=None).report.verdict for _ in range(8)
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
    with raw(tmp_path) as connection:
        for (trigger,) in connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'trigger'"
        ):
            connection.execute(f"DROP TRIGGER {trigger}")
        connection.execute(
            "UPDATE entries SET body = ?, sig = ?, leaf_hash = ?, type = ? WHERE idx = ?",
            (body, signature, leaf, changes["type"], last.idx),
        )
    engine = db.engine(url_of(tmp_path))
    view = session_view(Ledger(engine, Home(tmp_path)), Home(tmp_path), owned.sid, parts="full")
    engine.dispose()
    assert view["verified"] is False
    assert csv_text(view)
    assert [item["status"] for item in view["actions"]] == ["executed"]


def _common(receipt: Receipt) -> dict[str, Any]:
    body = canonical.decode(receipt.body)
    return {name: body[name] for name in ("log", "sid", "seq", "prev", "ts", "id")}
