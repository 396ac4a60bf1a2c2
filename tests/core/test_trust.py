from __future__ import annotations

import json
from pathlib import Path

import pytest

from ghost_core import trust
from ghost_core.errors import ConfigError
from ghost_core.paths import Home


@pytest.fixture
def house(home: Path) -> Home:
    return Home(home)


def test_nothing_is_trusted_at_first(house: Home, tmp_path: Path) -> None:
    assert not trust.trusted(house, tmp_path / "ghost.toml", b"")


def test_exactly_the_recorded_bytes_are_trusted(house: Home, tmp_path: Path) -> None:
    path = tmp_path / "ghost.toml"
    trust.record(house, path, b"a = 1")
    assert trust.trusted(house, path, b"a = 1")
    assert not trust.trusted(house, path, b"a = 2")
    assert not trust.trusted(house, tmp_path / "other.toml", b"a = 1")


def test_a_new_record_replaces_the_old_one_and_keeps_the_others(
    house: Home, tmp_path: Path
) -> None:
    path, other = tmp_path / "a", tmp_path / "b"
    trust.record(house, other, b"0")
    trust.record(house, path, b"1")
    trust.record(house, path, b"2")
    assert [trust.trusted(house, path, each) for each in (b"1", b"2")] == [False, True]
    assert trust.trusted(house, other, b"0")


def test_a_link_to_a_trusted_file_is_that_file(house: Home, tmp_path: Path) -> None:
    path, link = tmp_path / "a", tmp_path / "b"
    path.touch()
    link.symlink_to(path)
    trust.record(house, link, b"1")
    assert trust.trusted(house, path, b"1")


def test_the_register_is_private(house: Home, tmp_path: Path) -> None:
    trust.record(house, tmp_path / "a", b"1")
    assert trust.register(house).stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    "content", [b"", b"[]", b"\xff", b"{}", b'{"schema":"ghost/trust/v1","files":[]}', b"[" * 9999]
)
def test_a_register_that_cannot_be_read_is_an_error_and_not_empty(
    house: Home, tmp_path: Path, content: bytes
) -> None:
    trust.register(house.ensure()).write_bytes(content)
    with pytest.raises(ConfigError) as caught:
        trust.trusted(house, tmp_path / "a", b"1")
    assert caught.value.code == "trust.unreadable"


def test_an_entry_that_is_no_hash_trusts_nothing(house: Home, tmp_path: Path) -> None:
    path = tmp_path / "a"
    document = {"schema": trust.SCHEMA, "files": {str(path): 7}}
    trust.register(house.ensure()).write_text(json.dumps(document), "utf-8")
    assert not trust.trusted(house, path, b"1")
