"""`ghost memory export` and `import`."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from support.commands import Command
from support.godb import OLD, go_database


@pytest.fixture
def ghost(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Command:
    return Command(capsys, tmp_path)


def test_an_export_is_the_same_twice_and_comes_back(
    ghost: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ghost("memory", "save", "the port is 8402", "--project", "app")
    file = tmp_path / "export.jsonl"
    assert ghost("memory", "export", "-o", str(file)).out == f"wrote {file}\n"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert ghost("memory", "export").out == file.read_text("utf-8")
    monkeypatch.setenv("GHOST_HOME", str(tmp_path / "other-home"))
    assert ghost("memory", "import", str(file), "--dry-run", "--json").json["new"] == {
        "project": 1,
        "memory": 1,
    }
    assert not (tmp_path / "other-home" / "ghost.db").exists()
    assert "brought 1 project, 1 memory" in ghost("memory", "import", str(file)).out
    assert (
        "brought nothing; there already 1 project, 1 memory"
        in ghost("memory", "import", str(file)).out
    )
    assert ghost("memory", "export").out == file.read_text("utf-8")


def test_one_project_can_be_exported(ghost: Command) -> None:
    ghost("memory", "save", "one", "--project", "app")
    ghost("memory", "save", "two", "--project", "other")
    assert '"content":"two"' not in ghost("memory", "export", "--project", "app").out
    ghost("memory", "export", "--project", "none", code=4)


def test_a_database_of_the_go_program_is_imported(ghost: Command, tmp_path: Path) -> None:
    file = go_database(tmp_path / "go.db")
    before = file.read_bytes()
    said = ghost("memory", "import", str(file), "--json")
    assert said.json["new"]["memory"] == 3
    assert (said.json["skipped"], said.json["problems"], said.json["applied"]) == (
        {"link": 1},
        1,
        True,
    )
    assert "memories, row 3" in said.err
    assert ghost("memory", "show", OLD, "--json").json["content"] == "checkout runs on port 8080"
    assert "skipped 1 link" in ghost("memory", "import", str(file)).out
    assert file.read_bytes() == before


def test_an_export_replaces_an_export_and_nothing_else(ghost: Command, tmp_path: Path) -> None:
    ghost("memory", "save", "the port is 8402", "--project", "app")
    file, notes = tmp_path / "export.jsonl", tmp_path / "notes"
    ghost("memory", "export", "-o", str(file))
    ghost("memory", "save", "it moved", "--project", "app")
    ghost("memory", "export", "-o", str(file))
    assert "it moved" in file.read_text("utf-8")
    notes.write_text("mine")
    said = ghost("memory", "export", "-o", str(notes), code=4)
    assert "exists and is no export of ghost" in said.err
    assert notes.read_text() == "mine"


def test_what_is_no_record_is_counted_and_named_and_the_rest_comes_in(
    ghost: Command, tmp_path: Path
) -> None:
    ghost("memory", "save", "the port is 8402", "--project", "app")
    file = tmp_path / "export.jsonl"
    ghost("memory", "export", "-o", str(file))
    header, *lines = file.read_text("utf-8").splitlines()
    file.write_text("\n".join([header, "no JSON", *lines, *["{}"] * 30]), "utf-8")
    said = ghost("memory", "import", str(file), "--dry-run", "--json")
    assert (said.json["problems"], sum(said.json["existing"].values())) == (32, len(lines))
    assert "line 2: is no JSON" in said.err
    assert "and 12 more that are wrong" in said.err
    assert "; 32 left out" in ghost("memory", "import", str(file)).out


def test_another_file_is_refused(ghost: Command, tmp_path: Path) -> None:
    (tmp_path / "x").write_text("nonsense")
    ghost("memory", "import", str(tmp_path / "x"), code=2)
    ghost("memory", "import", str(tmp_path / "missing"), code=4)


def test_no_memory_exports_a_header(ghost: Command, home: Path) -> None:
    assert ghost("memory", "export").out.count("\n") == 1
    assert not (home / "ghost.db").exists()
