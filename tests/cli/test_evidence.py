from __future__ import annotations

import stat
from pathlib import Path

import pytest

from ghost_cli import evidence
from ghost_core.errors import NotFoundError, UnavailableError


def test_a_result_is_private_even_over_an_open_file(tmp_path: Path) -> None:
    path = tmp_path / "view"
    path.write_text("old")
    path.chmod(0o644)
    evidence.save(path, b"new")
    assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (b"new", 0o600)


def test_a_link_to_nowhere_is_refused_too(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    with pytest.raises(UnavailableError) as caught:
        evidence.save(tmp_path / "link", b"")
    assert caught.value.code == "file.link"


def test_a_home_without_ledger_is_not_given_one(home: Path) -> None:
    with pytest.raises(NotFoundError) as caught, evidence.opened():
        pass
    assert caught.value.code == "ledger.missing"
    assert not (home / "ghost.db").exists()
