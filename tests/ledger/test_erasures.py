"""What entries say was erased of a session."""

from __future__ import annotations

from pathlib import Path

from ghost_core import db
from ghost_ledger.erasing import Wanted
from ghost_ledger.erasures import earlier
from ghost_ledger.reader import Ledger
from support.ledger import edit, open_recorder, rows, sealed


def test_only_what_was_asked_for_is_found(tmp_path: Path) -> None:
    with open_recorder(tmp_path) as recorder:
        sid, other = sealed(recorder), sealed(recorder)
        ledger = Ledger(recorder.engine)
        assert ledger.erased(sid) == []
        recorder.erase(Wanted(other, "request", "alice"))
        assert ledger.erased(sid) == []
        done = recorder.erase(Wanted(sid, "request", "alice"))
        assert ledger.erased(sid) == list(done.now)
        (action,) = rows(
            tmp_path, "SELECT id FROM entries WHERE sid = ? AND type = 'action.intent'", sid
        )
        with db.read(recorder.engine) as connection:
            of_action = earlier(connection, sid, action=action)
            of_field = earlier(connection, sid, field="params")
        assert [each.fields for each in of_action] == [("params",), ("response",)]
        assert [each.fields for each in of_field] == [("params",)]


def test_an_entry_that_cannot_be_read_says_nothing(tmp_path: Path) -> None:
    with open_recorder(tmp_path) as recorder:
        sid = sealed(recorder)
        recorder.erase(Wanted(sid, "request", "alice"))
        edit(tmp_path, "UPDATE entries SET body = x'7b7d' WHERE type = 'payload.erased'")
        assert Ledger(recorder.engine).erased(sid) == []
