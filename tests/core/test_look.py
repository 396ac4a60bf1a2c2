"""Looks at any path."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ghost_core import look
from ghost_core.errors import UnavailableError

LONG = "a" * 5000


def test_what_is_there_is_seen(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to("nowhere")
    assert look.is_file(tmp_path / "file")
    assert look.is_dir(tmp_path)
    assert look.is_link(tmp_path / "link")
    assert look.exists(tmp_path / "file")
    assert not look.exists(tmp_path / "link")
    assert not look.exists(tmp_path / "none" / "none")
    assert not look.exists(tmp_path / "file" / "below")


@pytest.mark.parametrize(
    "name", [LONG, "a\0b", "/".join(["b" * 200] * 30)], ids=["long", "nul", "deep"]
)
def test_a_path_that_no_system_has_is_nothing(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    assert not any(each(path) for each in (look.is_file, look.is_dir, look.is_link))


def test_a_name_that_is_too_long_is_told(tmp_path: Path) -> None:
    with pytest.raises(UnavailableError, match="cannot be looked at, File name too long") as caught:
        look.exists(tmp_path / LONG)
    assert caught.value.code == "file.unreadable"


@pytest.mark.skipif(os.geteuid() == 0, reason="root looks into every folder")
def test_a_closed_folder_is_told(tmp_path: Path) -> None:
    (tmp_path / "closed").mkdir(mode=0)
    assert not look.is_file(tmp_path / "closed" / "file")
    with pytest.raises(UnavailableError, match="Permission denied"):
        look.exists(tmp_path / "closed" / "file")


def test_every_error_has_a_reason() -> None:
    assert look.reason(FileNotFoundError(2, "gone")) == "gone"
    assert look.reason(ValueError("embedded null byte")) == "no path can be like this"
    assert look.reason(OSError()) == "no path can be like this"
