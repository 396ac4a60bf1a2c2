from __future__ import annotations

from pathlib import Path

import pytest

from ghost_core.errors import UnavailableError
from ghost_core.files import sync, write_file


def test_a_file_is_written_whole_with_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "a"
    write_file(path, b"1", mode=0o600)
    write_file(path, b"2", mode=0o640)
    assert path.read_bytes() == b"2"
    assert path.stat().st_mode & 0o777 == 0o640
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_in_the_files_place_is_replaced_and_not_followed(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_bytes(b"old")
    link.symlink_to(target)
    write_file(link, b"new", mode=0o600)
    assert (target.read_bytes(), link.read_bytes()) == (b"old", b"new")
    assert not link.is_symlink()


@pytest.mark.parametrize("name", ["", "a\0b", "a" * 5000], ids=["none", "nul", "long"])
def test_a_name_that_no_file_can_have_is_unavailable(name: str) -> None:
    with pytest.raises(UnavailableError, match="cannot be written"):
        write_file(Path("/tmp/" + name if name else "/"), b"x", mode=0o600)


def test_a_file_that_cannot_be_written_is_unavailable_and_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "folder" / "inside").mkdir(parents=True)
    for path in (tmp_path / "absent" / "a", tmp_path / "folder"):
        with pytest.raises(UnavailableError) as caught:
            write_file(path, b"1", mode=0o600)
        assert caught.value.code == "file.unwritable"
    assert [each.name for each in tmp_path.iterdir()] == ["folder"]


def test_what_is_synced_is_a_file_or_a_folder_that_is_there(tmp_path: Path) -> None:
    write_file(tmp_path / "a", b"1", mode=0o600)
    sync(tmp_path / "a")
    sync(tmp_path)
    with pytest.raises(FileNotFoundError):
        sync(tmp_path / "b")
