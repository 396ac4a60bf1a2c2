"""Binding a directory to a project."""

from __future__ import annotations

from pathlib import Path

import pytest

from ghost_core.errors import DeniedError, NotFoundError, UnavailableError, UsageError
from ghost_memory import projects
from ghost_memory.values import GLOBAL, Project
from support.memory import Store
from support.repositories import git, repository


def find(memory: Store, named: str) -> str | None:
    found = memory.read(lambda connection: projects.find(connection, named))
    return found and found.id


def test_the_longest_directory_wins_letter_by_letter(memory: Store, tmp_path: Path) -> None:
    outer, inner, other = (tmp_path / each for each in ("a%_app", "a%_app/inner", "a%_apple"))
    for folder in (inner, other, tmp_path / "aXYapp"):
        folder.mkdir(parents=True)
    memory.bind("inner", inner)
    memory.bind("outer", outer)
    memory.bind("other", other)
    assert find(memory, f"{outer}/src/x") == "outer"
    assert find(memory, f"{inner}/") == "inner"
    assert find(memory, str(other)) == "other"
    assert find(memory, str(tmp_path / "a%_appl")) is None
    assert find(memory, str(tmp_path / "aXYapp")) is None


def test_checkouts_and_worktrees_of_one_remote_are_one_project(
    memory: Store, tmp_path: Path
) -> None:
    first = repository(tmp_path / "first" / "app", "git@example.com:team/app.git")
    clone = repository(tmp_path / "clone" / "renamed", "https://example.com/team/app")
    git(first, "worktree", "add", "-q", "../feature-x")
    memory.bind("app", first)
    assert [
        memory.project_of(each) for each in (first, clone, tmp_path / "first" / "feature-x")
    ] == ["app"] * 3


def test_worktrees_without_a_remote_join_by_their_common_directory(
    memory: Store, tmp_path: Path
) -> None:
    first = repository(tmp_path / "app")
    git(first, "worktree", "add", "-q", "../feature-x")
    memory.bind("named-otherwise", first)
    assert memory.project_of(tmp_path / "feature-x") == "named-otherwise"
    git(first, "worktree", "remove", "../feature-x")
    assert memory.project_of(first) == "named-otherwise"


def test_folders_of_the_same_name_are_not_mixed_once_one_is_bound(
    memory: Store, tmp_path: Path
) -> None:
    first, second = repository(tmp_path / "one" / "app"), repository(tmp_path / "two" / "app")
    memory.bind("app", first)
    assert (memory.project_of(first), memory.project_of(second)) == ("app", None)


def test_a_linked_directory_is_the_one_it_leads_to(memory: Store, tmp_path: Path) -> None:
    (tmp_path / "real-folder").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real-folder")
    memory.bind("app", tmp_path / "link")
    assert memory.project_of(tmp_path / "real-folder") == "app"
    assert memory.rows("SELECT path FROM project_checkouts") == [str(tmp_path / "real-folder")]


def test_binding_again_changes_nothing(memory: Store, tmp_path: Path) -> None:
    root = repository(tmp_path / "app", "https://example.com/team/app")
    first, second = memory.bind("app", root), memory.bind("app", root)
    assert first == second == Project("app", "app", str(root), "example.com/team/app")
    assert memory.rows("SELECT count(*) FROM project_checkouts") == [1]


def test_a_project_may_have_several_checkouts(memory: Store, tmp_path: Path) -> None:
    roots = [repository(tmp_path / each / "app") for each in ("one", "two")]
    for root in roots:
        memory.bind("app", root)
    assert [memory.project_of(root) for root in roots] == ["app", "app"]


def test_what_cannot_be_bound_leaves_nothing(memory: Store, tmp_path: Path) -> None:
    root = repository(tmp_path / "app", "https://example.com/team/app")
    clone = repository(tmp_path / "other-folder", "git@example.com:team/app")
    memory.bind("app", root)
    for named, directory, error in [
        (GLOBAL, tmp_path, DeniedError),
        ("new", Path("/usr"), UsageError),
        ("new", tmp_path / "missing-folder", NotFoundError),
        ("new", root / ".git" / "HEAD", UnavailableError),
        ("new", root, UsageError),
        ("new", root / ".git", UsageError),
        ("new", clone, UsageError),
    ]:
        with pytest.raises(error) as caught:
            memory.bind(named, directory)
        assert caught.value.code in {
            "project.protected",
            "project.path",
            "directory.missing",
            "directory.file",
        }
    assert memory.rows("SELECT id FROM projects") == ["app"]
    assert memory.rows("SELECT count(*) FROM project_checkouts") == [1]


def test_a_short_path_is_a_project_like_any_other(memory: Store, short: Path) -> None:
    (short / "src").mkdir()
    memory.bind("app", short)
    assert memory.project_of(short / "src") == "app"
    assert find(memory, f"{short}/src") == "app"
