from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from ghost_cli.demo.program import called


@pytest.fixture
def ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the `ghost` beside the interpreter that runs, in a folder that is not on PATH."""
    folder = tmp_path / "a checkout" / ".venv" / "bin"
    folder.mkdir(parents=True)
    (folder / "ghost").touch(mode=0o755)
    monkeypatch.setattr(sys, "executable", str(folder / "python"))
    monkeypatch.setenv("PATH", os.defpath)
    return folder / "ghost"


def test_where_the_shell_finds_it_the_name_is_enough(
    ours: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "ghost").symlink_to(ours)  # as pipx and uv do
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assert called() == "ghost"


def test_elsewhere_it_is_called_by_its_path(
    ours: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ours.parents[2])
    assert called() == ".venv/bin/ghost"
    monkeypatch.chdir("/usr")
    assert called() == f"'{ours}'"
    monkeypatch.chdir(tmp_path)
    assert called() == "'a checkout/.venv/bin/ghost'"


def test_another_ghost_on_the_path_is_not_this_one(
    ours: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "ghost").touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.chdir(ours.parents[2])
    assert called() == ".venv/bin/ghost"


def test_without_a_file_of_its_own_the_name_is_all_there_is(
    ours: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours.unlink()
    assert called() == "ghost"
