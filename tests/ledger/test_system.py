"""The system session: a key that never leaves RAM, a lock that says it has an owner."""

from __future__ import annotations

from pathlib import Path

from ghost_core.paths import runtime_dir
from ghost_ledger.reader import Ledger
from ghost_ledger.session.custody import has_key, is_owned
from support.ledger import open_recorder


def test_its_key_is_never_on_disk(tmp_path: Path):
    with open_recorder(tmp_path) as recorder:
        assert not has_key(recorder.system())


def test_it_is_owned_while_its_process_lives(tmp_path: Path):
    with open_recorder(tmp_path) as recorder:
        sid = recorder.system()
        assert is_owned(sid)
    assert not is_owned(sid)


def test_nothing_of_it_stays_in_the_runtime_folder(tmp_path: Path):
    with open_recorder(tmp_path) as recorder:
        recorder.system()
    assert list(runtime_dir().iterdir()) == []


def test_it_is_marked_as_one(tmp_path: Path):
    with open_recorder(tmp_path) as recorder:
        row = Ledger(recorder.engine).session(recorder.system())
    assert row is not None
    assert (row.system, row.intent, row.scopes) == (True, "system", [])
