"""`ghost project`: list, bind, merge, delete."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.commands import Command
from support.ledger import rows
from support.repositories import repository


@pytest.fixture
def ghost(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Command:
    return Command(capsys, tmp_path)


def entries(home: Path) -> list[object]:
    return rows(home, "SELECT count(*) FROM entries")


def test_projects_are_listed_with_what_belongs_to_them(ghost: Command, tmp_path: Path) -> None:
    assert ghost("project", "list").out == "no projects\n"
    root = repository(tmp_path / "shop", "https://example.com/team/shop")
    ghost("memory", "save", "the port is 8402", folder=root)
    ghost("memory", "save", "text", "--project", "other")
    assert ghost("project", "list").out.splitlines() == [
        "other  1  (no directory)",
        f"shop  1  {root}  example.com/team/shop",
    ]
    found = ghost("project", "list", "--json").json
    assert (found["schema"], found["projects"][1]["memories"]) == ("ghost/projects/v1", 1)


def test_binding_acts_at_once(ghost: Command, tmp_path: Path, home: Path) -> None:
    root = repository(tmp_path / "shop")
    assert ghost("project", "bind", "shop", str(root), "--dry-run").out.startswith(
        "would have bound shop"
    )
    assert not (home / "ghost.db").exists()
    assert ghost("project", "bind", "shop", ".", "--json", folder=root).json["path"] == str(root)
    assert ghost("memory", "save", "text", "--json", folder=root).json["project"] == "shop"
    ghost("project", "bind", "other", str(root), code=2)
    ghost("project", "bind", "other", str(tmp_path / "missing"), code=4)


def test_a_repository_or_a_named_directory_may_have_a_short_path(
    ghost: Command, short: Path
) -> None:
    root = repository(short / "app")
    assert ghost("memory", "save", "one", "--json", folder=root).json["project"] == "app"
    ghost("project", "bind", "all", str(short))
    assert ghost("memory", "save", "two", "--json", folder=short).json["project"] == "all"


def test_what_cannot_be_bound_is_called_what_it_is(ghost: Command, tmp_path: Path) -> None:
    (tmp_path / "a-file-not-a-directory").touch()
    for named, code, said in [
        (tmp_path / "a-directory-that-is-missing", 4, "does not exist"),
        (tmp_path / "a-file-not-a-directory", 4, "is a file, expected a directory"),
        ("/usr", 2, "can be no project"),
    ]:
        assert said in ghost("project", "bind", "app", str(named), code=code).err


def test_merging_acts_at_once_and_previews_without_a_trace(ghost: Command, home: Path) -> None:
    ghost("memory", "save", "one", "--project", "old")
    ghost("memory", "save", "two", "--project", "new")
    before = entries(home)
    preview = ghost("project", "merge", "old", "new", "--dry-run", "--json").json
    assert (preview["moved"]["memories"], preview["applied"]) == (1, False)
    assert entries(home) == before
    assert rows(home, "SELECT id FROM projects ORDER BY id") == ["new", "old"]
    assert ghost("project", "merge", "old", "new").out == "merged old into new: 1 memory\n"
    assert rows(home, "SELECT id FROM projects") == ["new"]
    ghost("project", "merge", "old", "new", code=4)
    ghost("project", "merge", "new", "new", code=2)


def test_deleting_is_a_preview_unless_applied(ghost: Command, home: Path) -> None:
    ghost("memory", "save", "one", "--project", "old")
    before = entries(home)
    said = ghost("project", "delete", "old")
    assert said.out == "would have deleted old: 1 memory\n"
    assert "--apply" in said.err
    assert entries(home) == before
    assert ghost("project", "delete", "old", "--json").json["applied"] is False
    assert ghost("project", "delete", "old", "--apply").out == "deleted old: 1 memory\n"
    assert rows(home, "SELECT count(*) FROM memories") == [0]
    ghost("project", "delete", "old", "--apply", code=4)


@pytest.mark.parametrize(
    "words",
    [
        ("delete", "_global"),
        ("delete", "_global", "--apply"),
        ("merge", "_global", "app"),
        ("merge", "app", "_global"),
        ("bind", "_global", "."),
    ],
)
def test_the_shared_project_is_protected(
    ghost: Command, home: Path, words: tuple[str, ...]
) -> None:
    ghost("project", *words, code=5)
    assert not (home / "ghost.db").exists()
    ghost("memory", "save", "one", "--project", "app")
    ghost("memory", "save", "one", "--project", "_global")
    ghost("project", *words, code=5)
    assert rows(home, "SELECT count(*) FROM memories") == [2]
