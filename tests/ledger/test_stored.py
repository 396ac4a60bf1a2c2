"""Stored entries as values."""

from __future__ import annotations

from pathlib import Path

from ghost_core import db
from ghost_ledger import entry, stored
from ghost_ledger.keys import verify
from support.ledger import open_recorder, spawned


def test_a_rebuilt_note_carries_the_signature_of_the_session_key(tmp_path: Path):
    with open_recorder(tmp_path) as recorder:
        owned = spawned(recorder)
        owned.act()
        with db.read(recorder.engine) as connection:
            items = stored.read_entries(connection, owned.sid)
    for item in items:
        body, line = entry.open_leaf(stored.note_of(item, items[0]))
        verify(owned.key.public, body + b"\n", line.signature)
    assert [item.seq for item in items] == [0, 1, 2]
