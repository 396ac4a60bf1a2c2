from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from ghost_cli import evidence
from ghost_core.errors import NotFoundError, UnavailableError

KIND = evidence.Kind("list", (b"old", b"new"))


def test_a_result_is_private_even_over_an_open_file(tmp_path: Path) -> None:
    path = tmp_path / "view"
    path.write_text("old")
    path.chmod(0o644)
    evidence.save(path, b"new", KIND)
    assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (b"new", 0o600)


def test_a_link_to_nowhere_is_refused_too(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    with pytest.raises(UnavailableError) as caught:
        evidence.save(tmp_path / "link", b"", KIND)
    assert caught.value.code == "file.link"


def test_a_file_of_another_kind_is_not_written_over(tmp_path: Path) -> None:
    path = tmp_path / "notes"
    path.write_text("what somebody wrote")
    with pytest.raises(UnavailableError, match="exists and is no list of ghost") as caught:
        evidence.save(path, b"new", KIND)
    assert (caught.value.code, caught.value.exit_code) == ("file.occupied", 4)
    assert path.read_text() == "what somebody wrote"
    path.unlink()
    evidence.save(path, b"new", KIND)
    evidence.save(path, b"new and more", KIND)
    assert path.read_bytes() == b"new and more"


def test_an_empty_file_was_made_to_be_written_to(tmp_path: Path) -> None:
    (tmp_path / "made").touch()
    evidence.save(tmp_path / "made", b"new", KIND)
    assert (tmp_path / "made").read_bytes() == b"new"


def test_what_is_no_file_stays(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    for name in ("pipe", "folder"):
        with pytest.raises(UnavailableError, match="exists and is no list"):
            evidence.save(tmp_path / name, b"new", KIND)
    assert (tmp_path / "pipe").is_fifo()
    assert (tmp_path / "folder").is_dir()


def test_a_home_without_ledger_is_not_given_one(home: Path) -> None:
    with pytest.raises(NotFoundError) as caught, evidence.opened():
        pass
    assert caught.value.code == "ledger.missing"
    assert not (home / "ghost.db").exists()
