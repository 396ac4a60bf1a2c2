"""Where a session goes on, and what may come first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ghost_core import db
from ghost_core.errors import IntegrityError
from ghost_ledger import chain, entry
from ghost_ledger.chain import ChainEnd, Signer
from ghost_ledger.keys import SecretKey
from support.ledger import open_recorder, script, spawned, url_of

SID = "gh_" + "0" * 32


def test_a_new_session_starts_at_zero(tmp_path: Path):
    engine = db.engine(url_of(tmp_path))
    db.migrate(engine)
    signer = Signer.of(SecretKey.generate(), "ghost.local/x", SID)
    with db.read(engine) as connection:
        assert chain.load_end(connection, SID, signer) == ChainEnd(0, entry.FIRST_PREV)
    engine.dispose()


def test_a_session_goes_on_after_its_last_entry(tmp_path: Path):
    with open_recorder(tmp_path) as recorder:
        owned = spawned(recorder)
        _, last = owned.act()
        signer = Signer.of(owned.key, recorder.origin, owned.sid)
        with db.read(recorder.engine) as connection:
            end = chain.load_end(connection, owned.sid, signer)
    assert end == ChainEnd(3, last.leaf_hash.hex())


def test_no_log_has_no_state(tmp_path: Path):
    engine = db.engine(url_of(tmp_path))
    db.migrate(engine)
    with db.read(engine) as connection:
        assert chain.load_state(connection) is None
    engine.dispose()


def test_a_head_that_contradicts_its_frontier_is_refused(tmp_path: Path):
    open_recorder(tmp_path).close()
    script(tmp_path, "UPDATE log_head SET size = size + 1")
    engine = db.engine(url_of(tmp_path))
    with db.read(engine) as connection, pytest.raises(IntegrityError) as caught:
        chain.load_state(connection)
    engine.dispose()
    assert caught.value.code == "ledger.head"
