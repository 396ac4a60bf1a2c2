"""What a home keeps of changes of its log keys."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from ghost_core.errors import UnavailableError
from ghost_core.paths import Home
from ghost_ledger.handovers import KeptHandovers
from support.bundles import Log


def test_notes_come_back_in_order_and_each_log_has_its_own(tmp_path: Path) -> None:
    home = Home(tmp_path).ensure()
    kept = KeptHandovers.of(home, "a")
    assert kept.notes() == ()
    kept.keep(100, b"second", b"head")
    path = kept.keep(20, b"first", b"head")
    assert kept.notes() == (b"first", b"second")
    assert (path, path.read_bytes()) == (kept.head(20), b"head")
    assert KeptHandovers.of(home, "b").notes() == ()
    folders = (home.heads / "handovers", kept.folder)
    assert {stat.S_IMODE(folder.stat().st_mode) for folder in folders} == {0o700}


def test_a_last_head_counts_only_under_its_key(tmp_path: Path) -> None:
    home = Home(tmp_path).ensure()
    log = Log()
    log.session().finish()
    kept = KeptHandovers.of(home, log.origin)
    assert kept.last(log.vkey) is None
    kept.keep_last(log.head())
    found = kept.last(log.vkey)
    assert found is not None
    assert (found[0].size, found[1]) == (len(log.leaves), log.head())
    assert kept.last(Log(number=2).vkey) is None
    assert kept.notes() == ()


def test_a_folder_that_cannot_be_written_is_a_clear_error(tmp_path: Path) -> None:
    home = Home(tmp_path).ensure()
    (home.heads / "handovers").write_text("")
    with pytest.raises(UnavailableError) as caught:
        KeptHandovers.of(home, "a").keep(1, b"note", b"head")
    assert caught.value.code == "heads.unwritable"
