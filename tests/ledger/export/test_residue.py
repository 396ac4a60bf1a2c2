from __future__ import annotations

from pathlib import Path

import pytest

from ghost_core import db
from ghost_core.errors import NotFoundError
from ghost_core.paths import Home
from ghost_ledger.export.residue import session_residue
from ghost_ledger.reader import Ledger
from support.ledger import edit, open_recorder, spawned, url_of


def test_an_entry_that_cannot_be_read_is_still_printed(tmp_path: Path) -> None:
    with open_recorder(tmp_path) as recorder:
        owned = spawned(recorder)
    edit(tmp_path, "UPDATE entries SET body = x'ff' WHERE sid = ?", owned.sid)
    engine = db.engine(url_of(tmp_path))
    document = session_residue(Ledger(engine, Home(tmp_path)), owned.sid)
    engine.dispose()
    (entry,) = document["entries"]
    assert (entry["body"], entry["note"]) == ("\\xff", None)


def test_an_unknown_session_is_not_found(tmp_path: Path) -> None:
    with open_recorder(tmp_path):
        pass
    engine = db.engine(url_of(tmp_path))
    with pytest.raises(NotFoundError):
        session_residue(Ledger(engine, Home(tmp_path)), "gh_" + "0" * 32)
    engine.dispose()
