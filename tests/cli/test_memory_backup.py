"""`ghost memory backup`."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.commands import Command


@pytest.fixture
def ghost(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Command:
    return Command(capsys, tmp_path)


def test_a_backup_is_made_and_its_memories_come_back(
    ghost: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved = ghost("memory", "save", "the port is 8402", "--project", "app", "--json").json["id"]
    file = tmp_path / "copy.db"
    said = ghost("memory", "backup", str(file), "--json").json
    assert said == {
        "schema": "ghost/memory-backup/v1",
        "file": str(file),
        "bytes": file.stat().st_size,
    }
    assert ghost("memory", "backup", str(file)).out.startswith(f"wrote {file}, ")
    monkeypatch.setenv("GHOST_HOME", str(tmp_path / "other-home"))
    ghost("memory", "import", str(file))
    assert ghost("memory", "show", saved, "--json").json["content"] == "the port is 8402"
    ghost("memory", "verify")


def test_what_cannot_be_is_refused(ghost: Command, tmp_path: Path, home: Path) -> None:
    ghost("memory", "backup", str(tmp_path / "copy.db"), code=4)
    assert not home.exists()
    ghost("memory", "save", "the port is 8402", "--project", "app")
    (tmp_path / "text").write_text("precious")
    ghost("memory", "backup", str(tmp_path / "text"), code=4)
    ghost("memory", "backup", code=2)
    assert (tmp_path / "text").read_text() == "precious"
