"""Signing a head: only with the key that the log names."""

from __future__ import annotations

from pathlib import Path

import pytest

from ghost_core import db
from ghost_core.errors import IntegrityError
from ghost_core.paths import Home
from ghost_ledger import bundling, chain
from ghost_ledger.chain import LogState
from ghost_ledger.checkpoint import open_checkpoint
from ghost_ledger.note import Vkey
from support.ledger import open_recorder


@pytest.fixture
def state(tmp_path: Path) -> LogState:
    with open_recorder(tmp_path) as recorder, db.read(recorder.engine) as connection:
        found = chain.load_state(connection)
    assert found is not None
    return found


def test_a_signed_head_opens_under_the_log_key(tmp_path: Path, state: LogState):
    note = bundling.sign_head(Home(tmp_path), state)
    head = open_checkpoint(note, [Vkey.parse(state.vkey)])
    assert (head.origin, head.size, head.root) == (state.origin, 2, state.frontier.root())


@pytest.mark.parametrize("content", [None, b"k" * 32])
def test_another_home_signs_no_heads(tmp_path: Path, state: LogState, content: bytes | None):
    path = Home(tmp_path).keys / "log_key"
    path.unlink() if content is None else path.write_bytes(content)
    with pytest.raises(IntegrityError) as caught:
        bundling.sign_head(Home(tmp_path), state)
    assert caught.value.code == "ledger.log_key"
