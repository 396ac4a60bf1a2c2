"""The memory of heads outside the database."""

from __future__ import annotations

from pathlib import Path

import pytest

from ghost_core.errors import IntegrityError, UnavailableError
from ghost_core.paths import Home
from ghost_ledger import heads

ORIGIN = "ghost.local/one"
FIRST, SECOND = b"\x01" * 32, b"\x02" * 32


@pytest.fixture
def house(tmp_path: Path) -> Home:
    return Home(tmp_path / "home").ensure()


def test_a_head_is_recalled_as_it_was_remembered(house: Home):
    heads.remember(house, ORIGIN, 7, FIRST)
    assert heads.recall(house, ORIGIN) == (7, FIRST)


def test_an_unknown_log_has_no_memory(house: Home):
    assert heads.recall(house, ORIGIN) is None


def test_two_logs_do_not_mix(house: Home):
    heads.remember(house, ORIGIN, 7, FIRST)
    heads.remember(house, ORIGIN + "x", 8, SECOND)
    assert heads.recall(house, ORIGIN) == (7, FIRST)


def test_memory_only_moves_forward(house: Home):
    heads.remember(house, ORIGIN, 7, FIRST)
    heads.remember(house, ORIGIN, 6, SECOND)
    assert heads.recall(house, ORIGIN) == (7, FIRST)


def test_the_same_head_twice_is_accepted(house: Home):
    heads.remember(house, ORIGIN, 7, FIRST)
    heads.remember(house, ORIGIN, 7, FIRST)
    assert heads.recall(house, ORIGIN) == (7, FIRST)


def test_two_roots_for_one_size_are_a_fork(house: Home):
    heads.remember(house, ORIGIN, 7, FIRST)
    with pytest.raises(IntegrityError) as caught:
        heads.remember(house, ORIGIN, 7, SECOND)
    assert caught.value.code == "ledger.fork"
    assert heads.recall(house, ORIGIN) == (7, FIRST)


def test_the_database_of_a_head_is_kept(house: Home):
    heads.remember(house, ORIGIN, 7, FIRST, database="/a/ghost.db")
    heads.remember(house, ORIGIN, 8, FIRST)
    found = heads.remembered_in(house, "/a/ghost.db")
    assert found is not None
    assert (found.origin, found.size) == (ORIGIN, 8)
    assert heads.remembered_in(house, "/b/ghost.db") is None
    heads.remember(house, "ghost.test/another", 1, FIRST, database="/a/ghost.db")
    newest = heads.remembered_in(house, "/a/ghost.db")
    assert newest is not None
    assert newest.origin == "ghost.test/another"


@pytest.mark.parametrize("content", [b"", b"a\nb\nc\n\n", b"a\n1\nAA==\n\n", b"\xff\n", b"a\n-1\n"])
def test_a_damaged_memory_is_an_error_and_not_no_memory(house: Home, content: bytes):
    heads.remember(house, ORIGIN, 7, FIRST)
    (path,) = house.heads.glob("*.head")
    path.write_bytes(content)
    with pytest.raises(IntegrityError) as caught:
        heads.recall(house, ORIGIN)
    assert caught.value.code == "ledger.heads"


def test_a_missing_folder_is_unwritable(tmp_path: Path):
    with pytest.raises(UnavailableError) as caught:
        heads.remember(Home(tmp_path / "none"), ORIGIN, 7, FIRST)
    assert caught.value.code == "heads.unwritable"


def test_a_shorter_log_is_refused_with_both_heads_in_the_message():
    with pytest.raises(IntegrityError) as caught:
        heads.compare(ORIGIN, known=(7, FIRST), found=(6, SECOND))
    assert caught.value.code == "ledger.rollback"
    assert FIRST.hex() in caught.value.message
    assert SECOND.hex() in caught.value.message
