"""A batch: what is refused leaves no trace, what is appended lands together."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from ghost_core import db
from ghost_core.errors import GhostError
from ghost_core.secret import SecretBytes
from ghost_ledger import chain
from ghost_ledger.batch import Batch
from ghost_ledger.chain import Signer
from ghost_ledger.payloads import DataKeys
from support.ledger import intent, open_recorder, rows, spawned, url_of


def test_a_refused_call_leaves_no_trace(tmp_path: Path):
    with open_recorder(tmp_path) as recorder:
        owned = spawned(recorder)
    engine = db.engine(url_of(tmp_path))
    good, wrong = intent(owned.sid), replace(intent(owned.sid), fields={})
    signers = {owned.sid: Signer.of(owned.key, recorder.origin, owned.sid)}
    with db.write(engine) as connection:
        state = chain.load_state(connection)
        assert state is not None
        batch = Batch(connection, state, signers, {}, DataKeys(SecretBytes(b"v" * 32)), 0)
        with pytest.raises(GhostError):
            batch.perform(lambda each: each.append([good, wrong]))
        assert (batch.state, batch.ends) == (state, {})
        batch.finish()
    engine.dispose()
    assert rows(tmp_path, "SELECT count(*) FROM entries") == [state.frontier.size]


def test_tiles_appear_when_256_entries_are_full(tmp_path: Path):
    with open_recorder(tmp_path) as recorder:
        owned = spawned(recorder)
        recorder.append(*[intent(owned.sid) for _ in range(252)])
        before = rows(tmp_path, "SELECT count(*) FROM tiles")
        recorder.append(intent(owned.sid), intent(owned.sid))
        after = rows(tmp_path, "SELECT level, number FROM tiles")
    assert (before, after) == ([0], [(0, 0)])
