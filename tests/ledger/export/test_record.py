from __future__ import annotations

import threading
from pathlib import Path

from ghost_core import db
from ghost_core.paths import Home
from ghost_ledger.export.record import gather
from ghost_ledger.export.source import Source
from ghost_ledger.reader import Ledger
from support.ledger import CLOSED, open_recorder, spawned, url_of


def test_a_session_that_grows_while_it_is_read_is_never_called_broken(tmp_path: Path) -> None:
    with open_recorder(tmp_path) as recorder:
        owned = spawned(recorder)
        engine = db.engine(url_of(tmp_path))
        source, done = Source(Ledger(engine, Home(tmp_path))), threading.Event()

        def work() -> None:
            while not done.is_set():
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
