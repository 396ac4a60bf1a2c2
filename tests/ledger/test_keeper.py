"""The background hand that remembers heads."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from ghost_core.errors import UnavailableError
from ghost_core.paths import Home
from ghost_ledger import heads
from ghost_ledger.keeper import HeadKeeper
from ghost_ledger.tree import Frontier, leaf_hash

ORIGIN = "ghost.local/one"
HEAD = Frontier().append(leaf_hash(b"a"))


@pytest.fixture
def house(tmp_path: Path) -> Home:
    return Home(tmp_path / "home").ensure()


def test_sync_remembers_the_newest_head_at_once(house: Home):
    keeper = HeadKeeper(house, ORIGIN, "db")
    keeper.note(HEAD)
    keeper.sync()
    assert heads.recall(house, ORIGIN) == (1, HEAD.root())
    keeper.close()


def test_a_head_is_remembered_without_being_asked(house: Home):
    keeper = HeadKeeper(house, ORIGIN, "db")
    keeper.note(HEAD)
    seen = threading.Event()
    for _ in range(500):
        if heads.recall(house, ORIGIN) is not None:
            seen.set()
            break
        seen.wait(0.01)
    keeper.close()
    assert seen.is_set()


def test_close_remembers_what_was_noted_last(house: Home):
    keeper = HeadKeeper(house, ORIGIN, "db")
    keeper.note(HEAD)
    keeper.note(HEAD.append(leaf_hash(b"b")))
    keeper.close()
    known = heads.recall(house, ORIGIN)
    assert known is not None
    assert known[0] == 2


def test_a_head_that_cannot_be_remembered_does_not_leave(house: Home):
    keeper = HeadKeeper(house, ORIGIN, "db")
    house.heads.rmdir()
    keeper.note(HEAD)
    with pytest.raises(UnavailableError) as caught:
        keeper.sync()
    assert caught.value.code == "heads.unwritable"
    house.ensure()
    keeper.close()
    assert heads.recall(house, ORIGIN) == (1, HEAD.root())
