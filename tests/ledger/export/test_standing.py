"""How far single entries can be relied on."""

from __future__ import annotations

from pathlib import Path

import pytest

from ghost_core import db
from ghost_core.paths import Home
from ghost_ledger.export.standing import Standing, standing
from ghost_ledger.reader import Ledger
from support.ledger import CLOSED, open_recorder, raw, spawned, url_of


def judged(folder: Path, *sids: str) -> Standing:
    engine = db.engine(url_of(folder))
    try:
        return standing(Ledger(engine, Home(folder)), Home(folder), sids)
    finally:
        engine.dispose()


def session(folder: Path, *, sealed: bool = True) -> str:
    with open_recorder(folder) as recorder:
        owned = spawned(recorder)
        owned.act()
        if sealed:
            recorder.seal(owned.sid, CLOSED)
        return owned.sid


@pytest.mark.parametrize("sealed", [True, False])
def test_a_whole_session_is_relied_on_sealed_or_not(tmp_path: Path, sealed: bool) -> None:
    found = judged(tmp_path, session(tmp_path, sealed=sealed))
    assert (found.broken, found.undecided, found.log.whole) == ({}, {}, True)


def test_a_changed_entry_breaks_its_session_and_no_other(tmp_path: Path) -> None:
    first, second = session(tmp_path), session(tmp_path)
    with raw(tmp_path) as other:
        other.execute("DROP TRIGGER entries_update")
        other.execute(
            "UPDATE entries SET ts = ts + 1, body = body || X'20' WHERE sid = ?", (first,)
        )
    found = judged(tmp_path, first, second)
    assert list(found.broken) == [first]


def test_a_missing_entry_is_counted(tmp_path: Path) -> None:
    sid = session(tmp_path)
    with raw(tmp_path) as other:
        other.execute("DROP TRIGGER entries_delete")
        other.execute("DELETE FROM entries WHERE sid = ? AND seq = 1", (sid,))
    found = judged(tmp_path, sid)
    assert not found.log.whole
    assert list(found.broken) == [sid]


def test_an_entry_that_holds_no_bytes_breaks_its_session(tmp_path: Path) -> None:
    sid = session(tmp_path)
    with raw(tmp_path) as other:
        other.execute("DROP TRIGGER entries_update")
        other.execute("UPDATE entries SET sig = 'text' WHERE sid = ? AND seq = 1", (sid,))
    assert "does not hold bytes" in judged(tmp_path, sid).broken[sid]


def test_without_the_log_key_nobody_can_tell(tmp_path: Path) -> None:
    sid = session(tmp_path)
    (tmp_path / "keys" / "log_key").unlink()
    found = judged(tmp_path, sid)
    assert (found.broken, list(found.undecided)) == ({}, [sid])
